"""What a student reads of cells that are missing, another lesson's, unreadable, or taken away."""

import json

import pytest

from grader.authoring.notebook import source_notebook
from grader.notebook_file import Malformed
from grader.reading import known_cells
from grader.reading.plan import make_plan
from grader.reading.prepared import prepare
from grader.reading.submission import read_submission
from tests.course.lesson_runs import all_lessons
from tests.unit.grader.reading.test_plan import IDS, LESSON, WHOLE, code, notebook, steps

OTHER = all_lessons()["02_attention"]


def solved(lesson):
    return json.loads(json.dumps(source_notebook(lesson)))["cells"]


def released(lesson):
    return json.loads(lesson.release_path.read_text(encoding="utf-8"))["cells"]


def bare(cells):
    """Cells as a program leaves them that keeps neither metadata nor ids."""
    return [{"cell_type": cell["cell_type"], "source": cell["source"]} for cell in cells]


def without_ids(cells):
    return [{name: cell[name] for name in cell if name != "id"} for cell in cells]


def reasons(*cells):
    return make_plan(LESSON, read_submission(notebook(*cells))[1]).hidden


@pytest.mark.parametrize("lesson", list(all_lessons().values())[1:], ids=lambda one: one.name)
@pytest.mark.parametrize("made", [solved, released])
@pytest.mark.parametrize("left", [list, bare, without_ids], ids=["whole", "bare", "no ids"])
def test_another_lesson_s_notebook_is_told_in_one_sentence_that_names_both(lesson, made, left):
    with pytest.raises(Malformed) as told:
        prepare(notebook(*left(made(lesson))), LESSON)
    assert str(told.value) == (
        f"This is the notebook of {lesson.name}, and it was handed in for {LESSON.name}, none of "
        f"whose exercises is in it. Hand it in for {lesson.name}, and {LESSON.name}.ipynb for this "
        "lesson."
    )


@pytest.mark.parametrize("left", [list, bare, without_ids], ids=["whole", "bare", "no ids"])
def test_a_lesson_s_own_notebook_is_never_taken_for_another_s(left):
    for lesson in all_lessons().values():
        for made in (solved, released):
            notes = prepare(notebook(*left(made(lesson))), lesson).notes
            assert not [note for note in notes if "lost" not in note and "put back" not in note]


@pytest.mark.parametrize("order", [[LESSON, OTHER], [OTHER, LESSON]])
def test_of_two_lessons_in_one_notebook_the_own_is_graded_and_the_other_named(order):
    cells = [cell for lesson in order for cell in solved(lesson)]
    found, notes = steps(*cells)
    assert [step for step in found if step in IDS] == IDS
    (note,) = notes
    assert note.startswith(f"It also holds {len(OTHER.exercises)} exercises of {OTHER.name}, ")


def test_a_notebook_of_nobody_s_is_told_in_one_sentence():
    _, notes = steps(code("x = 1"))
    (note,) = notes
    assert note.startswith("None of the lesson's exercises is in this notebook.")


def test_an_earlier_edition_is_told_by_the_cells_that_the_lesson_does_not_have():
    gone = [code("def swap(x):\n    return x", "swap_halves"), code("x", "test_swap_halves")]
    _, notes = steps(*WHOLE[2:], *gone)
    assert notes == (
        "The test cell of stable_softmax was missing; it was put back.",
        "The cell of stable_softmax is missing.",
        "It has cells that the lesson does not have (swap_halves): it may be of an earlier "
        "edition. Fetch the lesson again and copy your answers into its cells.",
    )


def test_many_missing_cells_are_told_in_one_sentence():
    assert steps(*WHOLE[:2])[1] == (
        "The test cells of masked_mean, pairwise_dot were missing; they were put back.",
        "The cells of masked_mean, pairwise_dot are missing.",
    )


