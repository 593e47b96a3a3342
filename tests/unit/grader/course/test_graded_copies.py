"""What a graded copy says: by verdict.json, and by the notebook alone where there is none."""

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course.beside import OUTCOME, VERDICT
from grader.course.graded_copies import (
    Answer,
    Cause,
    GradedCopy,
    ShownCase,
    copy_at,
    copy_path,
    fingerprint,
    read_copy,
)
from grader.errors import CourseError
from grader.judging.outcome import ExerciseResult, Outcome, Status
from grader.recording.verdict_file import verdict_file
from tests.unit.grader.pages.graded_class import NO_SCALING, ROW_MISSED, right, stub, wrong
from utils.checks.mime import MIME
from utils.checks.render import as_mimebundle, as_text
from utils.checks.verdict import Verdict

LESSON = "02_attention"
ABOUT = {"submission": "abc", "judged_by": {"attend": "f"}, "first_tries": {"attend": ["abc", 0.5]}}


def notebook_of(*verdicts, about=ABOUT, status="crashed", notes=("Stopped.",)):
    """A copy as the course's engine and its earlier versions write it."""
    cells = []
    for verdict in verdicts:
        name, output = verdict.exercise, {"data": as_mimebundle(verdict)}
        own = {"grade_id": name}, {"grade_id": f"test_{name}", "grade": True}
        cells.append({"source": f"{name} = 1", "metadata": {"nbgrader": own[0]}})
        cells.append({"source": "", "outputs": [output], "metadata": {"nbgrader": own[1]}})
    metadata = {OUTCOME: {"status": status, "notes": list(notes), **about}} if about else {}
    return {"cells": cells, "metadata": metadata}


def write(folder, notebook, verdict=None):
    path = copy_path(folder, "ada", LESSON)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook))
    if verdict is not None:
        path.with_name(VERDICT).write_bytes(verdict)
    return path


def whole(*verdicts, note=""):
    results = [ExerciseResult(v.exercise, v.points or 0.0, v, note) for v in verdicts]
    outcome = Outcome(LESSON, Status.CRASHED, tuple(results), ("Stopped.",))
    notebook = notebook_of(*verdicts)
    return verdict_file(outcome, notebook, {**ABOUT, "notebook": digest(notebook)})


def digest(notebook):
    return fingerprint(json.dumps(notebook).encode())


def read(folder) -> GradedCopy:
    copy = read_copy(folder, "ada", LESSON)
    assert copy is not None
    return copy


def test_all_that_was_found_out_is_read_as_it_was_judged(tmp_path):
    judged = wrong("attend", 3, NO_SCALING, ROW_MISSED)
    write(tmp_path, notebook_of(judged), whole(judged, note="It took long."))
    copy, answer = read(tmp_path), read(tmp_path).answers["attend"]
    assert (copy.status, copy.notes, copy.submission) == ("crashed", ("Stopped.",), "abc")
    assert (copy.is_ours, copy.is_whole, copy.first_tries["attend"].share) == (True, True, 0.5)
    assert (answer.source, answer.score, answer.notes) == ("attend = 1", 0.0, ("It took long.",))
    assert answer.seen == "Case “plain”: 3 of 4 entries differ.\n  x[0]: expected 1, got 2"
    verdict = answer.verdict
    assert (verdict.earned, verdict.is_stub, verdict.points) == (judged.earned, False, 3)
    assert verdict.cases == (ShownCase("plain", False), ShownCase("large", True))
    assert verdict.causes == [Cause(x.name, x.message, x.hint) for x in (NO_SCALING, ROW_MISSED)]
    named = [(n.exercise, n.mistake, n.message) for n in copy.mistakes]
    assert named == [("attend", x.name, x.message) for x in (NO_SCALING, ROW_MISSED)]


@pytest.mark.parametrize("judged", [right("a", 2), stub("a", 2)], ids=["right", "stub"])
def test_what_is_right_or_not_begun_names_nothing(tmp_path, judged):
    write(tmp_path, notebook_of(judged), whole(judged))
    copy = read(tmp_path)
    assert copy.mistakes == ()
    assert copy.answers["a"].verdict.is_stub is judged.is_stub
    assert copy.answers["a"].score == judged.score


