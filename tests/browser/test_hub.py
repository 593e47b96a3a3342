"""A class on a hub: two students of two accounts and an instructor, each in a browser of their own.

The tests are steps of one walk and run in this order.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.settings import DESK_PREFIX as DESK
from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import (
    choose,
    element,
    texts,
    wait_for_start_page,
)
from tests.browser.test_learner import (
    EXERCISE,
    LESSON,
    LINE,
    RIGHT,
    VERDICT,
    WRONG,
    go_to_exercise,
    holds_answer,
    notebook_of,
    to_start_page,
    write_answer,
)
from tests.course.hub_class import (
    GRADER,
    INSTRUCTOR,
    PREFIX,
    HubClass,
    a_class,
    require_accounts,
    running_hub,
)
from utils.lab.exchange import COURSE_ID, Course
from utils.lab.on_hub import NAME

ADA, BEN = f"{PREFIX}ada", f"{PREFIX}ben"
CAUSE = "Without tanh the query only adds the same number to every score."
REFUSED = 403
CHOSEN = "a-password-of-ones-own"


@pytest.fixture(scope="module")
def hub(chromium: str) -> Iterator[HubClass]:
    """A hub that runs."""
    with a_class(require_accounts(), [ADA, BEN]) as made, running_hub(made):
        yield made


def browser(chromium: str, folder: Path, hub: HubClass, name: str) -> Iterator[Chrome]:
    """Somebody's browser, logged in."""
    with Chrome(chromium, folder / name) as page:
        page.open(hub.settings.address)
        log_in(page, name, hub.password(name))
        yield page


def log_in(page: Chrome, name: str, password: str) -> None:
    page.wait("!!document.querySelector('#password_input')")
    fill(page, username=name, password=password)
    page.click("document.querySelector('#login_submit, [type=submit]')")


def fill(page: Chrome, **fields: str) -> None:
    """Type into a form's fields."""
    for field, value in fields.items():
        page.run(f"document.querySelector('#{field}_input').value = {json.dumps(value)}")