def test_an_unreadable_answer_s_reason_has_line_and_character_and_stands_at_its_exercise():
    source = "def stable_softmax(x, dim):\n    return x\u00a0- 1"
    for cell in (code(source, IDS[0]), code(source)):
        told = reasons(cell, *WHOLE[1:])
        assert list(told) == [IDS[0]]
        assert "in line 2, `return x" in told[IDS[0]]
        assert "U+00A0 (no-break space)" in told[IDS[0]]


@pytest.mark.parametrize(("head", "does"), [
    ("%%writefile a.py", "writes it into a file"), ("%%file a.py", "writes it into a file"),
    ("%%bash", "hands it to a shell"), ("%%sh", "hands it to a shell"),
    ("%%script python", "in another process"), ("%%python3", "in another process"),
    ("%%html", "shows it on the page"), ("%%javascript", "shows it on the page"),
    ("%%latex", "shows it on the page"), ("%%cython", "does not run it"),
    ("%%time\n%%writefile a.py", "begins with %%writefile"), ("\n%%html", "shows it on the page"),
])  # fmt: skip
@pytest.mark.parametrize("name", [IDS[0], ""])
def test_a_magic_that_takes_an_answer_away_is_its_reason(head, does, name):
    told = reasons(code(f"{head}\nstable_softmax = 1", name), *WHOLE[1:])
    assert does in told[IDS[0]]
    assert told[IDS[0]].endswith("So nothing in it is defined: take that line out.")


@pytest.mark.parametrize("head", ["%%time", "%%timeit", "%%capture out", "%%prun", "%time 1"])
def test_a_magic_that_runs_its_cell_is_no_reason(head):
    own = code(f"{head}\nstable_softmax = 1", IDS[0])
    assert reasons(own, *WHOLE[1:]) == {}
    assert steps(own, *WHOLE[1:])[1] == ()


def test_a_helper_that_a_magic_takes_away_is_told_and_a_page_is_not():
    (note,) = steps(code("%%writefile own.py\ndef helper(): pass"), *WHOLE)[1]
    assert "begins with %%writefile, which writes it into a file" in note
    assert steps(code("%%html\n<b>1</b>"), *WHOLE)[1] == ()


def test_an_answer_written_elsewhere_needs_no_reason():
    taken = code("%%bash\nstable_softmax = 1", IDS[0])
    assert reasons(taken, *WHOLE[1:], code("stable_softmax = 2")) == {}
    broken = code("stable_softmax = (", "")
    assert reasons(broken, *WHOLE) == {}


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_a_text_that_is_an_answer_by_its_name_or_content_is_told_and_counts(kind):
    for name in (IDS[0], ""):
        source = "def stable_softmax(x):\n    return x"
        found, notes = steps(code(source, name) | {"cell_type": kind}, *WHOLE[1:])
        assert found[:2] == [source, IDS[0]]
        assert f"is of type {kind}; it counted as the code that it is." in notes[-1]


@pytest.mark.parametrize("source", [
    "I tried def stable_softmax(x) first.", "`stable_softmax = x`", "# stable_softmax", "",
    "stable_softmax", "stable_softmax(x)", "def stable_softmax(x):\n    pass",
])  # fmt: skip
def test_a_student_s_words_on_an_exercise_are_no_answer(source):
    words = code(source) | {"cell_type": "markdown"}
    assert steps(*WHOLE, words) == steps(*WHOLE)
    assert steps(words, *WHOLE[2:])[0] == steps(*WHOLE[2:])[0]


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_a_graded_copy_shows_cells_by_name_and_reads_none_as_python(kind, monkeypatch):
    def fails(_):
        raise AssertionError("a text was read as Python where nothing bounds that")

    monkeypatch.setattr(known_cells, "is_readable", fails)
    monkeypatch.setattr(known_cells, "statements", fails)
    text = {"cell_type": kind}
    cells = [WHOLE[0] | text, *WHOLE[1:], code("old", IDS[1]) | text, code("words") | text]
    shown = known_cells.shown_cells(LESSON, read_submission(notebook(*cells))[1])
    assert [cell.kind for cell in shown] == ["code"] * len(WHOLE) + [kind, kind]
