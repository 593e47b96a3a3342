"""An instructor's walk: grade, open formgrader, change a score, release; then the learner reads.

The tests are steps of one walk and run in this order.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup

from grader.authoring.sample_class import CLASS
from grader.cli import main
from grader.commands.teach import BUTTON, where_to_click
from grader.course.course import GradingCourse
from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import (
    choose,
    copy_for_instructor,
    element,
    running_lab,
    texts,
    wait_for_kernel,
    wait_for_start_page,
)
from tests.course.handing_in import submit
from tests.course.lesson_runs import all_lessons
from utils.lab.exchange import Course

LESSON = all_lessons()["00_start_here"]
FRAME = "document.querySelector('iframe').contentDocument"
CAUSE = (
    "Rows and columns are swapped: entry [t, s] holds the product of b's vector t and a's vector s."
)
EXERCISE, SCORE, COMMENT = "pairwise_dot", 0.25, "Come and see me: <nearly> right."


@pytest.fixture(scope="module")
def clone(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A clone in which a learner with a mistake has submitted."""
    course = copy_for_instructor(tmp_path_factory.mktemp("clone").resolve())
    submit(course.root, LESSON, CLASS["eve"])
    return course


@pytest.fixture(autouse=True)
def in_the_clone(clone: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone.root)


@pytest.fixture(scope="module")
def formgrader(
    chromium: str, clone: Course, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Chrome]:
    """The browser, where `make teach` opens it."""
    with (
        running_lab(clone, "grader", "teach") as address,
        Chrome(chromium, tmp_path_factory.mktemp("teacher")) as page,
    ):
        page.open(address)
        yield page


def in_frame(page: Chrome, selector: str, text: str = "") -> str:
    """Wait for an element inside formgrader's frame; give JavaScript for it."""
    found = element(selector, text).replace("document.", f"{FRAME}.")
    page.wait(f"!!{FRAME} && !!({found})")
    return found


def test_grading_writes_a_page(clone: Course) -> None:
    assert main(["grade", LESSON.name, "--jobs", "1"]) == 0
    assert list((clone.root / "feedback").glob(f"*/{LESSON.name}/{LESSON.name}.html"))


def test_the_button_opens_formgrader_and_nothing_asks_a_question(formgrader: Chrome) -> None:
    formgrader.click(element("[data-command]", BUTTON))
    in_frame(formgrader, "a", LESSON.name)
    assert texts(formgrader, ".jp-Dialog") == []


def test_formgrader_is_in_the_menu_too(formgrader: Chrome) -> None:
    choose(formgrader, "Nbgrader", "Formgrader")
    in_frame(formgrader, "a", LESSON.name)


def follow(page: Chrome, selector: str, text: str, then: str) -> None:
    """Click a link inside formgrader's frame, and wait until its address ends like this."""
    page.run(f"{in_frame(page, selector, text)}.click()")
    page.wait(f"{FRAME}?.location.pathname.endsWith('{then}') && {FRAME}.readyState === 'complete'")


def write(page: Chrome, selector: str, text: str) -> None:
    """Put the cursor into a field of formgrader, replace what it holds, and leave it."""
    field = in_frame(page, selector)
    page.wait(f"{field}.placeholder")  # what is saved comes after the page, and is put into it
    page.run(f"{field}.focus(); {field}.select()")
    page.insert(text)
    page.run(f"{field}.blur()")


def graded_by_hand(course: Course) -> tuple[float | None, str | None]:
    """Give the manual score and comment of the exercise, as the gradebook has them."""
    with GradingCourse(course.root, course.root).gradebook() as gradebook:
        (submission,) = gradebook.assignment_submissions(LESSON.name)
        (notebook,) = submission.notebooks
        grades = {grade.name: grade.manual_score for grade in notebook.grades}
        comments = {comment.name: comment.manual_comment for comment in notebook.comments}
    return grades[f"test_{EXERCISE}"], comments[EXERCISE]


def test_the_way_that_make_teach_names_leads_to_a_submission(formgrader: Chrome) -> None:
    (way,) = [line for line in where_to_click(with_work=True) if "a submission" in line]
    assert way.startswith("Manual Grading, a lesson, its notebook, a submission")
    follow(formgrader, "a", "Manual Grading", "/gradebook")
    follow(formgrader, "td a", LESSON.name, f"/{LESSON.name}")
    follow(formgrader, "td a", LESSON.name, f"/{LESSON.name}/{LESSON.name}")
    formgrader.run(f"{in_frame(formgrader, 'td a', 'Submission')}.click()")
    in_frame(formgrader, f"input.score#test_{EXERCISE}")


