"""The hub's exchange between real users: what one hands in, another cannot see, whatever is tried.

The users are bare numbers; their names stand in nbgrader's settings, as on the hub.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import notebook_hash

from hub.folders import make_place
from hub.settings import HubSettings
from tests.browser.jupyterlab import ROOT
from tests.course.hub_class import packages, require_users
from utils.lab.exchange import COURSE_ID, Course

LESSON = "00_first"
GRADER, ADA, BEN = 64101, 64102, 64103  # no accounts, and none is needed
REFUSED = "Permission denied"
SUBMIT = """
from pathlib import Path
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from utils.lab.exchange import Course, exchange_settings
config = exchange_settings(Course(Path.cwd()))
config.CourseDirectory.assignment_id, config.CourseDirectory.student_id = {lesson!r}, {name!r}
about = dict(coursedir=CourseDirectory(config=config), config=config)
ExchangeFactory(config=config).Submit(authenticator=Authenticator(config=config), **about).start()
"""


@dataclass(frozen=True)
class Class:
    """An exchange as `make hub` makes it, and a folder for each user."""

    folder: Path
    python: str

    @property
    def course(self) -> Path:
        return self.folder / "place/exchange" / COURSE_ID

    @property
    def inbound(self) -> Path:
        return self.course / "inbound"

    def make_home(self, uid: int, name: str) -> Course:
        course = Course(self.folder / name)
        for place in (course.source(LESSON), course.learn / LESSON):
            place.mkdir(parents=True)
            cell = new_code_cell(f"secret = {name!r}", id="only")
            nbformat.write(new_notebook(cells=[cell]), place / f"{LESSON}.ipynb")
        shutil.copytree(ROOT / "utils", course.root / "utils")
        (course.root / "course.toml").write_text(f'submit = "{self.folder}/place/exchange"\n')
        for path in (course.root, *course.root.rglob("*")):
            os.chown(path, uid, uid)
        course.root.chmod(0o700)
        return course

    def submit(self, uid: int, name: str) -> Path:
        """Hand in a lesson as a user; give where it lies."""
        home = self.make_home(uid, name).root
        done = self.run(uid, self.python, "-c", SUBMIT.format(lesson=LESSON, name=name), cwd=home)
        assert done.returncode == 0, done.stderr
        (sent,) = self.inbound.glob(f"{name}+{LESSON}+*")
        return sent

    def run(self, uid: int, *words: str, cwd: Path = Path("/")) -> subprocess.CompletedProcess[str]:
        """Run a program as a user who may do what all may, and no more."""
        return subprocess.run(
            words,
            cwd=cwd,
            user=uid,
            group=uid,
            extra_groups=[],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": packages(), "HOME": str(cwd)},
            capture_output=True,
            text=True,
            check=False,
        )

    def reads(self, uid: int, path: Path) -> bool:
        """Whether a user gets at a file's or folder's content."""
        word = "ls" if path.is_dir() else "cat"
        done = self.run(uid, word, str(path))
        assert done.returncode == 0 or REFUSED in done.stderr, done.stderr
        return done.returncode == 0


@pytest.fixture(scope="module")
def made() -> Iterator[Class]:
    """The exchange of a class in which two students have handed in a lesson."""
    python = require_users()
    with tempfile.TemporaryDirectory(prefix="exchange-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o711)
        made = Class(folder, python)
        grader = made.make_home(GRADER, "grader")
        make_place(grader.root, HubSettings(folder / "place"))
        shutil.copytree(grader.source(LESSON), made.course / "outbound" / LESSON)
        yield made


@pytest.fixture(scope="module")
def of_ada(made: Class) -> Path:
    return made.submit(ADA, "ada")


@pytest.fixture(scope="module")
def of_ben(made: Class) -> Path:
    return made.submit(BEN, "ben")


def test_everyone_reads_what_is_released(made: Class) -> None:
    assert made.reads(ADA, made.course / "outbound" / LESSON / f"{LESSON}.ipynb")


def test_nobody_but_who_grades_sees_the_names_of_hand_ins(made: Class, of_ada: Path) -> None:
    assert made.reads(GRADER, made.inbound)
    assert not made.reads(ADA, made.inbound)
    assert not made.reads(BEN, made.inbound)


@pytest.mark.parametrize("part", [".", f"{LESSON}.ipynb", "submission_secret.txt", "timestamp.txt"])
def test_who_knows_a_hand_ins_whole_name_still_reads_nothing_of_it(
    made: Class, of_ada: Path, of_ben: Path, part: str
) -> None:
    assert made.reads(ADA, of_ada / part)
    assert made.reads(GRADER, of_ada / part)
    assert not made.reads(BEN, of_ada / part)
    assert not made.reads(ADA, of_ben / part)


def test_a_hand_ins_name_has_an_end_that_nobody_can_guess(of_ada: Path) -> None:
    name, lesson, _, drawn = of_ada.name.split("+")
    assert (name, lesson) == ("ada", LESSON)
    assert len(drawn) == 12  # 72 bits


def test_nobody_puts_a_file_into_another_ones_hand_in(made: Class, of_ada: Path) -> None:
    assert REFUSED in made.run(BEN, "touch", str(of_ada / "more.ipynb")).stderr


@pytest.mark.parametrize("place", ["of_ada", "inbound", "course"])
def test_nobody_moves_away_what_is_another_ones(made: Class, of_ada: Path, place: str) -> None:
    path = {"of_ada": of_ada, "inbound": made.inbound, "course": made.course}[place]
    moved = made.run(BEN, "mv", str(path), str(made.folder / "place/exchange/taken"))
    assert moved.returncode != 0
    assert path.exists()


def test_who_grades_can_clear_a_hand_in_away(made: Class) -> None:
    sent = made.submit(64104, "cleo")
    assert made.run(GRADER, "rm", "-r", str(sent)).returncode == 0


def test_feedback_is_found_by_who_handed_in_and_its_name_is_a_secret(
    made: Class, of_ada: Path
) -> None:
    pages = made.course / "feedback"
    secret = (of_ada / "submission_secret.txt").read_text()
    page = pages / f"{notebook_hash(secret=secret, notebook_id=LESSON)}.html"
    pages.mkdir()
    pages.chmod(0o711)  # as nbgrader makes it
    page.write_text("Well done.")
    assert made.reads(ADA, page)
    assert not made.reads(ADA, pages)
    assert not made.reads(BEN, pages)
    assert not made.reads(BEN, of_ada / "submission_secret.txt")


def test_a_student_reads_nothing_in_another_ones_home(made: Class, of_ada: Path) -> None:
    copies = made.folder / "ada/.course/submitted" / COURSE_ID
    assert not made.reads(BEN, copies)
    assert not made.reads(BEN, made.folder / "ada/learn" / LESSON / f"{LESSON}.ipynb")
