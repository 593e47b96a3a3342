"""Say which setting of a case matters: with one thing changed and all else equal, it is right.

In a notebook the student's own object is asked, with two draws of numbers. In grading it is said
where the cases hold such a pair.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from utils.checks.case_results import judge_case
from utils.checks.exercise import Case
from utils.checks.explain.asked.own_object import OwnObject
from utils.checks.explain.situation import Situation
from utils.checks.observe.expected import expected_of, with_facts
from utils.checks.variation import VARIATION

# An answer that is right once may be so by chance.
_DRAWS: Final[tuple[dict[str, str], ...]] = ({}, {VARIATION: "drawn again"})


def one_setting(situation: Situation) -> Iterator[str]:
    """Say with which one change the case shown is right, if there is but one such change."""
    case = situation.shown.result.case
    if case.hidden:
        return
    found = [
        setting.says(case.params[name])
        for name, setting in situation.exercise.settings.items()
        if name in case.params
        and not setting.of_earlier_calls
        and (other := setting.other(case.params[name])) is not None
        and _is_right_with(situation, {**case.params, name: other[0]})
    ]
    if len(found) == 1:
        yield found[0]


def is_right_without(situation: Situation, name: str) -> bool:
    """Return whether the case shown is seen to be right where a parameter is left out."""
    params = dict(situation.shown.result.case.params)
    del params[name]
    return _is_right_with(situation, params)


def _is_right_with(situation: Situation, params: dict[str, Any]) -> bool:
    """Return whether the case shown is seen to be right with other parameters, all else equal."""
    case, own = situation.shown.result.case, situation.own
    if own is None:
        key = replace(case, params=params).key
        return any(j.result.passed for j in situation.judged if j.result.case.key == key)
    return all(
        _is_right(situation, own, replace(case, params={**params, **draw}))
        and not _is_right(situation, own, replace(case, params={**case.params, **draw}))
        for draw in _DRAWS
    )


def _is_right(situation: Situation, own: OwnObject, case: Case) -> bool:
    """Return whether an answer is right in a case that may be none of the exercise's."""
    exercise = situation.exercise
    if expected_of(exercise, case).problem is not None:
        return False  # no inputs are made for settings that do not go together
    own.forget()
    return (
        judge_case(exercise, case, with_facts(exercise, case, own.observe(exercise.probe, case)))
        is None
    )