def test_a_score_and_a_comment_are_saved_as_they_are_typed(
    formgrader: Chrome, clone: Course
) -> None:
    write(formgrader, f"input.score#test_{EXERCISE}", str(SCORE))
    write(formgrader, f"textarea#{EXERCISE}-comment", COMMENT)
    wait_for(lambda: graded_by_hand(clone) == (SCORE, COMMENT), "the score and the comment")


def test_the_next_grading_keeps_both_and_writes_the_page_anew(clone: Course) -> None:
    (page,) = (clone.root / "feedback").glob(f"*/{LESSON.name}/{LESSON.name}.html")
    before = page.read_text(encoding="utf-8")
    assert main(["grade", "--jobs", "1"]) == 0
    after = page.read_text(encoding="utf-8")
    assert graded_by_hand(clone) == (SCORE, COMMENT)
    assert "Come and see me" not in before
    assert "Come and see me: &lt;nearly&gt; right." in after


# nbgrader's own release leaves a file to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_releasing_hands_it_back(clone: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release"]) == 0
    assert "Feedback released: 1 page." in capsys.readouterr().out


@pytest.fixture(scope="module")
def lab(chromium: str, clone: Course) -> Iterator[str]:
    """The address of the learner's JupyterLab."""
    with running_lab(clone) as address:
        yield address


@pytest.fixture(scope="module")
def learner(chromium: str, lab: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """The learner's browser, where `make lab` opens it."""
    with Chrome(chromium, tmp_path_factory.mktemp("learner")) as page:
        page.open(lab)
        wait_for_start_page(page)
        yield page


def fetched(course: Course) -> Path:
    (found,) = course.learn.glob(f"{LESSON.name}/feedback/*/{LESSON.name}.html")
    return found


def test_the_learner_fetches_the_page_in_the_assignments_panel(
    learner: Chrome, clone: Course
) -> None:
    choose(learner, "Nbgrader", "Assignment List")
    learner.click(element("button", "Fetch Feedback"))
    pattern = f"{LESSON.name}/feedback/*/{LESSON.name}.html"
    wait_for(lambda: list(clone.learn.glob(pattern)), "the fetched page")


def test_the_panels_view_feedback_leads_to_the_page_that_grading_wrote(
    learner: Chrome, clone: Course
) -> None:
    learner.click(element("#submitted_assignments_list a", "(view feedback)"))
    learner.click(element(".jp-DirListing-item", f"{LESSON.name}.html"), times=2)
    frame = "document.querySelector('.jp-HTMLViewer iframe')"
    learner.wait(f"!!{frame} && !!{frame}.src")
    content = f"fetch({frame}.src).then(answer => answer.text())"
    learner.wait(f"{content}.then(text => text.includes('</main>'))")  # it is empty at first
    shown = learner.run(content)
    (written,) = (clone.root / "feedback").glob(f"*/{LESSON.name}/{LESSON.name}.html")
    read, meant = (BeautifulSoup(text, "html.parser").main for text in (shown, written.read_text()))
    assert read is not None
    assert meant is not None
    assert CAUSE in read.get_text()
    assert read.get_text() == meant.get_text()


def test_in_a_tab_of_its_own_the_learner_reads_cause_score_and_comment(
    learner: Chrome, lab: str, clone: Course
) -> None:
    path = fetched(clone).relative_to(clone.learn)
    host = lab.partition("/?")[0]
    # As "Open in New Browser Tab" does it: a page that comes from elsewhere is refused.
    learner.call("Page.navigate", url=f"{host}/files/{quote(str(path))}", referrer=f"{host}/lab")
    learner.wait("document.readyState === 'complete' && !!document.querySelector('main')")
    read = learner.run("document.body.innerText")
    assert CAUSE in read
    assert COMMENT in read
    assert f"{SCORE:g} of 1" in read


def test_the_pages_link_opens_the_lesson_at_the_exercise(learner: Chrome) -> None:
    learner.run(f"document.querySelector('[href$=\"#cell-id={EXERCISE}\"]').scrollIntoView()")
    learner.click(f"document.querySelector('[href$=\"#cell-id={EXERCISE}\"]')")
    wait_for_kernel(learner)
    cell = element(".jp-NotebookPanel .jp-CodeCell", f"[ ]:def {EXERCISE}")
    learner.wait(f"!!({cell})")
    learner.settle()
    top = learner.run(f"{cell}.getBoundingClientRect().top")
    assert 0 <= top < learner.run("window.innerHeight") / 2
