"""A class on a hub: two students of two accounts, each in a browser of their own; one is hostile.

The tests are steps of one walk and run in this order.
"""

import json
import pwd
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hub.machine import PORTS
from tests.browser.chrome import Chrome, wait_for
from tests.browser.hostile_server import make_hostile, register
from tests.browser.jupyterlab import (
    choose,
    element,
    texts,
    wait_for_start_page,
)
from tests.browser.test_learner import (
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
REFUSED, MISSING = 403, 404
CHOSEN = "a-password-of-ones-own"


@pytest.fixture(scope="module")
def hub(chromium: str) -> Iterator[HubClass]:
    """A hub that runs."""
    with a_class(require_accounts(), [ADA, BEN]) as made, running_hub(made):
        yield made


def browser(chromium: str, folder: Path, hub: HubClass, name: str) -> Iterator[Chrome]:
    """Somebody's browser, logged in."""
    with Chrome(chromium, folder / name) as page:
        page.open(hub.address)
        log_in(page, name, hub.password(name))
        yield page


def log_in(page: Chrome, name: str, password: str) -> None:
    page.wait("!!document.querySelector('#password_input')")
    fill(page, username=name, password=password)
    page.click("document.querySelector('#login_submit, [type=submit]')")


def stays_out(page: Chrome, name: str, password: str) -> None:
    """Try to log in, and be refused by a page that is new: the last one may say the same."""
    page.wait("!!document.querySelector('#password_input')")
    page.run("document.body.dataset.before = 'yes'")
    log_in(page, name, password)
    new = "!document.body?.dataset.before"
    page.wait(f"{new} && document.body?.innerText?.includes('Invalid username or password')")


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


def test_a_student_reaches_no_other_server_and_no_page_that_manages(ben: Chrome) -> None:
    for path in (f"/user/{ADA}/lab", "/hub/admin", f"/hub/api/users/{ADA}"):
        assert status(ben, path) == REFUSED
    for path in (
        "/hub/signup",
        "/hub/authorize",
        f"/hub/change-password/{ADA}",
        "/services/grading/",
    ):
        assert status(ben, path) == MISSING


def test_a_students_server_has_none_of_nbgraders_pages_for_instructors(ben: Chrome) -> None:
    for path in ("formgrader", "formgrader?path=/", "formgrader/manage_students/x", "course_list"):
        assert status(ben, f"/user/{BEN}/{path}") == MISSING


def status(page: Chrome, path: str) -> int:
    """What the hub answers in the end when this browser goes to a place of it."""
    ask = f"fetch({json.dumps(path)}, {{headers: {{'Sec-Fetch-Mode': 'navigate'}}}})"
    found: int = page.run(f"{ask}.then(answer => answer.status)")
    return found


def test_grading_on_the_machine_gives_each_student_their_score(hub: HubClass) -> None:
    hub.grader("grade", LESSON, "--jobs", "1")
    for name, points in ((ADA, 3), (BEN, 0)):
        row = next(
            line for line in (hub.clone / "report/grades.txt").read_text().splitlines()
            if line.startswith(name)
        )  # fmt: skip
        assert f"{points} of 27" in row


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
    stranger.open(f"{hub.address}/hub/login?next=%2Fhub%2Fchange-password")
    log_in(stranger, BEN, hub.password(BEN))
    stranger.wait("!!document.querySelector('#old_password_input')")
    new = {"new_password": CHOSEN, "new_password_confirmation": CHOSEN}
    fill(stranger, old_password=hub.password(BEN), **new)
    stranger.click("document.querySelector('#signup_submit')")
    stranger.wait("document.body?.innerText?.includes('changed successfully')")
    stranger.open(f"{hub.address}/hub/logout")
    stranger.wait("location.pathname === '/hub/login'")
    log_in(stranger, BEN, CHOSEN)
    wait_for_start_page(stranger)


# --- One student is hostile ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["submissions.zip", "course_secret.txt", "extension.csv", "hub-passwords.csv", "gradebook.db",
     "solutions", ".venv", "."],
)  # fmt: skip
def test_a_student_reads_nothing_of_the_clone_made_later_and_open_or_not(
    hub: HubClass, name: str
) -> None:
    file = hub.clone / name
    is_new = not file.exists()
    if is_new:
        assert hub.run(GRADER, "sh", "-c", f"umask 022; echo made later > {name}").returncode == 0
    assert "Permission denied" in hub.run(BEN, "cat", str(file)).stderr
    assert "Permission denied" in hub.run(BEN, "ls", str(file)).stderr
    if is_new:  # it is no class's secret, for example
        file.unlink()


