"""Ids and names that would do something where they are shown: one test for each place.

A student may be called like a formula, carry codes that drive a terminal, or be markup.
"""

import csv
import unicodedata
from importlib import import_module

import pytest
from bs4 import BeautifulSoup

from grader.cli import COMMANDS, main
from grader.commands.predictions import HandIn, table
from grader.course.safe_text import FORMULA, UNSEEN
from grader.grading.batch import Run
from grader.grading.changes import Change
from grader.judging.outcome import Outcome, Status
from grader.pages.feedback import write_feedback
from grader.pages.reports import write_reports
from grader.predictions.scoring import Examination
from tests.course.lesson_runs import ROOT
from tests.unit.grader.lms.downloads import notebook, write_zip
from tests.unit.grader.pages.graded_class import LESSON, NO_SCALING, GradedClass, wrong

FORMULA_ID, TERMINAL_ID, MARKUP_ID = "=1+1", "a\x1b[2J\u202eb\x07", "<img src=x onerror=alert(1)>"
IDS = (FORMULA_ID, TERMINAL_ID, MARKUP_ID)
NAME = '@SUM(1)\x1b[31m\u2066"<b>'
ATTEND = "scaled_dot_product_attention"


@pytest.fixture
def hostile(made: GradedClass, monkeypatch) -> GradedClass:
    """A class of three, each with a hostile id and name; every command works on it."""
    for student in IDS:
        made.add(
            student, wrong(ATTEND, 5, NO_SCALING), status="timed out",
            notes=(f"{NAME}: it was stopped.",), first_name=NAME,
        )  # fmt: skip
        path = made.course.folder / "submitted" / student / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    made.add("plain", first_name="Plain").write_text("{")  # a copy that cannot be read is told
    for verb in COMMANDS:
        module = import_module(COMMANDS[verb][0])
        if hasattr(module, "GradingCourse"):
            monkeypatch.setattr(module, "GradingCourse", lambda *_: made.course)
    for verb in ("grade", "autograde"):
        monkeypatch.setattr(f"grader.commands.{verb}.run_engine", lambda *_: failed_run())
    monkeypatch.chdir(ROOT)
    return made


def failed_run() -> Run:
    """What the engine gives if it fails on everything; nothing is run for these tests."""
    failed = Outcome(LESSON, Status.GRADER_ERROR, ())
    return Run({(student, LESSON): failed for student in IDS}, [], changes(), 1)


def changes() -> list[Change]:
    return [Change(student, LESSON, (ATTEND,), {ATTEND: 1.0}, {ATTEND: 2.0}) for student in IDS]


def acts(text: str) -> list[str]:
    """The characters of a text that a terminal or a reader's eye obeys."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in UNSEEN]


def download(made: GradedClass) -> str:
    """A download with hostile file names, of students who are known and who are not."""
    names = (f"x{NAME.replace('/', '')}_11_5_{LESSON}.ipynb", f"{TERMINAL_ID}.ipynb", "=1+1.ipynb")
    return str(write_zip(made.course.folder / "d.zip", dict.fromkeys(names, notebook())))


def due_dates(made: GradedClass, *students: str) -> str:
    path = made.course.folder / "due.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = [(LESSON, "2026-11-25", student) for student in students]
        csv.writer(file).writerows([("lesson", "due", "student"), *rows])
    return str(path)


TERMINAL = {
    "roster": lambda made: ["roster"],
    "deadlines": lambda made: ["deadlines", due_dates(made, *IDS, "z\x1b]0;x\x07")],
    "collect": lambda made: ["collect", "canvas", download(made)],
    "grade": lambda made: ["grade", "--jobs", "1"],
    "autograde": lambda made: ["autograde", "--student", "b\x1b[2J"],
    "report": lambda made: ["report"],
    "release": lambda made: ["release"],
    "export csv": lambda made: ["export", "csv", "--out", str(made.course.folder / "o.csv")],
    "export canvas": lambda made: ["export", "canvas", "--out", str(made.course.folder / "o.csv")],
    "export feedback-zip": lambda made: [
        "export", "feedback-zip", "--lesson", LESSON, "--out", str(made.course.folder / "o.zip"),
    ],
    "archive": lambda made: ["archive"],
}  # fmt: skip


@pytest.mark.parametrize("words", TERMINAL)
def test_on_the_terminal_no_id_name_or_file_name_acts(hostile, capfd, words):
    main(TERMINAL[words](hostile))
    told = capfd.readouterr()
    assert acts(told.out) == []
    assert acts(told.err.replace("\r", "")) == []  # bars of progress go back to the line's start


def test_the_table_of_predictions_shows_no_id_that_acts():
    examination = Examination("made-up", [], ())
    assert acts(table(examination, {TERMINAL_ID: HandIn(1, "Well done.")}, [])) == []


FORMS = ("canvas", "moodle", "csv", "csv --per-exercise")


@pytest.mark.parametrize("form", FORMS)
def test_in_an_exported_table_no_cell_is_a_formula_or_acts(hostile, form):
    roster = hostile.course.folder / "roster.csv"
    with roster.open("w", newline="", encoding="utf-8") as file:
        heads = ("student_id", "name", "canvas_user_id", "email")
        csv.writer(file).writerows([heads, (FORMULA_ID, NAME, "11", "=HYPERLINK(1)")])
    out = hostile.course.folder / "o.csv"
    words = ["export", *form.split(), "--roster", str(roster), "--out", str(out)]
    assert main(words) == 0
    with out.open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert any("1+1" in cell or "SUM" in cell for cell in cells)
    assert [cell for cell in cells if cell.startswith(FORMULA)] == []
    assert [cell for cell in cells if acts(cell)] == []


def test_in_the_table_of_what_was_left_over_no_cell_is_a_formula_or_acts(hostile):
    main(["collect", "canvas", download(hostile)])
    (reasons,) = hostile.course.folder.glob("lms/unmatched/*/reasons.csv")
    cells = [c for row in csv.reader(reasons.read_text().splitlines()) for c in row]
    assert any("1+1" in cell for cell in cells)
    assert [cell for cell in cells if cell.startswith(FORMULA) or acts(cell)] == []


def test_no_other_module_writes_csv():
    """What writes tables goes through `csv_text`, which makes cells harmless."""
    modules = [path for path in (ROOT / "grader").rglob("*.py") if path.name != "safe_text.py"]
    assert len(modules) > 100
    wrong = ("csv.writer", "DictWriter", "to_csv")
    assert [p for p in modules if any(word in p.read_text() for word in wrong)] == []


def test_on_a_page_no_id_or_name_is_markup_or_acts(hostile):
    write_feedback(hostile.course, [(student, LESSON) for student in IDS], hostile.course.book())
    report, _ = write_reports(hostile.course, [hostile.lesson], hostile.course.book())
    pages = [hostile.page(student) for student in IDS]
    pages += [report, *report.parent.glob("students/*.html")]
    assert len(pages) == 3 + 1 + 3
    for path in pages:
        text = path.read_text(encoding="utf-8")
        page = BeautifulSoup(text, "html.parser")
        assert page.find(["img", "script", "b onerror"]) is None, path
        assert not page.find_all(attrs={"onerror": True})
        assert acts(text) == [], path


def test_in_the_table_of_grades_no_id_acts(hostile):
    main(["grade", "--jobs", "1"])
    assert acts((hostile.course.folder / "report" / "grades.txt").read_text("utf-8")) == []