@pytest.fixture(scope="module")
def ada(chromium: str, hub: HubClass, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    yield from browser(chromium, tmp_path_factory.mktemp("browser"), hub, ADA)


@pytest.fixture(scope="module")
def ben(chromium: str, hub: HubClass, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    yield from browser(chromium, tmp_path_factory.mktemp("browser"), hub, BEN)


@pytest.fixture(scope="module")
def teacher(
    chromium: str, hub: HubClass, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Chrome]:
    yield from browser(chromium, tmp_path_factory.mktemp("browser"), hub, INSTRUCTOR)


def course_of(name: str) -> Course:
    return Course(Path("/home", name, NAME))


def hand_ins(hub: HubClass, name: str) -> list[Path]:
    return list((hub.settings.exchange / COURSE_ID / "inbound").glob(f"{name}+{LESSON}+*"))


def submit(page: Chrome, hub: HubClass, name: str) -> None:
    choose(page, "Nbgrader", "Assignment List")
    page.click(
        "[...document.querySelectorAll('.list_item')].filter(item =>"
        f" item.textContent.includes('{LESSON}')).flatMap(item =>"
        " [...item.querySelectorAll('button')]).find(found => found.textContent === 'Submit')"
    )
    wait_for(lambda: hand_ins(hub, name), f"{name}'s hand-in")


def test_a_student_who_logs_in_finds_the_lessons_as_an_account_of_their_own(ada: Chrome) -> None:
    wait_for_start_page(ada)
    lesson = course_of(ADA).learn / LESSON / f"{LESSON}.ipynb"
    assert lesson.owner() == ADA
    assert Path("/home", ADA).stat().st_mode & 0o077 == 0


def test_a_lesson_that_was_put_aside_can_be_fetched_from_the_exchange(ada: Chrome) -> None:
    course = course_of(ADA)
    (course.learn / LESSON).rename(course.learn / "before")
    choose(ada, "Nbgrader", "Assignment List")
    ada.click(
        "[...document.querySelectorAll('.list_item')].filter(item =>"
        f" item.textContent.includes('{LESSON}')).flatMap(item =>"
        " [...item.querySelectorAll('button')]).find(found => found.textContent === 'Fetch')"
    )
    fetched = course.learn / LESSON / f"{LESSON}.ipynb"
    wait_for(fetched.is_file, "the fetched lesson")
    assert fetched.owner() == ADA


def test_a_wrong_answer_is_named_and_the_mended_one_passes(ada: Chrome) -> None:
    to_start_page(ada)
    go_to_exercise(ada)
    choose(ada, "Run", "Run All Above Selected Cell")
    ada.click(LINE)
    write_answer(ada, WRONG)
    wait_for(lambda: any(CAUSE in text for text in texts(ada, VERDICT)), CAUSE)
    to_start_page(ada)
    go_to_exercise(ada)
    write_answer(ada, RIGHT)
    wait_for(lambda: any("cases pass" in t and "✓" in t for t in texts(ada, VERDICT)), "a pass")
    choose(ada, "File", "Save Notebook")
    wait_for(lambda: holds_answer(notebook_of(course_of(ADA))), "the saved answer")


def test_both_students_submit(ada: Chrome, ben: Chrome, hub: HubClass) -> None:
    submit(ada, hub, ADA)
    wait_for_start_page(ben)
    submit(ben, hub, BEN)
    assert [path.owner() for path in hand_ins(hub, ADA)] == [ADA]
    assert [path.owner() for path in hand_ins(hub, BEN)] == [BEN]


def test_a_student_reads_nothing_of_another_ones(hub: HubClass) -> None:
    (sent,) = hand_ins(hub, ADA)
    assert hub.run(ADA, "cat", str(sent / f"{LESSON}.ipynb")).returncode == 0
    for told in (f"/home/{ADA}", str(sent.parent), str(sent)):
        assert "Permission denied" in hub.run(BEN, "ls", told).stderr
    for told in (sent / f"{LESSON}.ipynb", sent / "submission_secret.txt"):
        assert "Permission denied" in hub.run(BEN, "cat", str(told)).stderr


def test_a_student_reads_nothing_of_the_clone_and_reaches_no_other_server(
    ben: Chrome, hub: HubClass
) -> None:
    clone = hub.clone
    for told in (clone / "gradebook.db", clone / "solutions", clone / "hub-passwords.csv", clone):
        assert "Permission denied" in hub.run(BEN, "cat", str(told)).stderr
    for path in (f"{DESK}formgrader", f"/user/{ADA}/lab", f"{DESK}lab"):
        assert status(ben, path) == REFUSED


def status(page: Chrome, path: str) -> int:
    """What the hub answers in the end when this browser goes to a place of it."""
    ask = f"fetch({json.dumps(path)}, {{headers: {{'Sec-Fetch-Mode': 'navigate'}}}})"
    found: int = page.run(f"{ask}.then(answer => answer.status)")
    return found


def test_an_instructor_who_logs_in_comes_to_the_desk_and_nothing_asks_a_question(
    teacher: Chrome,
) -> None:
    teacher.wait(f"location.pathname.startsWith('{DESK}lab')")
    teacher.wait(f"!!({element('[data-command]', 'Grade by hand')})")
    assert texts(teacher, ".jp-Dialog") == []


def test_grading_at_the_desk_gives_each_student_their_score(hub: HubClass) -> None:
    hub.grader("grade", LESSON, "--jobs", "1")
    for name, points in ((ADA, 3), (BEN, 0)):
        row = next(
            line for line in (hub.clone / "report/grades.txt").read_text().splitlines()
            if line.startswith(name)
        )  # fmt: skip
        assert f"{points} of 27" in row


def test_the_button_opens_formgrader_in_a_tab_of_its_own(teacher: Chrome) -> None:
    teacher.click(element("[data-command]", "Grade by hand"))
    opened = wait_for(lambda: formgrader_tab(teacher), "formgrader in a tab")
    teacher.call("Target.closeTarget", targetId=opened["targetId"])  # behind a tab nothing is drawn
    teacher.open(opened["url"])
    teacher.wait(f"!!({element('td a', LESSON)})")


def formgrader_tab(page: Chrome) -> dict[str, str] | None:
    """The browser's tab in which formgrader is, if there is one."""
    found = page.call("Target.getTargets")["targetInfos"]
    ours = [tab for tab in found if tab["type"] == "page" and f"{DESK}formgrader" in tab["url"]]
    return ours[0] if ours else None


def test_a_submission_can_be_opened_there_and_is_shown(teacher: Chrome) -> None:
    teacher.open(teacher.run("location.origin") + f"{DESK}formgrader/gradebook/{LESSON}/{LESSON}")
    teacher.wait(f"!!({element('td a', 'Submission')})")
    teacher.click(element("td a", "Submission"))
    teacher.wait(f"!!document.querySelector('input.score#test_{EXERCISE}')")


def test_released_feedback_is_fetched_and_read_by_its_student_alone(
    ada: Chrome, hub: HubClass
) -> None:
    hub.grader("release", LESSON)
    choose(ada, "Nbgrader", "Assignment List")
    ada.click(element("button", "Fetch Feedback"))
    course = course_of(ADA)
    pattern = f"{LESSON}/feedback/*/{LESSON}.html"
    (page,) = wait_for(lambda: list(course.learn.glob(pattern)), "the fetched page")
    place = page.relative_to(course.learn)
    origin = ada.run("location.origin")
    ada.open(f"{origin}/user/{ADA}/lab/tree/{place}")
    frame = "document.querySelector('.jp-HTMLViewer iframe')"
    ada.wait(f"!!{frame} && !!{frame}.src")
    shown = f"fetch({frame}.src).then(answer => answer.text())"
    ada.wait(f"{shown}.then(text => text.includes('</main>'))")
    pages = hub.settings.exchange / COURSE_ID / "feedback"
    assert hub.run(ADA, "ls", str(pages)).returncode != 0
    assert hub.run(BEN, "ls", str(pages)).returncode != 0
    assert hub.run(GRADER, "ls", str(pages)).stdout.count(".html") == 2


@pytest.fixture
def stranger(chromium: str, tmp_path: Path) -> Iterator[Chrome]:
    with Chrome(chromium, tmp_path / "stranger") as page:
        yield page


def test_a_student_changes_the_first_password(stranger: Chrome, hub: HubClass) -> None:
    stranger.open(f"{hub.settings.address}/hub/login?next=%2Fhub%2Fchange-password")
    log_in(stranger, BEN, hub.password(BEN))
    stranger.wait("!!document.querySelector('#old_password_input')")
    new = {"new_password": CHOSEN, "new_password_confirmation": CHOSEN}
    fill(stranger, old_password=hub.password(BEN), **new)
    stranger.click("document.querySelector('#signup_submit')")
    stranger.wait("document.body?.innerText?.includes('changed successfully')")
    stranger.open(f"{hub.settings.address}/hub/logout")
    stranger.wait("location.pathname === '/hub/login'")
    log_in(stranger, BEN, CHOSEN)
    wait_for_start_page(stranger)


def sign_up(page: Chrome, hub: HubClass, name: str) -> None:
    page.open(f"{hub.settings.address}/hub/signup")
    page.wait("!!document.querySelector('#password_confirmation_input')")
    fill(page, username=name, password=CHOSEN, password_confirmation=CHOSEN)
    page.click("document.querySelector('#signup_submit')")
    page.wait("!!document.querySelector('.alert')")
    page.open(f"{hub.settings.address}/hub/login")
    log_in(page, name, CHOSEN)


def grant(page: Chrome, hub: HubClass, name: str) -> None:
    """Grant an account as an instructor does, who finds the link at /hub/authorize."""
    page.open(f"{hub.settings.address}/hub/authorize")
    page.wait(f"!!document.querySelector('a[href$=\"authorize/{name}\"]')")
    page.run(f"document.querySelector('a[href$=\"authorize/{name}\"]').click()")
    page.wait(f"location.hash === '#{name}'")


def test_who_signs_up_gets_in_once_an_instructor_has_granted_it(
    stranger: Chrome, teacher: Chrome, hub: HubClass
) -> None:
    name = f"{PREFIX}cleo"
    sign_up(stranger, hub, name)
    stranger.wait("document.body?.innerText?.includes('Invalid username or password')")
    grant(teacher, hub, name)
    log_in(stranger, name, CHOSEN)
    wait_for_start_page(stranger)
    assert course_of(name).learn.owner() == name


def test_who_takes_the_name_of_an_account_of_the_machine_gets_no_server(
    stranger: Chrome, teacher: Chrome, hub: HubClass
) -> None:
    sign_up(stranger, hub, GRADER)
    grant(teacher, hub, GRADER)
    log_in(stranger, GRADER, CHOSEN)
    stranger.wait("document.body?.innerText?.includes('is an account of this machine')")
