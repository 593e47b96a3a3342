"""A made-up class through the whole of grading, by both engines, as `make demo` does it."""

import argparse
import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbgrader.auth import Authenticator
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from grader.authoring.notebook import source_notebook
from grader.authoring.regions import without_hidden
from grader.authoring.sample_class import CLASS, UNTOUCHED, make_class
from grader.cli import main
from grader.commands import demo, grade
from grader.course import nbgrader_autograde
from grader.course.course import GradingCourse, run_converter
from grader.course.graded_copies import read_copy
from grader.course.report import summary, table
from grader.errors import CourseError
from grader.grading.batch import autograde
from grader.pages.feedback import without_page, write_feedback
from grader.sandbox import CannotIsolate, Limits, require
from tests.attacks.attack import LESSON
from tests.attacks.malformed import PAGES
from tests.course.lesson_runs import ROOT, all_lessons
from utils.checks.registry import exercises
from utils.lab.exchange import Course, prepare

FULL = {lesson.name: lesson.points for lesson in all_lessons().values()}
pytestmark = pytest.mark.usefixtures("one_fork_server")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The class of six, graded by the fast engine."""
    course = GradingCourse(ROOT, tmp_path_factory.mktemp("fast"))
    make_class(course.folder, course.lessons)
    try:
        require((), Limits())
    except CannotIsolate as error:
        pytest.skip(f"this machine cannot isolate: {error}")
    autograde(course, course.submitted(), n_jobs=2)
    return course


def scores(course):
    return {
        (lesson.name, row.student): row.scores
        for lesson in course.lessons
        for row in course.book().of(lesson.name)
    }


def test_a_right_class_member_has_all_points_and_an_untouched_one_none(graded):
    earned = scores(graded)
    for name, points in FULL.items():
        assert sum(earned[name, "ada"].values()) == points
        assert sum(earned[name, UNTOUCHED].values()) == 0


def test_every_mistake_made_is_named_and_costs_its_exercise_alone(graded):
    earned = scores(graded)
    for student, edits in CLASS.items():
        wrong = {edit.exercise for edit in edits}
        if student == UNTOUCHED:
            continue
        named = {
            m.exercise for name in FULL for m in read_copy(graded.folder, student, name).mistakes
        }
        assert named == wrong
        for name in FULL:
            for exercise in all_lessons()[name].exercises:
                score = earned[name, student][exercise.id]
                assert (score < exercise.points) == (exercise.id in wrong), (student, exercise.id)


def test_the_table_shows_scores_and_named_mistakes(graded):
    text = table(graded.lessons, graded.book())
    full = f"{FULL['02_attention']:g}"
    assert re.search(rf"ada .* {full} of {full}", text)
    assert "finn, scaled_dot_product_attention: The mask is upside down" in text


def test_the_class_earns_what_the_readme_shows(graded):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = [line for line in readme.splitlines() if re.search(r" of \d+$", line)]
    assert shown
    assert set(shown) <= set(summary(graded, graded.book()))


def test_nbgraders_own_autograde_gives_the_same_scores(graded, tmp_path):
    course = GradingCourse(ROOT, tmp_path)
    make_class(course.folder, course.lessons)
    chosen = [*(("ben", name) for name in FULL), ("eve", "02_attention")]
    for lesson in course.lessons:
        course.record(lesson)
    assert nbgrader_autograde.autograde(course, chosen) == []
    found, wanted = scores(course), scores(graded)
    for student, name in chosen:
        assert found[name, student] == wanted[name, student]


def test_feedback_shows_verdicts_and_hints_but_no_hidden_test_and_no_answer(graded):
    shown = [("finn", "02_attention"), (UNTOUCHED, "02_attention")]
    write_feedback(graded, shown, graded.book())
    pages = {
        student: (
            graded.folder / "feedback" / student / "02_attention" / "02_attention.html"
        ).read_text()
        for student in ("finn", UNTOUCHED)
    }
    bank = exercises()["scaled_dot_product_attention"].mistakes
    hint = next(m.hint for m in bank if m.name == "mask_inverted")
    assert hint.split("masked_fill")[0] in pages["finn"]
    for page in pages.values():
        assert "BEGIN HIDDEN" not in page
        assert "hidden=" not in page
    assert "asked = (query @ w_q.T)" not in pages[UNTOUCHED]


def page_of(course, student):
    return course.feedback / student / LESSON / f"{LESSON}.html"


@pytest.fixture(scope="module")
def attacked(graded, tmp_path_factory):
    """Submissions whose texts are an attack on the pages, graded."""
    course = GradingCourse(ROOT, tmp_path_factory.mktemp("pages"))
    for attack in PAGES:
        folder = course.folder / "submitted" / attack.name / LESSON
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_bytes(attack.submission())
    autograde(course, course.submitted(), n_jobs=1)
    return course


@pytest.fixture(scope="module")
def with_pages(attacked):
    write_feedback(attacked, attacked.submitted(), attacked.book())
    return {name: page_of(attacked, name).read_text() for name, _ in attacked.submitted()}


@pytest.fixture(scope="module")
def with_nbgraders_pages(attacked, with_pages):
    for name, lesson in attacked.submitted():
        run_converter(attacked.converter(GenerateFeedback, lesson, name), "not written")
    return {name: page_of(attacked, name).read_text() for name in with_pages}


@pytest.mark.parametrize("attack", PAGES, ids=lambda attack: attack.name)
def test_a_page_is_written_whatever_texts_hold_and_has_neither_script_nor_address(
    with_pages, attack
):
    page = BeautifulSoup(with_pages[attack.name], "html.parser")
    assert f"{FULL[LESSON]:g} of {FULL[LESSON]:g}" in page.text
    assert page.find("script") is None
    assert not re.search(r"javascript:|(src|href)=.?(https?:|//)|@import|url\(", str(page))


@pytest.mark.parametrize("attack", PAGES, ids=lambda attack: attack.name)
def test_nbgraders_own_page_is_written_too_and_runs_nothing_of_theirs(with_nbgraders_pages, attack):
    page = BeautifulSoup(with_nbgraders_pages[attack.name], "html.parser")
    assert "got you" not in "".join(script.text for script in page.find_all("script"))
    assert not page.select("#notebook-container script, #notebook-container [href^=javascript]")


def test_a_pasted_picture_is_on_nbgraders_page(with_nbgraders_pages):
    page = BeautifulSoup(with_nbgraders_pages["a pasted picture"], "html.parser")
    assert page.find("img", alt="image.png")["src"] == "data:image/png;base64,iVBORw0KGgo="


def test_a_page_that_nbgrader_wrote_in_between_is_written_anew(attacked, with_nbgraders_pages):
    there = attacked.submitted()
    assert without_page(attacked, there, attacked.book()) == there


@pytest.fixture
def spoiled(graded, tmp_path):
    """Ada's and finn's submissions, graded; ada's page cannot be written. With its repair."""
    for part in ("submitted", "autograded"):
        for student in ("ada", "finn"):
            shutil.copytree(
                graded.folder / part / student / LESSON, tmp_path / part / student / LESSON
            )
    shutil.copy(graded.folder / "gradebook.db", tmp_path)
    in_the_way = tmp_path / "feedback" / "ada"
    in_the_way.parent.mkdir()
    in_the_way.write_text("a file where a folder is needed")
    return GradingCourse(ROOT, tmp_path), in_the_way.unlink


