"""What came before is neither read nor judged again, and nothing is taken for what it is not."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from grader.grading import scoring, seen_before
from grader.grading.plan import cases_of
from grader.grading.scoring import judge_submission
from grader.grading.seen_before import Messages, Verdicts, memory_of
from grader.notebook_limits import parts_of
from grader.sandbox import Ended
from grader.workers.protocol import Message, encode
from tests.course.lesson_runs import lesson_of
from utils.checks.framework.compare import compare
from utils.checks.framework.exercise import Case
from utils.checks.framework.expected import expected_of
from utils.checks.framework.observation import Observation, Problem
from utils.checks.framework.verdict import CaseResult, Verdict
from utils.checks.registry import exercises

EXERCISE = "attend"
LESSON = lesson_of(EXERCISE)


@pytest.fixture(autouse=True)
def nothing_seen(monkeypatch):
    monkeypatch.setattr(seen_before, "messages", Messages())
    monkeypatch.setattr(seen_before, "verdicts", Verdicts())


@pytest.fixture
def judged(monkeypatch):
    """The exercises that are judged, in order."""
    asked = []
    judge = scoring.judge

    def counting(exercise, *others):
        asked.append(exercise.id)
        return judge(exercise, *others)

    monkeypatch.setattr(scoring, "judge", counting)
    return asked


def right(lesson=LESSON) -> list[Observation]:
    return [expected_of(exercises()[EXERCISE], case) for case in cases_of(lesson, EXERCISE)]


def verdict(seen, lesson=LESSON, lines=("a = 1",)) -> Verdict:
    messages = [encode(Message(EXERCISE, number, what)) for number, what in enumerate(seen)]
    ended = Ended("finished", 0, None, tuple(messages), 0.1, 0.1, 0, "")
    outcome = judge_submission(lesson, ended, {}, [], lines)
    return next(result.verdict for result in outcome.results if result.exercise == EXERCISE)


def upside_down() -> list[Observation]:
    """Results whose signs are wrong."""
    return [replace(o, values={k: -np.asarray(v) for k, v in o.values.items()}) for o in right()]


def test_right_numbers_that_came_before_are_not_judged_again(judged):
    first = verdict(right())
    assert first.passed
    assert verdict(right(), lines=["b = 2"]) == first
    assert judged.count(EXERCISE) == 1


def test_wrong_numbers_are_judged_again_where_the_code_has_other_names(judged):
    first = verdict(upside_down())
    assert not first.passed
    assert verdict(upside_down()) == first
    assert judged.count(EXERCISE) == 1
    assert verdict(upside_down(), lines=["b = 2"]).score == first.score
    assert judged.count(EXERCISE) == 2


@pytest.mark.parametrize("place", [0, -1])
def test_a_digit_that_differs_in_one_case_is_seen(judged, place):
    assert verdict(right()).passed
    seen = right()
    values = {name: np.array(value) for name, value in seen[place].values.items()}
    values["context"].flat[0] += 1
    seen[place] = replace(seen[place], values=values)
    assert not verdict(seen).passed
    assert judged.count(EXERCISE) == 2
    assert verdict(right()).passed


def test_what_came_for_one_case_is_not_taken_for_another():
    seen = right()
    assert verdict(seen).passed
    assert not verdict(list(reversed(seen))).passed


def test_other_points_and_other_hidden_cases_are_judged_apart(judged):
    def changed(**what):
        own = [replace(e, **what) if e.id == EXERCISE else e for e in LESSON.exercises]
        return replace(LESSON, exercises=own)

    before = verdict(right())
    twice = verdict(right(), changed(points=before.points * 2))
    assert (twice.points, twice.score) == (before.points * 2, before.score * 2)
    hidden = next(e.hidden for e in LESSON.exercises if e.id == EXERCISE)
    other = changed(hidden=[{**entry, "variation": "other"} for entry in hidden])
    assert not verdict(right(), other).passed  # the inputs there are others
    assert judged.count(EXERCISE) == 3


def test_what_is_hidden_of_one_submission_stays_hidden_though_another_shows_it():
    failed = [
        replace(o, values={k: np.asarray(v)[:1] for k, v in o.values.items()}) for o in right()
    ]
    shown = verdict(failed)
    assert verdict(failed, lines=["a = 1"]) == shown
    assert all(r.finding is None or not r.finding.details for r in shown.results if r.case.hidden)


def test_a_message_is_read_once_and_what_is_none_is_none_again():
    messages = Messages()
    raw = encode(Message(EXERCISE, 0, right()[0]))
    assert messages.read(raw) is messages.read(bytes(raw))
    assert messages.read(b"{}") is messages.read(b"{}") is None


def test_past_its_bytes_all_is_forgotten_and_no_number_comes_twice():
    raw = [encode(Message(EXERCISE, case, right()[0])) for case in range(10)]
    messages = Messages(most=3 * (len(raw[0]) + seen_before.PART_BYTES * parts_of(raw[0])))
    numbers = [messages.read(one).number for one in raw * 2]
    assert len(set(numbers)) == len(numbers)
    assert messages.read(raw[-1]).number == numbers[-1]


def test_many_small_values_count_for_more_than_their_text():
    few = encode(Message(EXERCISE, 0, Observation({"context": "x" * 1990})))
    many = encode(Message(EXERCISE, 1, Observation({"context": [1] * 900})))
    for raw, reread in ((few, False), (many, True)):
        messages = Messages(most=30_000)
        first = messages.read(raw)
        for case in range(2, 6):
            messages.read(raw.replace(b'"case": 1', b'"case": %d' % case).replace(
                b'"case": 0', b'"case": %d' % case))  # fmt: skip
        assert (messages.read(raw) is not first) == reread


def test_small_values_that_are_kept_take_no_more_memory_than_they_may():
    """A letter takes five bytes in a message, and a hundred once it is read."""
    letters = Observation({"context": [[chr(0x4E00 + n) for n in range(2000)]]})
    raw = encode(Message(EXERCISE, 0, letters)).replace(b", ", b",")
    raw = raw.decode("unicode_escape").encode()
    most = 1 << 20
    messages = Messages(most=most)
    tracemalloc.start()
    try:
        assert all(messages.read(raw + b" " * n) for n in range(80))
        assert tracemalloc.get_traced_memory()[0] < 2 * most
    finally:
        tracemalloc.stop()


def test_no_more_verdicts_are_kept_than_there_may_be():
    of_two_cases = Verdict(EXERCISE, (CaseResult(Case(""), None),) * 2)
    verdicts = Verdicts(most=2 * memory_of(of_two_cases))
    asked = []
    for number in (0, 1, 2, 0):
        verdicts.of(number, 0, lambda n=number: asked.append(n) or of_two_cases)
    assert asked == [0, 1, 2, 0]


@pytest.mark.parametrize("what", ["words", "matrices"])
def test_verdicts_that_are_kept_take_no_more_memory_than_they_may(what):
    """Words are a student's, and a letter may take four bytes."""

    def shows(number):
        said = f"{number}" + "\N{GRINNING FACE}" * 1990
        wrong = np.full((20, 5, 5), number, "float64"), np.zeros((20, 5, 5))
        got, wanted = (Observation({"context": value}) for value in wrong)
        seen = Observation(problem=Problem("exception", said)) if what == "words" else got
        findings = [compare(wanted, seen, 1e-5, {}) for _ in range(10)]
        return Verdict(EXERCISE, tuple(CaseResult(Case(""), finding) for finding in findings))

    most = 1 << 20
    verdicts = Verdicts(most=most)
    tracemalloc.start()
    try:
        for number in range(1, 501):
            verdicts.of(number, 0, lambda n=number: shows(n))
        assert tracemalloc.get_traced_memory()[0] < 2 * most
    finally:
        tracemalloc.stop()
