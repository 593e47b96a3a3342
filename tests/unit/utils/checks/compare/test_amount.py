"""No cause is sought in far more than was asked for: a class shares the process that judges."""

import numpy as np
import pytest

from grader.reading.plan import cases_of
from tests.course.lesson_runs import all_lessons
from utils.checks.case_results import points_alone
from utils.checks.compare import fingerprints
from utils.checks.compare.amount import is_far_more, of_amount, values_in
from utils.checks.compare.fingerprints import print_of
from utils.checks.judge import judge
from utils.checks.observation import Observation
from utils.checks.observe.expected import expected_of, observed
from utils.checks.registry import exercises

LESSON = all_lessons()["06_training"]
MANY = list(range(4000))
MATRIX = np.arange(6.0).reshape(2, 3)


def seen(value, **gradients):
    return Observation({"x": value}, gradients)


@pytest.mark.parametrize(
    "value",
    [MATRIX.tolist(), [MATRIX] * 50, [0] * 400, np.zeros(10_000), "a" * 10_000, {}, None],
    ids=str,
)
def test_what_a_wrong_answer_may_well_return_is_not_far_more(value):
    assert not is_far_more(seen(MATRIX), seen(value))


@pytest.mark.parametrize(
    "value",
    [MANY, [[]] * 4000, [[[n] for n in range(50)] for _ in range(50)], dict.fromkeys("abc", MANY),
     ["a" * 2000] * 200, np.zeros(1_000_000)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_thousands_of_parts_in_place_of_a_small_result_are_far_more(value):
    assert is_far_more(seen(MATRIX), seen(value))


def test_as_much_as_is_asked_for_is_never_far_more():
    for value in (MANY, [MANY] * 3, np.zeros(1_000_000), ["a" * 2000] * 200):
        assert not is_far_more(seen(value), seen(value))
        assert not is_far_more(seen(value), seen([value, value]))


def test_gradients_of_names_that_nobody_knows_count_too():
    unknown = {str(n): None for n in range(4000)}
    assert is_far_more(seen(MATRIX), seen(MATRIX, **unknown))


def test_the_sizes_are_said_of_the_result_that_is_too_large():
    right = Observation({"x": MATRIX, "n": 3})
    says = of_amount(right, Observation({"x": MATRIX, "n": MANY}))
    assert says == "n holds 4,000 values, where 1 is asked for."
    assert of_amount(right, Observation({"x": MANY, "n": 3})).endswith("where 6 are asked for.")
    assert of_amount(right, right) == ""
    assert values_in({"a": [1, MATRIX], "b": "word"}) == 8


def flooded(name, value):
    """The exercise, its cases, and observations that hold `value` in every result."""
    cases = cases_of(LESSON, name)
    right = [expected_of(exercises()[name], case) for case in cases]
    return exercises()[name], cases, [Observation(dict.fromkeys(r.values, value)) for r in right]


@pytest.fixture
def read(monkeypatch):
    """What fingerprints were made of, one entry for each part that was read."""
    parts = []
    of_one = fingerprints._numbers
    monkeypatch.setattr(fingerprints, "_numbers", lambda v: [of_one(v), parts.append(v)][0])
    return parts


@pytest.mark.parametrize("name", ["build_vocab", "collate"])
def test_where_every_result_is_a_long_list_none_is_held_against_mistakes_and_sizes_are_told(
    name, read
):
    flood = flooded(name, MANY)
    verdict = judge(*flood, 1.0)
    assert not any(part is MANY for part in read)
    assert "holds 4,000 values" in verdict.symptoms[0]
    assert verdict.score == points_alone(*flood, 1.0).score


def test_a_case_that_is_flooded_leaves_the_cause_of_the_others_to_be_found(read):
    exercise, cases, _ = flooded("collate", MANY)
    mistake = next(m for m in exercise.mistakes if m.answer is not None)
    wrong = [observed(exercise, mistake.name, mistake.answer, case) for case in cases]
    last = max(n for n, case in enumerate(cases) if not case.hidden)
    wrong[last] = Observation(dict.fromkeys(wrong[last].values, MANY))
    verdict = judge(exercise, cases, wrong, 1.0)
    assert verdict.first_failure.case is not cases[last]
    assert verdict.mistake.name == mistake.name
    assert not any(part is MANY for part in read)


@pytest.mark.parametrize(
    "number", [0, -0.0, 1, -3, 2.5, True, 1e-200, -1e300, 2**70, float("nan"), float("-inf"), 1 / 3]
)
def test_a_number_has_the_fingerprint_of_an_array_that_holds_it(number):
    alone = print_of(Observation({"x": number}))["x"]
    array = print_of(Observation({"x": np.array([number], dtype=np.float64)}))["x"]
    assert alone[1:] == array[1:]


def test_the_fingerprint_of_an_observation_is_made_once():
    one = seen(MATRIX)
    assert print_of(one) is print_of(one)
    assert print_of(seen(MATRIX + 1)) != print_of(one)