def test_when_one_page_fails_the_others_are_written_and_the_failure_is_told(spoiled):
    with pytest.raises(CourseError, match=f"no feedback could be written for ada's {LESSON}"):
        write_feedback(spoiled[0], [("ada", LESSON), ("finn", LESSON)], spoiled[0].book())
    assert page_of(spoiled[0], "finn").is_file()


def test_when_a_page_fails_the_table_is_printed_and_the_next_run_writes_it(spoiled, capsys):
    course, repair = spoiled
    parser = argparse.ArgumentParser()
    grade.add_arguments(parser)
    with pytest.raises(CourseError, match="ada's"):
        grade.grade(course, course.submitted(), parser.parse_args([]))
    assert "ada" in capsys.readouterr().out
    written = page_of(course, "finn").stat().st_mtime_ns
    repair()
    assert grade.grade(course, course.submitted(), parser.parse_args([])) == 0
    assert page_of(course, "ada").is_file()
    assert page_of(course, "finn").stat().st_mtime_ns == written


def test_stopping_while_pages_are_written_stops_the_command(graded):
    class Stopped(GenerateFeedback):
        def convert_notebooks(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_converter(graded.converter(Stopped, LESSON, "ada"), "not written")


def test_grading_again_grades_nothing_and_changes_nothing(graded):
    before = scores(graded)
    assert autograde(graded, graded.submitted(), n_jobs=1).outcomes == {}
    assert scores(graded) == before


def test_a_changed_submission_alone_is_graded_again(graded):
    path = graded.folder / "submitted" / "dan" / "00_start_here" / "00_start_here.ipynb"
    right = graded.folder / "submitted" / "ada" / "00_start_here" / "00_start_here.ipynb"
    kept = path.read_text()
    path.write_text(right.read_text())
    run = autograde(graded, graded.submitted(), n_jobs=1)
    assert list(run.outcomes) == [("dan", "00_start_here")]
    assert sum(scores(graded)["00_start_here", "dan"].values()) == FULL["00_start_here"]
    path.write_text(kept)
    autograde(graded, graded.submitted(), n_jobs=1)


def test_the_graded_copy_holds_nothing_of_what_was_submitted_but_source(graded):
    copy = graded.folder / "autograded" / "ada" / "02_attention" / "02_attention.ipynb"
    for cell in json.loads(copy.read_text())["cells"]:
        if cell["cell_type"] == "code" and not cell["metadata"].get("nbgrader", {}).get("grade"):
            assert cell["outputs"] == []


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A course of its own to give commands in; lessons are this course's."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    for name in ("solutions", "notebooks", "utils"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_graded_copies_are_valid_notebooks(graded):
    copies = list((graded.folder / "autograded").glob("*/*/*.ipynb"))
    assert len(copies) == 6 * len(FULL)
    for path in copies:
        nbformat.validate(nbformat.read(path, as_version=4))


def test_the_demo_ends_with_what_to_look_at_in_forty_lines(graded, capsys, monkeypatch):
    monkeypatch.setattr(demo, "demo_course", lambda _: graded)
    monkeypatch.setattr(demo, "make_class", lambda *_: None)  # it is there, and graded
    assert main(["demo"]) == 0
    told = capsys.readouterr().out
    assert len(told.splitlines()) <= 40
    end = told[told.index("What to look at") :].splitlines()[1:]
    pages = dict(zip(end[::2], end[1::2], strict=True))
    assert all(what in (ROOT / "README.md").read_text("utf-8") for what in [*pages.values()][:2])
    assert len(pages) == len(demo.LOOK_AT) + 1
    for path, what in pages.items():
        page = Path(path.strip()).read_text(encoding="utf-8")
        student, _, exercise = what.partition(":")[0].strip().partition(", ")
        assert student in (*CLASS, "the class")
        assert exercise in page


def test_grade_with_nothing_submitted_says_so_and_offers_the_demo(own_folder, capsys):
    assert main(["grade"]) == 0
    assert "make demo" in capsys.readouterr().out


def test_what_a_learner_submits_is_collected_graded_and_answered(own_folder, capsys):
    lesson = all_lessons()["00_start_here"]
    prepare(Course(own_folder))
    answers = source_notebook(lesson)
    for cell in answers.cells:
        cell.source = without_hidden(cell.source) if "HIDDEN" in cell.source else cell.source
    copy = own_folder / "learn" / lesson.name / f"{lesson.name}.ipynb"
    copy.write_text(json.dumps(answers))
    config = GradingCourse(own_folder, own_folder).converter_config(lesson.name)
    settings = {"coursedir": CourseDirectory(config=config), "config": config}
    ExchangeFactory(config=config).Submit(
        authenticator=Authenticator(config=config), **settings
    ).start()
    assert main(["grade", "--jobs", "1"]) == 0
    full = FULL["00_start_here"]
    assert f"{full:.2f} of {full:g}" in capsys.readouterr().out
    assert f"{full:g} of {full:g}" in (own_folder / "report" / "grades.txt").read_text()
    assert list((own_folder / "feedback").glob(f"*/{lesson.name}/{lesson.name}.html"))
    assert main(["grade", "--jobs", "1"]) == 0
    assert "Graded 0 submissions" in capsys.readouterr().out