def test_an_exercise_that_was_not_judged_has_no_verdict_and_its_reason(tmp_path):
    result = ExerciseResult("a", 2.0, None, "It was not reached.")
    outcome = Outcome(LESSON, Status.TIMED_OUT, (result,))
    about = {"notebook": digest(notebook_of())}
    write(tmp_path, notebook_of(), verdict_file(outcome, notebook_of(), about))
    answer = read(tmp_path).answers["a"]
    assert (answer.verdict, answer.notes) == (None, ("It was not reached.",))


def test_matrices_are_kept_as_numbers_with_how_dark_they_are(tmp_path):
    wanted, got = np.eye(2), np.array([[3.0, np.inf], [-1.0, np.nan]])
    judged = wrong("attend", 3, pictures=(wanted, got))
    write(tmp_path, notebook_of(judged), whole(judged))
    expected, found = read(tmp_path).answers["attend"].pictures
    assert [expected.label, found.label] == ["expected", "got"]
    assert expected.rows == ((("1", 0.5), ("0", 0.25)), (("0", 0.25), ("1", 0.5)))
    assert found.rows == ((("3", 1.0), ("inf", None)), (("-1", 0.0), ("nan", None)))


def test_of_large_matrices_the_first_entries_are_kept(tmp_path):
    judged = wrong("attend", 3, pictures=(np.zeros((100, 90)), np.ones((100, 90))))
    rows = json.loads(whole(judged))["answers"]["attend"]["pictures"][1]["rows"]
    assert (len(rows), {len(row) for row in rows}) == (8, {12})


@pytest.mark.parametrize("odd", ["\ud83d", "\udcff x", "\x00", "\u2028", "𝄞"])
def test_any_text_is_written_so_that_it_can_be_read(tmp_path, odd):
    judged = wrong("attend", 3)
    write(tmp_path, notebook_of(judged), whole(judged, note=odd))
    assert read(tmp_path).is_whole
    assert len(read(tmp_path).answers["attend"].notes[0]) == len(odd)


def test_without_verdict_json_scores_causes_code_and_first_tries_are_there_all_the_same(tmp_path):
    """As earlier versions of the course left their copies."""
    judged = wrong("attend", 3, NO_SCALING)
    write(tmp_path, notebook_of(judged, right("b", 1)), whole(judged, right("b", 1)))
    new = read(tmp_path)
    copy_path(tmp_path, "ada", LESSON).with_name(VERDICT).unlink()
    old = read(tmp_path)
    assert (new.is_whole, old.is_whole) == (True, False)
    for name in ("status", "notes", "submission", "judged_by", "first_tries", "mistakes"):
        assert getattr(old, name) == getattr(new, name), name
    was, now = old.answers["attend"], new.answers["attend"]
    assert (was.source, was.score, was.verdict) == (now.source, now.score, now.verdict)
    assert was.seen == as_text(judged)  # whole: nothing is cut out of a text
    assert old.answers["b"].score == 1


@pytest.mark.parametrize(
    "damaged",
    [
        b"", b"{", b"[]", b"\xff", b"[" * 10**5, b'{"answers": 3}', b'{"status": null}',
        b'{"first_tries": {"a": ["x", 2]}}', b'{"answers": {"a": {"verdict": {"points": NaN}}}}',
    ],
    ids=lambda data: str(data[:30]),
)  # fmt: skip
def test_a_damaged_verdict_json_costs_no_more_than_one_that_is_missing(tmp_path, damaged):
    judged = wrong("attend", 3, NO_SCALING)
    write(tmp_path, notebook_of(judged), damaged)
    copy = read(tmp_path)
    assert (copy.status, copy.is_ours, copy.is_whole) == ("crashed", True, False)
    assert copy.first_tries["attend"].share == 0.5
    assert len(copy.mistakes) == 1


@pytest.mark.parametrize("about", [ABOUT, None], ids=["ours", "nbgrader's own"])
def test_a_verdict_json_of_another_notebook_counts_for_nothing(tmp_path, about):
    """Somebody graded again, without the course's steps, and put the notebook in its place."""
    other = notebook_of(wrong("attend", 3, NO_SCALING), about=about)
    write(tmp_path, other, whole(right("attend", 3)))
    copy = read(tmp_path)
    assert (copy.is_whole, copy.is_ours) == (False, about is not None)
    assert len(copy.mistakes) == 1