def test_a_student_can_write_nothing_that_others_run(hub: HubClass) -> None:
    place = hub.settings.place
    found = hub.run(BEN, "find", str(place), "-writable", "-not", "-type", "l").stdout.splitlines()
    exchange = place / "exchange"
    assert set(found) == {str(exchange), str(exchange / COURSE_ID / "inbound")}
    others = ["-not", "-user", "root", "-not", "-user", GRADER, "-printf", "%P\\n"]
    handed_in = f"exchange/{COURSE_ID}/inbound/"
    found = hub.run("root", "find", str(place), *others).stdout.splitlines()
    assert found
    assert [path for path in found if not path.startswith(handed_in)] == []


def test_students_servers_run_the_hubs_copies_alone(ben: Chrome, hub: HubClass) -> None:
    (words,) = [w for w in commands_of(BEN) if "utils.lab.on_hub" in w]
    assert words[0] == str(hub.settings.environment / "bin/python")
    told = hub.run(BEN, "python", "-c", "import sys; print(sys.prefix)").stdout
    assert told.strip() == str(hub.settings.environment)


def commands_of(name: str) -> list[list[str]]:
    """The words of each process of an account."""
    user = pwd.getpwnam(name).pw_uid
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == user:
                found.append((folder / "cmdline").read_text().split("\0")[:-1])
    return [words for words in found if words]  # a zombie has none


def test_what_a_student_started_ends_with_the_server_and_the_name_is_no_way_in(
    ben: Chrome, hub: HubClass
) -> None:
    stay = "trap '' HUP TERM INT; while :; do sleep 1000; done"
    words = ("sh", "-c", f'setsid -f sh -c "{stay}" > /dev/null 2>&1')
    assert hub.run(BEN, *words).returncode == 0
    assert any("trap" in str(words) for words in commands_of(BEN))
    ben.open(f"{hub.address}/hub/home")
    ben.click("document.querySelector('#stop')")
    wait_for(lambda: not commands_of(BEN), "the end of all that the account runs")
    assert commands_of(ADA)
    assert "Jan 02, 1970" in subprocess.run(
        ["chage", "-l", BEN], capture_output=True, text=True, check=True, env={"LC_ALL": "C"}
    ).stdout  # fmt: skip


def test_a_hub_that_is_started_twice_tells_who_has_the_ports(hub: HubClass) -> None:
    command = [hub.python, "-m", "hub", "--yes"]
    done = subprocess.run(
        command, cwd=hub.clone, env=hub.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    for part in range(PORTS):
        assert f"Port {hub.settings.port + part} is taken by '" in done.stderr
    assert " of root)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_service_worker_of_a_student_is_for_that_students_pages_alone(
    ada: Chrome, ben: Chrome, hub: HubClass
) -> None:
    home = make_hostile(BEN)
    ben.open(f"{hub.address}/hub/spawn")  # it was stopped
    wait_for_start_page(ben)
    ada.open(f"{hub.address}{home}page")
    ada.wait("document.title === 'Look here'")
    for others in ("/", "/hub/", f"/user/{ADA}/"):
        assert register(ada, others).startswith("SecurityError")
    assert register(ada, home) == "registered"
    ada.open(f"{hub.address}{home}page")
    ada.wait("document.body?.innerText === 'taken'")  # a worker that is there does answer
    for path in ("/hub/login", f"/user/{ADA}/lab"):
        ada.open(f"{hub.address}{path}")
        ada.wait("document.readyState === 'complete' && document.title !== 'Look here'")
        assert ada.run("document.body.innerText") != "taken"
        assert ada.run("navigator.serviceWorker.controller") is None


def add_to_roster(hub: HubClass, name: str) -> None:
    done = hub.run(GRADER, "sh", "-c", f"printf 'student_id\\n{name}\\n' > more.csv")
    assert done.returncode == 0
    hub.grader("roster", "more.csv")
    done = hub.prepare()
    assert done.returncode == 0, done.stderr


def test_who_is_added_to_the_roster_or_forgot_a_password_is_helped_while_the_hub_runs(
    stranger: Chrome, hub: HubClass
) -> None:
    name = f"{PREFIX}cleo"
    add_to_roster(hub, name)
    for _ in range(2):
        stranger.open(f"{hub.address}/hub/login")
        log_in(stranger, name, hub.password(name))
        wait_for_start_page(stranger)
        assert course_of(name).learn.owner() == name
        stranger.open(f"{hub.address}/hub/logout")
        stranger.wait("location.pathname === '/hub/login'")
        before = hub.password(name)
        done = hub.root("password", name)
        assert f"{name}: {hub.password(name)}" in done.stdout
        stays_out(stranger, name, before)


def test_a_name_of_an_account_of_the_machine_gets_no_server(
    stranger: Chrome, hub: HubClass
) -> None:
    add_to_roster(hub, GRADER)
    stranger.open(f"{hub.address}/hub/login")
    log_in(stranger, GRADER, hub.password(GRADER))
    stranger.wait("document.body?.innerText?.includes('is an account of this machine')")
