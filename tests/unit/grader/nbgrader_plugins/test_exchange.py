"""Feedback in the exchange: whatever a student is called, and however many there are."""

import hashlib
import stat
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from tests.unit.grader.pages.conftest import gradebook, made  # noqa: F401 (fixtures)
from tests.unit.grader.pages.graded_class import LESSON

# nbgrader's own release leaves a file to the collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def release(made):  # noqa: F811
    """What releases pages of some students, and returns whose are offered."""
    config = made.course.converter_config(LESSON)
    config.Exchange.root = str(made.course.folder / "exchange")
    (made.course.folder / "exchange").mkdir(mode=0o777)

    def released(student: str, *students: str, by_exchange: bool = True) -> dict[str, Path]:
        for name in students:
            page = made.course.folder / "feedback" / name / LESSON / f"{LESSON}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(name)
            page.chmod(0o600)  # as `grade` writes them
            if by_exchange:
                (page.parent / "timestamp.txt").write_text("2026-11-20 10:00:00.000000 UTC")
                (page.parent / "submission_secret.txt").write_text(name)
        config.CourseDirectory.student_id = student
        coursedir = CourseDirectory(config=config)
        ExchangeFactory(config=config).ReleaseFeedback(coursedir=coursedir, config=config).start()
        offered = (made.course.folder / "exchange").glob("*/feedback/*.html")
        return {page.read_text(): page for page in offered}

    return released


def test_a_name_with_a_comma_that_is_left_out_leaves_out_no_other(release):
    release("*", "ada,ben", by_exchange=False)
    assert release("*", "ada", "ben").keys() == {"ada", "ben"}


def test_a_name_that_reads_like_a_pattern_is_released_and_no_other_in_its_place(release):
    assert release("[ab]", "[ab]", "a", "b").keys() == {"[ab]"}


def test_the_release_of_one_page_opens_it_and_touches_no_other(release):
    offered = release("ada", "ada", "ben")["ada"]
    assert stat.S_IMODE(offered.stat().st_mode) == 0o644
    assert offered.stem == hashlib.md5(f"ada{LESSON}".encode()).hexdigest()
    offered.chmod(0o600)
    assert release("ben").keys() == {"ada", "ben"}
    assert stat.S_IMODE(offered.stat().st_mode) == 0o600
