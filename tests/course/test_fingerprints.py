"""The kept fingerprints are those of today's exercises, say nothing that helps to copy, and fit."""

import ast
import re

import pytest

from grader.authoring.lesson import Lesson
from grader.mutation.fingerprint_files import bank_stamp, stamp, tally, with_fingerprints
from grader.mutation.mutants import names_given
from tests.course.lesson_runs import ROOT, all_lessons
from utils.checks.framework.expected import expected_of
from utils.checks.framework.fingerprint_file import read
from utils.checks.framework.fingerprints import Fingerprints, print_of, same_print
from utils.checks.registry import exercises

LESSONS = list(all_lessons().values())
KEPT = [(lesson, exercise) for lesson in LESSONS for exercise in with_fingerprints(lesson)]
MOST_BYTES = 6_000_000  # students download them


def kept(exercise_id: str) -> Fingerprints:
    path = exercises()[exercise_id].fingerprints
    assert path is not None
    return read(path)[exercise_id]


@pytest.mark.parametrize(("lesson", "exercise"), KEPT, ids=[e.id for _, e in KEPT])
def test_fingerprints_are_those_of_todays_exercise_and_inputs(lesson, exercise):
    found = kept(exercise.id)
    judged = exercises()[exercise.id]
    renew = f"run .venv/bin/python -m grader fingerprints {lesson.name}"
    assert found.stamp == stamp(exercise), renew
    assert found.bank_stamp == bank_stamp(judged), renew
    assert found.cases == tuple(case.name for case in judged.probe.cases)
    assert all(
        same_print(print_of(expected_of(judged, case)), right)
        for case, right in zip(judged.probe.cases, found.right, strict=True)
    ), f"{renew} --force"


def of(name: str) -> Lesson:
    return next(lesson for lesson in LESSONS if name in [e.id for e in lesson.exercises])


@pytest.mark.parametrize("name", ["additive_scores", "rnn_cell"])
def test_what_is_kept_is_what_the_machine_makes(name):
    lesson = of(name)
    exercise = next(e for e in lesson.exercises if e.id == name)
    made = [f for _, f in tally(lesson, exercise, ROOT).found]
    for one in kept(name).mistakes:
        same = [f for f in made if f.as_if == one.as_if]
        assert any(all(map(same_print, f.prints, one.prints)) for f in same), one.as_if


@pytest.mark.parametrize(("lesson", "exercise"), KEPT, ids=[e.id for _, e in KEPT])
def test_no_sentence_tells_a_name_that_only_the_solution_has(lesson, exercise):
    given = names_given(exercise.source)
    tree = ast.parse(exercise.source)
    own = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } - given
    found = kept(exercise.id)
    sentences = [s for f in (*found.mistakes, *found.pairs) for s in f.as_if]
    told = {word for s in sentences for code in re.findall(r"`([^`]*)`", s) for word in [code]}
    assert not told & own


def test_fingerprints_fit_into_a_few_megabytes():
    paths = {exercises()[e.id].fingerprints for _, e in KEPT}
    assert sum(path.stat().st_size for path in paths) <= MOST_BYTES


def test_what_a_sentence_quotes_is_one_name_number_or_sign_and_no_line_of_code():
    found = [kept(e.id) for _, e in KEPT]
    told = {s for one in found for f in (*one.mistakes, *one.pairs) for s in f.as_if}
    quoted = {code for sentence in told for code in re.findall(r"`([^`]*)`", sentence)}
    assert quoted
    assert not [code for code in quoted if not re.fullmatch(r"-?[\w.]+(\(…\))?|[^\w\s]{1,2}", code)]
    assert not [sentence for sentence in told if re.search(r"[=;:\n]", sentence)]


def test_nearly_every_exercise_has_some():
    assert len(KEPT) > 35
    without = [e.id for _, e in KEPT if not kept(e.id).mistakes]
    assert len(without) <= 2, without