def test_verdict_json_alone_is_no_graded_copy(tmp_path):
    write(tmp_path, {}, whole(right("a", 1))).unlink()
    assert read_copy(tmp_path, "ada", LESSON) is None


def test_a_copy_of_nbgraders_own_engine_is_not_taken_for_ours(tmp_path):
    write(tmp_path, notebook_of(wrong("attend", 3, NO_SCALING), about=None))
    copy = read(tmp_path)
    assert (copy.is_ours, copy.is_whole, copy.status) == (False, False, "graded")
    assert [named.mistake for named in copy.mistakes] == [NO_SCALING.name]


ODD = [
    [1], "x", {"status": 3, "notes": 5, "judged_by": [1], "submission": {}},
    {"first_tries": {"attend": ["x", 10**400]}}, {"first_tries": {"attend": ["x", -1]}},
    {"first_tries": {"attend": ["x", float("nan")]}}, {"notes": [1, None], "judged_by": {"a": 1}},
    {"first_tries": {"attend": []}}, {"first_tries": {"attend": [None, 1.0]}}, {"first_tries": 5},
]  # fmt: skip


@pytest.mark.parametrize("about", ODD, ids=lambda about: str(about)[:40])
@pytest.mark.parametrize("verdict", ["{", "[" * 10**5, 3, None, '{"points": 1, "mistake": [1]}'])
def test_what_is_odd_in_a_notebook_counts_as_nothing(tmp_path, about, verdict):
    outputs = [3, {"data": 3}, {"data": {MIME: verdict}}]
    odd = [
        {"metadata": {"nbgrader": {"grade_id": "test_a"}}, "outputs": outputs},
        3,
        {"metadata": 3},
    ]
    write(tmp_path, {"cells": odd, "metadata": {OUTCOME: about}})
    copy = read(tmp_path)
    assert (copy.status, copy.submission, copy.notes) == ("graded", "", ())
    assert (copy.mistakes, copy.judged_by, copy.first_tries) == ((), {}, {})


def test_a_first_try_that_is_odd_takes_no_other_with_it(tmp_path):
    tries = {"a": ["x", 7], "b": ["x", 1]}
    write(tmp_path, notebook_of(about={"first_tries": tries}))
    assert read(tmp_path).first_tries == {"b": ("x", 1.0)}


def test_the_visible_checks_verdict_does_not_count(tmp_path):
    write(tmp_path, notebook_of(Verdict("a", ())))
    assert read(tmp_path).answers["a"].verdict is None


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = ("points", "earned", "stub", "idea", "demands", "cases", "mistake", "second", "symptoms")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON)))
def test_any_json_is_a_verdict_with_fields_of_the_right_types_or_none(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("copy")
    output = {"data": {MIME: json.dumps(data)}}
    cell = {"outputs": [output], "metadata": {"nbgrader": {"grade_id": "test_a"}}}
    write(folder, {"cells": [cell]})
    verdict = read(folder).answers["a"].verdict
    if verdict is not None:
        assert 0 <= verdict.earned <= 1
        assert all(isinstance(case.name, str) for case in verdict.cases)
        assert all(isinstance(cause.message, str) for cause in verdict.causes)


@given(st.lists(JSON), JSON)
def test_any_cells_are_read_without_an_error(tmp_path_factory, cells, metadata):
    folder = tmp_path_factory.mktemp("copy")
    odd = {"metadata": {"nbgrader": {"grade_id": "test_attend"}}, "outputs": cells}
    write(folder, {"cells": [*cells, odd], "metadata": metadata})
    assert read(folder).answers["attend"].verdict is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"cells": 3}', b"[" * 10**5, b"\xff\xfe"])
def test_a_copy_that_cannot_be_read_is_a_sentence(tmp_path, data):
    path = tmp_path / "copy.ipynb"
    path.write_bytes(data)
    with pytest.raises(CourseError, match="cannot be read; grade it again"):
        copy_at(path)


def test_what_is_written_holds_every_field_by_its_own_name():
    """So that nobody who reads the file has to know what was left out."""
    told = json.loads(whole(wrong("attend", 3, NO_SCALING, pictures=(np.eye(2), np.eye(2)))))
    assert msgspec.convert(told["answers"]["attend"], Answer).pictures
    assert told["answers"]["attend"].keys() == {
        field.name for field in msgspec.structs.fields(Answer)
    }
