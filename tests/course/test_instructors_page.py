"""The instructor's page, walked: its commands run in a clone, in its order, as they stand there.

The tests are steps of one walk and run in this order.
"""

import csv
import os
import re
import shlex
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from bench.semester.whole import DEARER, GIVEN, changed
from grader.authoring.sample_class import CLASS, Edit, submission
from grader.course.course import GradingCourse
from tests.browser.chrome import wait_for
from tests.browser.jupyterlab import free_port, is_listening
from tests.course.clones import environment, make_clone, make_environment, run
from tests.course.lesson_runs import all_lessons
from tests.unit.course_files import ROOT
from utils.lab.exchange import COURSE_ID

FIRST, SECOND = "00_start_here", "02_attention"  # the page's lessons
PAGE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
EXCHANGE = "/srv/nbgrader/exchange"  # the page's
IN_TIME, LATE = "2026-10-05 10:00:00.000000 UTC", (2026, 10, 14, 12, 0, 0)
COMMENT = "Come and see me."
TOTAL = sum(exercise.points for exercise in all_lessons()[SECOND].exercises)
CANVAS = f"""Student,ID,SIS User ID,SIS Login ID,Section,00 Start here (76),02 Attention (77)
    Points Possible,,,,,4,{TOTAL:g}
"Lovelace, Ada",4001,,,One,,
"Okafor, Ben",4002,,,One,,
"Ruiz, Cleo",4003,,,One,,
"""
BLOCK = re.compile(r"(?P<before>.*?)^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
FILE_NAME = re.compile(r"`([\w-]+\.(?:csv|toml))`")


class Item(NamedTuple):
    """A file that the page says to write (its text), or a command."""

    name: str
    text: str | None = None


def items(page: str) -> Iterator[Item]:
    """Give the page's files and commands, in order."""
    for block in BLOCK.finditer(page):
        if block["kind"]:
            yield Item(FILE_NAME.findall(block["before"])[-1], block["text"])
        else:
            lines = (re.sub(r" +# .*", "", line) for line in block["text"].splitlines())
            yield from map(Item, lines)


class Walk:
    """A clone with two lessons and an exchange, and what the last command printed."""

    def __init__(self, folder: Path) -> None:
        self.exchange = folder / "exchange"
        self.exchange.mkdir()
        self.exchange.chmod(0o777)
        self.root = make_clone(folder / "clone", is_wanted)
        make_environment(self.root, "grader")
        self.said = ""
        # nbgrader starts alembic as a program, which lies beside the Python that runs these tests.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        who = {"NAME": "Ada Lovelace", "EMAIL": "ada@example.org"}
        git = {f"GIT_{role}_{key}": who[key] for role in ("AUTHOR", "COMMITTER") for key in who}
        self.settings = {"PATH": path, "HOME": str(folder)} | git

    @property
    def course(self) -> GradingCourse:
        return GradingCourse(self.root, self.root)

    def text(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def page_of(self, student: str, lesson: str) -> str:
        return self.text(f"feedback/{student}/{lesson}/{lesson}.html")

    def rows(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(self.text(name).splitlines()))

    def run(self, command: str) -> None:
        done = run(self.root, "sh", "-c", command, **self.settings)
        self.said = done.stdout + done.stderr
        assert done.returncode == 0, self.said
        assert "Traceback" not in self.said


def is_wanted(name: str) -> bool:
    """Whether a file of the checkout is in the clone: no lesson but the page's."""
    lesson = re.fullmatch(r"(?:solutions|notebooks)/(\d\d[a-z]?_\w+).*", name)
    return lesson is None or lesson[1] in (FIRST, SECOND)


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    return Walk(tmp_path_factory.mktemp("semester").resolve())


# --- What a class does between the commands ------------------------------------------------------


def hand_in(walk: Walk) -> None:
    """Ada submits through the exchange, Ben and Cleo through Canvas, Ben late."""
    home = walk.exchange / COURSE_ID / "inbound" / f"ada+{FIRST}+{IN_TIME}+0"
    home.mkdir()
    (home / f"{FIRST}.ipynb").write_text(answer(FIRST, CLASS["eve"]))
    (home / "timestamp.txt").write_text(IN_TIME)
    (home / "submission_secret.txt").write_text("known-to-ada-alone")
    with zipfile.ZipFile(walk.root / "submissions.zip", "w") as archive:
        for name, edits, late in (
            ("okaforben_LATE_4002_91_Untitled.ipynb", CLASS["ben"], True),
            ("ruizcleo_4003_92_02_attention-1.ipynb", (), False),
        ):
            entry = zipfile.ZipInfo(name, LATE if late else (2026, 10, 11, 12, 0, 0))
            archive.writestr(entry, answer(SECOND, edits))


def answer(lesson: str, edits: Sequence[Edit]) -> str:
    return submission(all_lessons()[lesson], "a student", edits)


def adjust(walk: Walk) -> None:
    """Change a score and write a comment, as formgrader does."""
    with walk.course.gradebook() as gradebook:
        gradebook.find_grade(f"test_{GIVEN}", FIRST, FIRST, "ada").manual_score = 0.5
        gradebook.find_comment("stable_softmax", FIRST, FIRST, "ada").manual_comment = COMMENT
        gradebook.db.commit()


def edit_a_lesson(walk: Walk) -> None:
    path = walk.root / "solutions" / f"{FIRST}.py"
    path.write_text(changed(path.read_text()))


def write_template(walk: Walk) -> None:
    (walk.root / "canvas.csv").write_text(CANVAS)


# --- What a command must have brought about ------------------------------------------------------


def demo_is_graded(walk: Walk) -> None:
    assert "A made-up class of six" in walk.said
    assert "finn, scaled_dot_product_attention" in walk.said


def secret_is_long(walk: Walk) -> None:
    assert len(walk.text("course_secret.txt").strip()) == 64


def class_is_known(walk: Walk) -> None:
    assert "3 students in the class; with an id of Canvas 3, of Moodle 0." in walk.said
    assert "cleo  Cleo Ruiz" in walk.said
    assert walk.course.students() == ["ada", "ben", "cleo"]


def dates_are_set(walk: Walk) -> None:
    assert "2 rows set" in walk.said
    assert re.search(rf"^{SECOND} = 2026-10-12T23:59:00", walk.said, re.M)


def students_can_begin(walk: Walk) -> None:
    (bundle,) = (walk.root / "dist").glob("*.zip")
    with zipfile.ZipFile(bundle) as archive:
        name = next(name for name in archive.namelist() if name.endswith("course.toml"))
        assert str(walk.exchange) in archive.read(name).decode()
    assert f"released there now: {FIRST}, {SECOND}" in walk.said


def hand_ins_are_stored(walk: Walk) -> None:
    assert "Hand-ins: 2 new; 1 late." in walk.said
    stored = {path.parts[-3] for path in walk.root.glob(f"submitted/*/{SECOND}/{SECOND}.ipynb")}
    assert stored == {"ben", "cleo"}


def everybody_is_graded(walk: Walk) -> None:
    assert "Graded 3 submissions." in walk.said
    assert " late: -" in walk.text("report/grades.txt")
    assert "not divided" in walk.page_of("ben", SECOND)
    assert "Everything is right." in walk.page_of("cleo", SECOND)
    assert "late" in walk.page_of("ben", SECOND)


def report_names_causes(walk: Walk) -> None:
    assert "not divided" in walk.text("report/class.html")
    pages = {path.stem for path in walk.root.glob("report/students/*.html")}
    assert pages == {"ada", "ben", "cleo"}


def comment_is_on_the_page(walk: Walk) -> None:
    assert "Graded 0 submissions." in walk.said
    assert COMMENT in walk.page_of("ada", FIRST)
    assert "Your instructor gave 0.5 of 1 points" in walk.page_of("ada", FIRST)


def page_is_offered(walk: Walk) -> None:
    assert "Feedback released: 1 page." in walk.said
    (page,) = (walk.exchange / COURSE_ID / "feedback").glob("*.html")
    assert page.read_text() == walk.page_of("ada", FIRST)


def pages_are_zipped(walk: Walk) -> None:
    with zipfile.ZipFile(walk.root / "feedback.zip") as archive:
        assert len(archive.namelist()) == 2


def penalty_is_gone(walk: Walk) -> None:
    assert "late penalties changed: 1" in walk.said
    with walk.course.gradebook() as gradebook:
        assert gradebook.find_submission(SECOND, "ben").late_submission_penalty == 0


def lesson_is_built(walk: Walk) -> None:
    assert re.search(rf"{FIRST}.*built", walk.said)


def lesson_is_committed(walk: Walk) -> None:
    changes = run(walk.root, "git", "status", "--porcelain").stdout
    assert FIRST not in changes


def students_can_have_the_new_lesson(walk: Walk) -> None:
    (bundle,) = (walk.root / "dist").glob("*.zip")
    notebook = f"notebooks/{FIRST}/{FIRST}.ipynb"
    with zipfile.ZipFile(bundle) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(notebook))
        assert archive.read(name).decode() == walk.text(notebook)
    assert f"released there now: {FIRST}\n" in walk.said


def the_change_is_judged(walk: Walk) -> None:
    assert f"judged anew, because this changed: {DEARER}" in walk.said
    assert "Graded 1 submission." in walk.said
    assert COMMENT in walk.page_of("ada", FIRST)
    walk.run(POINTS)
    points = {(r["student"], r["exercise"]): r["points"] for r in walk.rows("all-points.csv")}
    assert points["ada", DEARER] == "2.0"
    assert ("ada", GIVEN) not in points


def canvas_has_points(walk: Walk) -> None:
    points = {row["ID"]: row["02 Attention (77)"] for row in walk.rows("for-canvas.csv")[1:]}
    assert (points["4001"], points["4003"]) == ("", f"{TOTAL:.1f}")
    assert 0 < float(points["4002"]) < TOTAL


def moodle_has_lines(walk: Walk) -> None:
    assert [row["Email address"] for row in walk.rows("for-moodle.csv")] == [
        "ada@example.org", "ben@example.org", "cleo@example.org",
    ]  # fmt: skip


def every_exercise_is_a_line(walk: Walk) -> None:
    points = {(r["student"], r["exercise"]): r["points"] for r in walk.rows("all-points.csv")}
    assert points["ada", DEARER] == "1.0"
    assert points["ada", GIVEN] == "0.5"
    assert points["ben", DEARER] == ""


def everything_is_archived(walk: Walk) -> None:
    (path,) = (walk.root / "archive").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names > {
        f"submitted/ada/{FIRST}/{FIRST}.ipynb", f"autograded/ben/{SECOND}/{SECOND}.ipynb",
        f"feedback/cleo/{SECOND}/{SECOND}.html", "gradebook.db", "lms/roster.json",
        "report/grades.txt", "course_secret.txt", "course.toml", "class.csv", "contents.json",
    }  # fmt: skip


class Step(NamedTuple):
    """A command of the page, what happens before it, and what must hold after it."""

    command: str
    holds: Callable[[Walk], None] | None = None
    before: Callable[[Walk], None] | None = None


GRADER = ".venv/bin/python -m grader"
POINTS = f"{GRADER} export csv --per-exercise --out all-points.csv"
STEPS = (
    Step("make demo", demo_is_graded),
    Step(f"{GRADER} secret", secret_is_long),
    Step(f"{GRADER} roster class.csv", class_is_known),
    Step(f"{GRADER} deadlines due.csv", dates_are_set),
    Step("make bundle", students_can_begin),
    Step(f"{GRADER} collect canvas submissions.zip", hand_ins_are_stored, hand_in),
    Step("make grade", everybody_is_graded),
    Step("make report", report_names_causes),
    Step("make teach", None),
    Step("make grade", comment_is_on_the_page, adjust),
    Step("make release", page_is_offered),
    Step(f"{GRADER} export feedback-zip --lesson {SECOND} --out feedback.zip", pages_are_zipped),
    Step(
        f"{GRADER} export canvas --template canvas.csv --out for-canvas.csv",
        canvas_has_points,
        write_template,
    ),
    Step(f"{GRADER} export moodle --out for-moodle.csv", moodle_has_lines),
    Step(POINTS, every_exercise_is_a_line),
    Step(f"{GRADER} deadlines extension.csv", penalty_is_gone),
    Step("make build", lesson_is_built, edit_a_lesson),
    Step('git commit -a -m "Lesson 00 corrected"', lesson_is_committed),
    Step("make bundle", students_can_have_the_new_lesson),
    Step("make grade", the_change_is_judged),
    Step("make release", page_is_offered),
    Step("make archive", everything_is_archived),
)


def test_every_command_of_the_page_is_known_here_in_its_order() -> None:
    commands = [item.name for item in items(PAGE) if item.text is None]
    assert commands == [step.command for step in STEPS]


@cache
def numbered() -> list[tuple[int, Item]]:
    """Give the page's items, each command with its number."""
    count, found = 0, []
    for item in items(PAGE):
        found.append((count, item))
        count += item.text is None
    return found


@pytest.mark.parametrize(
    ("number", "item"), numbered(), ids=[f"{n} {item.name}" for n, item in numbered()]
)
def test_the_page_followed_step_by_step_does_what_it_says(
    walk: Walk, number: int, item: Item
) -> None:
    if item.text is not None:
        text = item.text.replace(EXCHANGE, str(walk.exchange))
        (walk.root / item.name).write_text(text, encoding="utf-8")
        return
    step = STEPS[number]
    if step.before is not None:
        step.before(walk)
    if item.name == "make teach":
        opens(walk, item.name)
    else:
        walk.run(item.name)
    if step.holds is not None:
        step.holds(walk)


def opens(walk: Walk, command: str) -> None:
    """Run what does not end by itself until JupyterLab answers, then close it."""
    port = free_port()
    words = [*shlex.split(command), f"ARGS=--no-browser --port {port}"]
    settings = environment(walk.root) | walk.settings
    with (walk.root / "lab.log").open("w") as log:
        process = subprocess.Popen(
            words, cwd=walk.root, env=settings, stdout=log, stderr=log, start_new_session=True
        )
    try:
        wait_for(lambda: is_listening(port) or process.poll() is not None, "JupyterLab")
        assert process.poll() is None, walk.text("lab.log")
    finally:
        os.killpg(process.pid, 15)
        process.wait(timeout=600)
    assert "Grade by hand" in walk.text("lab.log")
    (walk.root / "lab.log").unlink()


def test_after_the_semester_git_knows_no_file_that_the_class_made(walk: Walk) -> None:
    changes = run(walk.root, "git", "status", "--porcelain", "--untracked-files=all").stdout
    of_the_class = {"course.toml", "mistakes.toml"}  # written by hand
    assert {line[3:] for line in changes.splitlines()} == of_the_class
