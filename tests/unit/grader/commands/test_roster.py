"""The roster's command: it enters the class, shows it, and keeps it closed to others."""

import stat

from grader.cli import main
from grader.errors import PROGRAM
from tests.unit.grader.lms.downloads import small_course

SIX = "6 students in the class; with an id of Canvas 5, of Moodle 5."


def test_a_list_is_entered_shown_and_remembered(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    course = small_course(tmp_path)
    assert main(["roster"]) == 0
    assert f"Give a list: {PROGRAM} roster class.csv" in capsys.readouterr().out
    assert main(["roster", "roster.csv"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == SIX
    assert "  ada    Ada Lovelace" in told
    assert "dan2" in course.students()
    assert main(["roster"]) == 0
    assert capsys.readouterr().out.splitlines() == told


def test_the_gradebook_is_copied_before_and_nobody_else_reads_the_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_course(tmp_path)
    assert main(["roster", "roster.csv"]) == 0
    assert len(list((tmp_path / "gradebook-backups").glob("*.db"))) == 1
    for name in ("lms", "gradebook-backups", "gradebook.db"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) & 0o077 == 0
    assert main(["roster"]) == 0  # only shows
    assert len(list((tmp_path / "gradebook-backups").glob("*.db"))) == 1


def test_a_large_class_does_not_flood_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"s{number:03d}" for number in range(200))
    small_course(tmp_path, f"student_id\n{rows}\n")
    assert main(["roster", "roster.csv"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert len(told) <= 40
    assert told[-1].startswith("  and 170 more")


def test_a_name_that_would_drive_the_terminal_is_shown_as_codes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    small_course(tmp_path, 'student_id,name\nada,"Love\x1b[2Jlace, Ada\u202e"\n')
    assert main(["roster", "roster.csv"]) == 0
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert r"Ada\u202e Love\x1b[2Jlace" in told


def test_two_lists_with_ids_that_differ_by_case_are_refused_with_what_to_do(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    course = small_course(tmp_path, "student_id\nada\n")
    assert main(["roster", "roster.csv"]) == 0
    (tmp_path / "roster.csv").write_text("student_id\nADA\n")
    assert main(["roster", "roster.csv"]) != 0
    told = capsys.readouterr().err
    assert "id ADA belongs to two students" in told
    assert "if an earlier one was wrong, say which id is whose" in told
    assert course.students() == ["ada"]
    assert main(["roster", "--rename", "ada=ADA"]) == 0
    assert main(["roster", "roster.csv"]) == 0
    assert course.students() == ["ADA"]


def test_an_id_of_nobody_in_the_list_neither_stops_it_nor_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    course = small_course(tmp_path)
    with course.gradebook() as gradebook:
        gradebook.add_student("ADA")
    assert main(["roster", "roster.csv"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == SIX
    assert "differs only by case: ADA." in told[-1]
