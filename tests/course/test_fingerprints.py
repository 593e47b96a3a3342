"""What is kept of the known mistakes is of today's exercises, and stays as it is where it may."""

from dataclasses import replace

import pytest
import torch

from grader.commands.making.fingerprints import prints, renewed, stamp, with_fingerprints
from tests.course.lesson_runs import all_lessons
from utils.checks.compare.fingerprint_file import forget, read_exercise, write
from utils.checks.compare.fingerprints import Fingerprints, print_of, same_print
from utils.checks.observe import expected
from utils.checks.observe.expected import expected_of
from utils.checks.registry import exercises

KEPT = [e for lesson in all_lessons().values() for e in with_fingerprints(lesson)]
MOST_BYTES = 800_000  # students download them


def kept(exercise) -> Fingerprints:
    found = read_exercise(exercise.fingerprints, exercise.id)
    assert found is not None
    return found


@pytest.mark.parametrize("exercise", KEPT, ids=lambda exercise: exercise.id)
def test_fingerprints_are_those_of_todays_exercise_and_inputs(exercise):
    found = kept(exercise)
    assert found.stamp == stamp(exercise), "run .venv/bin/python -m grader fingerprints"
    assert found.cases == tuple(case.name for case in exercise.probe.cases)
    assert found.bank.keys() == {m.name for m in exercise.mistakes if m.answer is not None}
    assert all(
        same_print(print_of(expected_of(exercise, case)), right)
        for case, right in zip(exercise.probe.cases, found.right, strict=True)
    )


def test_they_fit_into_little_more_than_a_megabyte():
    assert sum(path.stat().st_size for path in {e.fingerprints for e in KEPT}) <= MOST_BYTES


@pytest.fixture(name="dots")
def _dots(tmp_path):
    """An exercise whose file a test may change."""
    exercise = replace(exercises()["pairwise_dot"], fingerprints=tmp_path / "fingerprints.json")
    yield exercise
    forget()


def test_what_differs_in_its_last_digits_stays_and_what_is_otherwise_is_made_anew(dots):
    made = renewed(dots)
    first, second = list(made.bank)[:2]

    def shifted(factor):
        def of(numbers):
            return (*numbers[:2], *(number * factor for number in numbers[2:]))

        return lambda prints: tuple(
            p and {name: of(numbers) for name, numbers in p.items()} for p in prints
        )

    last_digits, other = shifted(1 + 1e-4), shifted(1.5)
    odd = made.bank | {first: last_digits(made.bank[first]), second: other(made.bank[second])}
    write(dots.fingerprints, {dots.id: replace(made, bank=odd)})
    again = renewed(dots)
    assert again.bank[first] != made.bank[first]
    assert again.bank[second] == made.bank[second]


@pytest.mark.parametrize("name", ["PositionalEncoding", "LearnedPositionalEncoding"])
def test_what_a_mistake_gives_by_chance_is_kept_alike_after_each_run(name):
    exercise, made = exercises()[name], []
    drawing = [m for m in exercise.mistakes if m.name.startswith("dropout")]
    for seed in (1, 2):
        torch.manual_seed(seed)
        expected.forget()
        made.append({m.name: list(prints(exercise, m.name, m.answer)) for m in drawing})
    assert made[0] == made[1]


def test_the_file_of_an_unchanged_exercise_is_written_as_it_was(dots):
    write(dots.fingerprints, {dots.id: renewed(dots)})
    before = dots.fingerprints.read_bytes()
    write(dots.fingerprints, {dots.id: renewed(dots)})
    assert dots.fingerprints.read_bytes() == before
