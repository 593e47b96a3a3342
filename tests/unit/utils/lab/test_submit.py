"""How a hand-in gets into the exchange, whoever's that is."""

import stat
from pathlib import Path

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from nbgrader.exchange.default import ExchangeSubmit

from tests.unit.utils.lab.conftest import LESSONS
from utils.lab.exchange import COURSE_ID, Course, exchange_settings, prepare
from utils.lab.submit import Submit

LESSON = LESSONS[0]


def submit(course: Course) -> Submit:
    prepare(course)
    config = exchange_settings(course)
    config.CourseDirectory.assignment_id = LESSON
    made = ExchangeFactory(config=config).Submit(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )
    made.start()
    return made


def inbound(course: Course) -> Path:
    return course.exchange / COURSE_ID / "inbound"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_course_hands_in_by_it(course: Course) -> None:
    assert isinstance(submit(course), Submit)


def test_a_hand_in_arrives_whole_and_leaves_nothing_beside_it(course: Course) -> None:
    submit(course)
    (sent,) = inbound(course).iterdir()
    assert {path.name for path in sent.iterdir()} == {
        f"{LESSON}.ipynb", "submission_secret.txt", "timestamp.txt",
    }  # fmt: skip
    (kept,) = (course.private / "submitted" / COURSE_ID).iterdir()
    assert sent.name.startswith(kept.name)


@pytest.mark.parametrize("others", [["mine.ipynb"], ["a.ipynb", "b.ipynb"], []])
def test_a_notebook_under_another_name_is_refused_with_the_name_that_it_needs(
    with_exercises: Course, others: list[str]
) -> None:
    prepare(with_exercises)
    folder = with_exercises.learn / LESSON
    notebook = (folder / f"{LESSON}.ipynb").read_bytes()
    (folder / f"{LESSON}.ipynb").unlink()
    for name in [*others, "notes.ipynb"]:
        (folder / name).write_bytes(notebook if name in others else b"{}")
    with pytest.raises(ExchangeError, match=f"grading reads {LESSON}.ipynb") as refused:
        submit(with_exercises)
    assert all(name in str(refused.value) for name in others)
    assert "notes.ipynb" not in str(refused.value)
    assert list(inbound(with_exercises).glob("*")) == []


def test_what_stops_on_its_way_leaves_nothing(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: ExchangeSubmit) -> None:
        assert list(inbound(course).glob(f"*+{LESSON}+*")) == []
        Path(self.inbound_path, "half").mkdir()
        raise ExchangeError("the disk is full")

    monkeypatch.setattr(ExchangeSubmit, "copy_files", stop)
    with pytest.raises(ExchangeError):
        submit(course)
    assert list(inbound(course).iterdir()) == []


def test_where_the_group_is_the_students_own_it_stays_open_as_nbgrader_leaves_it(
    course: Course,
) -> None:
    submit(course)
    (sent,) = inbound(course).iterdir()
    assert mode(sent) == 0o777
    assert mode(sent / f"{LESSON}.ipynb") == 0o644


def test_where_the_group_is_another_ones_it_is_closed_to_others(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.lab.submit._is_mine", lambda _: False)
    submit(course)
    (sent,) = inbound(course).iterdir()
    assert mode(sent) & 0o777 == 0o770
    assert {mode(path) for path in sent.iterdir()} == {0o640}


def test_without_a_group_that_is_handed_on_it_stays_open(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.lab.submit._is_mine", lambda _: False)
    prepare(course)
    inbound(course).chmod(0o733)
    submit(course)
    (sent,) = inbound(course).iterdir()
    assert mode(sent) == 0o777
