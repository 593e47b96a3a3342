"""What lies in a course's folder and cannot be read stays, and it is told: hand-ins, our notes."""

import pytest

from grader.cli import main
from tests.unit.grader.lms.downloads import LESSON, notebook, small_course, write_zip
from tests.unit.grader.odd_files import opening_fails

FILE = f"{LESSON}.ipynb"
ADA, BEN = f"lovelaceada_11_101_{FILE}", f"oneillbjorn_12_102_{FILE}"


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return small_course(tmp_path)


def collect(course, items):
    archive = write_zip(course.folder / "all.zip", items)
    return main(["collect", "canvas", str(archive), "--roster", "roster.csv"])


@pytest.mark.parametrize("name", [FILE, "timestamp.txt"])
def test_it_stays_and_is_told_with_what_helps_and_the_others_are_collected(
    course, monkeypatch, capsys, name
):
    collect(course, {ADA: notebook("first = 1")})
    place = course.folder / "submitted" / "ada" / LESSON
    capsys.readouterr()
    opening_fails(monkeypatch, name, below="submitted/ada")
    newer = ADA.replace("101", "103")
    assert collect(course, {newer: notebook("second = 2"), BEN: notebook()}) == 1
    told = capsys.readouterr().out
    assert f"{newer}: {place / name} cannot be read (Permission denied). Give yourself" in told
    assert (place / FILE).read_bytes() == notebook("first = 1")
    assert (course.folder / "submitted" / "b,en" / LESSON / FILE).read_bytes() == notebook()


DAMAGED = {
    "no JSON": "{",
    "a list": "[]",
    "a number for a note": '{"ada": 1}',
    "a number for a text": '{"ada": {"entry": 3}}',
    "a text for a time's order": '{"ada": {"order": "1"}}',
    "deep nesting": "[" * 100_000,
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_notes_on_what_was_collected_that_were_changed_by_hand_are_named_and_nothing_is_changed(
    course, capsys, text
):
    collect(course, {ADA: notebook("first = 1")})
    notes = course.folder / "lms" / "canvas" / f"{LESSON}.json"
    notes.write_text(text)
    capsys.readouterr()
    newer = {ADA.replace("101", "103"): notebook("second = 2")}
    for attempt in (lambda: collect(course, newer), lambda: main(["roster", "--rename", "ada=al"])):
        assert attempt() == 1
        told = capsys.readouterr().err
        assert f"{notes} cannot be read" in told
        assert "Move it away" in told
    place = course.folder / "submitted" / "ada" / LESSON
    assert (place / FILE).read_bytes() == notebook("first = 1")
    assert {"ada", "al"} & {*course.students()} == {"ada"}


ROSTERS = {
    "no JSON": "{", "an object": "{}", "a number": "[3]", "no id": "[{}]",
    "a number for an id": '[{"id": 3}]', "deep nesting": "[" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("text", ROSTERS.values(), ids=ROSTERS)
def test_a_roster_that_was_changed_by_hand_is_named_with_what_helps(course, capsys, text):
    (course.folder / "lms").mkdir()
    (course.folder / "lms" / "roster.json").write_text(text)
    assert main(["roster"]) == 1
    told = capsys.readouterr().err
    assert "lms/roster.json cannot be read" in told
    assert "give the roster again" in told
