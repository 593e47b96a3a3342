"""An answer that no known mistake explains is told what it behaves like, if that is known."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from utils.checks.framework import expected
from utils.checks.framework.exercise import Case, Exercise, Probe
from utils.checks.framework.expected import expected_of
from utils.checks.framework.fingerprint_file import forget, read, write
from utils.checks.framework.fingerprints import (
    Fingerprint,
    Fingerprints,
    combined,
    print_of,
    same_print,
)
from utils.checks.framework.judge import judge
from utils.checks.framework.observation import Observation
from utils.checks.framework.observe import observe_all

SIZES = (3, 4, 5, 6)


def numbers(n):
    return torch.randn(n, 2, generator=torch.Generator().manual_seed(n))


CASES = tuple(Case(f"{n} rows", {"n": n}) for n in SIZES)
PROBE = Probe(
    "two_results",
    lambda n: {"x": numbers(n)},
    lambda f, i: dict(zip(("first", "second"), f(i["x"]), strict=True)),
    CASES,
    gradient=False,
)


def right(x):
    return x + 1, 2 * x


def first_wrong(x):
    return x - 1, 2 * x


def both_wrong(x):
    return x - 1, x / 2


def prints_of(answer):
    return tuple(map(print_of, observe_all(PROBE, CASES, answer)))


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    monkeypatch.setattr(expected, "_OWN", {})
    path = tmp_path / "fingerprints.json"
    kept = Fingerprints(
        "stamp",
        tuple(case.name for case in CASES),
        prints_of(right),
        (Fingerprint(("one were subtracted",), prints_of(first_wrong)),),
        (Fingerprint(("A", "B"), tuple(map(combined, prints_of(both_wrong)))),),
    )
    write(path, {"two_results": kept})
    return Exercise(PROBE, right, (), fingerprints=path)


def told(exercise, answer):
    verdict = judge(exercise, CASES, observe_all(PROBE, CASES, answer))
    return tuple(m.message for m in (verdict.mistake, verdict.second) if m is not None)


def test_a_file_is_read_as_it_was_written(exercise):
    kept = read(exercise.fingerprints)["two_results"]
    assert kept.cases == tuple(case.name for case in CASES)
    assert all(map(same_print, kept.right, prints_of(right)))
    assert all(map(same_print, kept.mistakes[0].prints, prints_of(first_wrong)))
    assert kept.pairs[0].as_if == ("A", "B")


def test_an_answer_like_one_mistake_in_every_case_is_told_so(exercise):
    assert told(exercise, first_wrong) == ("Your code behaves as if one were subtracted.",)


def test_an_answer_like_two_mistakes_is_told_both(exercise):
    wanted = ("Your code behaves as if A.", "It also behaves as if B.")
    assert told(exercise, both_wrong) == wanted


def test_an_answer_like_a_mistake_in_the_wrong_result_alone_is_told_that(exercise):
    def other_second(x):
        return x - 1, x * x

    wanted = "As for first, your code behaves as if one were subtracted."
    assert told(exercise, other_second) == (wanted,)


def test_an_answer_like_a_mistake_in_some_cases_only_is_told_nothing(exercise):
    def often(x):
        return (x - 1 if len(x) < 5 else x * x), 2 * x

    assert told(exercise, often) == ()


@pytest.mark.parametrize(("limit", "is_told"), [(6, False), (7, True)])
def test_a_yes_that_is_wrong_in_a_single_case_tells_of_no_likeness(limit, is_told, exercise):
    probe = replace(PROBE, exercise="few", call=lambda f, i: {"few": f(i["x"])})
    wrong = lambda x: len(x) < limit  # noqa: E731 (in one of the cases, or in two)
    seen, right_ones = (observe_all(probe, CASES, f) for f in (wrong, lambda x: len(x) < 5))
    prints = [tuple(map(print_of, one)) for one in (right_ones, seen)]
    like = Fingerprint(("the limit were larger",), prints[1])
    names = tuple(case.name for case in CASES)
    write(exercise.fingerprints, {"few": Fingerprints("stamp", names, prints[0], (like,), ())})
    forget()
    asked = replace(exercise, probe=probe, oracle=lambda x: len(x) < 5)
    assert (judge(asked, CASES, seen).mistake is not None) == is_told


@pytest.mark.parametrize(("number", "is_told"), [(0.0, False), (3.0, True)])
def test_a_number_that_is_0_tells_of_no_likeness(number, is_told, exercise):
    probe = replace(PROBE, exercise="one", call=lambda f, i: {"one": f(i["x"])})
    right_ones, seen = (observe_all(probe, CASES, f) for f in (len, lambda x: number))
    prints = [tuple(map(print_of, one)) for one in (right_ones, seen)]
    like = Fingerprint(("nothing were counted",), prints[1])
    names = tuple(case.name for case in CASES)
    write(exercise.fingerprints, {"one": Fingerprints("stamp", names, prints[0], (like,), ())})
    forget()
    asked = replace(exercise, probe=probe, oracle=len)
    assert (judge(asked, CASES, seen).mistake is not None) == is_told


@pytest.mark.parametrize(
    ("used", "is_told"), [(None, True), ({"view", "x"}, True), ({"einsum", "x"}, False)]
)
def test_no_function_on_the_form_is_named_that_the_answer_does_not_use(exercise, used, is_told):
    (kept,) = read(exercise.fingerprints).values()
    likeness = replace(kept.mistakes[0], as_if=("a 1 were 0 in `view`",))
    write(exercise.fingerprints, {"two_results": replace(kept, mistakes=(likeness,))})
    verdict = judge(exercise, CASES, observe_all(PROBE, CASES, first_wrong), used=used)
    assert (verdict.mistake is not None) == is_told


def test_an_answer_like_a_mistake_in_one_case_is_told_nothing(exercise):
    def seldom(x):
        return (x - 1 if len(x) == 3 else x * x), 2 * x

    assert told(exercise, seldom) == ()


def test_an_answer_that_is_right_where_the_mistake_is_wrong_is_told_nothing(exercise):
    def half(x):
        return (x - 1 if len(x) < 5 else x + 1), 2 * x

    assert told(exercise, half) == ()


def test_an_exception_is_not_told_a_likeness(exercise):
    def failing(x):
        raise RuntimeError("a size does not fit")

    assert told(exercise, failing) == ()


def test_fingerprints_made_from_other_inputs_are_not_used(exercise, monkeypatch):
    moved = replace(exercise.probe, inputs=lambda n: {"x": numbers(n) + 5})
    other = replace(exercise, probe=moved)
    seen = observe_all(moved, CASES, first_wrong)
    assert judge(other, CASES, seen).mistake is None
    assert expected_of(other, CASES[0]).problem is None


@pytest.mark.parametrize("text", ["", "[", "[]", '{"two_results": {}}', '{"two_results": 3}'])
def test_a_damaged_file_costs_the_likenesses_alone(exercise, text):
    exercise.fingerprints.write_text(text)
    forget()
    assert told(exercise, first_wrong) == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.T,
        lambda a: a.astype(np.float64),
        lambda a: a + 1e-2,
        lambda a: a[::-1],
        lambda a: -a,
        lambda a: np.where(a == a[1, 2], np.nan, a),
        lambda a: a.reshape(2, 6),
        list,
    ],
)
def test_other_numbers_or_another_form_have_another_fingerprint(change):
    array = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    one, other = (print_of(Observation({"x": value})) for value in (array, change(array)))
    assert same_print(one, one)
    assert not same_print(one, other)
    assert not same_print(combined(one), combined(other))


def test_the_order_of_a_dictionary_does_not_change_a_fingerprint():
    values = {"a": 1, "b": 2.5, "c": [3]}
    one, other = (
        print_of(Observation({"x": dict(v)})) for v in (values.items(), [*values.items()][::-1])
    )
    assert same_print(one, other)
    assert not same_print(one, print_of(Observation({"x": {**values, "b": 1, "a": 2.5}})))


def test_the_last_digits_do_not_change_a_fingerprint():
    array = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    one, other = (print_of(Observation({"x": value})) for value in (array, array * (1 + 1e-6)))
    assert same_print(one, other)
    assert same_print(combined(one), combined(other))
