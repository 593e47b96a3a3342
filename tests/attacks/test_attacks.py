"""Every attack comes out as it must: no gain, nobody else touched, a clear status."""

from functools import cache

import pytest

from grader.engine.outcome import Outcome
from grader.engine.pool import Pool
from grader.engine.unit import grade_all
from grader.isolation import CannotIsolate, Limits, require
from tests.attacks.attack import LESSON, Attack
from tests.attacks.malformed import HARMLESS, MALFORMED
from tests.attacks.patching import LYING, PATCHING
from tests.attacks.reaching_out import BOMBS, EARLY, FORGING, LOOTING
from tests.attacks.shortcuts import SHORTCUTS
from tests.course.lesson_runs import all_lessons

ATTACKS: list[Attack] = [
    *PATCHING, *LYING, *FORGING, *LOOTING, *BOMBS, *EARLY, *MALFORMED, *HARMLESS, *SHORTCUTS,
]  # fmt: skip
LIMITS = Limits(wall_seconds=20, cpu_seconds=15, memory_bytes=1 << 30)
BYSTANDER = Attack("a right answer among attackers", "", right=True, score=1.0)


@cache
def outcomes() -> dict[str, Outcome]:
    """All attacks in one run, a right submission between every few of them."""
    try:
        require((), LIMITS)
    except CannotIsolate as error:
        pytest.skip(f"this machine cannot isolate: {error}")
    chosen = [BYSTANDER, *ATTACKS, BYSTANDER]
    lesson = all_lessons()[LESSON]
    with Pool(2, LIMITS) as pool:
        graded = grade_all([(attack.submission(), lesson) for attack in chosen], pool)
        return {f"{key} {chosen[key].name}": outcome for key, outcome in graded}


def outcome_of(attack: Attack) -> Outcome:
    return outcomes()[f"{ATTACKS.index(attack) + 1} {attack.name}"]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_comes_out_as_it_must(attack):
    outcome = outcome_of(attack)
    assert outcome.status in attack.status
    points = {result.exercise: (result.score, result.points) for result in outcome.results}
    if attack.score is not None:
        total = sum(most for _, most in points.values())
        assert outcome.score == pytest.approx(attack.score * total, abs=1e-9), points
    for exercise in attack.holds:
        assert points[exercise][0] == points[exercise][1], exercise


@pytest.mark.parametrize("place", [0, -1])
def test_right_answers_before_and_after_all_attackers_keep_full_marks(place):
    name = sorted(outcomes(), key=lambda key: int(key.split()[0]))[place]
    outcome = outcomes()[name]
    assert (outcome.status, outcome.score) == ("graded", 40.0)


def test_there_are_sixty_attacks_and_more_with_names_of_their_own():
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names) >= 60


def test_what_is_refused_or_malformed_is_told_in_a_sentence():
    for attack in ATTACKS:
        outcome = outcome_of(attack)
        if outcome.status == "malformed":
            assert outcome.notes, attack.name
            assert outcome.notes[0].endswith("."), attack.name
