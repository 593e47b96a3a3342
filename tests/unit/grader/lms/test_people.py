"""Who handed in: known by numbers that fit, else by name, else told with who is near."""

import json
import re
import shlex

import pytest

from grader.cli import main
from grader.course.notices import not_in_roster
from grader.course.report import summary
from grader.errors import PROGRAM
from tests.unit.grader.lms.downloads import (
    LESSON,
    notebook,
    small_course,
    with_grades,
    write_zip,
)  # fmt: skip
from tests.unit.grader.lms.test_collect import reasons, students

WORK = notebook()
NAMES = "student_id,name\nada,Ada Lovelace\nben,Björn O'Neill\n"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make a course with this class; nothing if no class is given yet."""
    monkeypatch.chdir(tmp_path)

    def make(roster):
        course = small_course(tmp_path, roster)
        assert main(["roster", "roster.csv"]) == 0
        return course

    return make


def collect(course, system, *entries):
    archive = write_zip(course.folder / "all.zip", dict.fromkeys(entries, WORK))
    return main(["collect", system, str(archive)])


def enter(course, text):
    (course.folder / "next.csv").write_text(text, encoding="utf-8")
    return main(["roster", "next.csv"])


def known(course):
    entries = json.loads((course.folder / "lms" / "roster.json").read_text())
    return {entry["id"] for entry in entries if not entry["left"]}


# --- Numbers and names ------------------------------------------------------------------------

WORKSHEET = "Identifier,Full name,Email address\nParticipant {},Ada Lovelace,ada@x\n"


def test_the_numbers_of_another_assignment_in_moodle_forbid_nothing(made, capsys):
    course = made(WORKSHEET.format(71))
    assert collect(course, "moodle", "Ada Lovelace_902_assignsubmission_file/x.ipynb") == 0
    assert students(course) == ["ada@x"]
    assert "By name, for the roster has another number of theirs: ada@x." in capsys.readouterr().out


def test_another_assignments_worksheet_replaces_the_numbers_of_the_one_before(made):
    course = made(WORKSHEET.format(71) + "Participant 72,Ben Okafor,ben@x\n")
    assert enter(course, WORKSHEET.format(72)) == 0
    assert collect(course, "moodle", "A. L._72_assignsubmission_file/x.ipynb") == 0
    assert students(course) == ["ada@x"]


def test_a_stale_number_that_is_anothers_now_gives_nobody_the_others_work(made):
    course = made(WORKSHEET.format(71) + "Participant 72,Ben Okafor,ben@x\n")
    ada = "Ada Lovelace_72_assignsubmission_file/x.ipynb"
    ben = "Ben Okafor_71_assignsubmission_file_x.ipynb"
    assert collect(course, "moodle", ada, ben) == 0
    notes = json.loads((course.folder / "lms" / "moodle" / f"{LESSON}.json").read_text())
    assert {who: x["entry"] for who, x in notes.items()} == {"ada@x": ada, "ben@x": ben}


def test_a_wrong_number_of_canvas_forbids_nothing_where_the_name_leaves_no_choice(made):
    course = made("student_id,name,canvas_user_id\nada,Ada Lovelace,4001\nben,Ben Okafor,4002\n")
    assert collect(course, "canvas", "lovelaceada_9_101_x.ipynb") == 0
    assert students(course) == ["ada"]


def test_a_second_person_of_a_name_does_not_get_the_work_of_the_first(made):
    course = made("student_id,name,canvas_user_id\nada,Ada Lovelace,4001\n")
    stranger = "lovelaceada_9_102_x.ipynb"
    assert collect(course, "canvas", "lovelaceada_4001_101_x.ipynb", stranger) == 1
    assert "has the name of ada, who handed in under another number" in reasons(course)[stranger][0]


def test_of_two_students_of_a_name_a_number_that_is_nobodys_chooses_none(made):
    course = made("student_id,name,canvas_user_id\na,Dan Müller,14\nb,Dan Müller,15\n")
    assert collect(course, "canvas", "muellerdan_9_1_x.ipynb", "mullerdan_14_2_x.ipynb") == 1
    assert students(course) == ["a"]


@pytest.mark.parametrize(
    ("system", "entry", "says"),
    [
        ("canvas", "lovlaceada_9_101_x.ipynb", r"nobody .* is lovlaceada .*; near is ada$"),
        ("canvas", "studenttest_9_101_x.ipynb", "it is Canvas's Test Student"),
        ("canvas", "anon_47315_101_x.ipynb", "Canvas does not tell whose it is"),
        ("canvas", "anon_a8B3x_LATE_101_x.ipynb", "Canvas does not tell whose it is"),
        ("canvas", "anon_LATE_a8B3x_101_x.ipynb", "Canvas does not tell whose it is"),
        ("moodle", "Participant 902_902_assignsubmission_file/x.ipynb", "Moodle does not tell"),
        ("moodle", "Teilnehmer 902_902_assignsubmission_file_x.ipynb", "Moodle does not tell"),
        ("moodle", "Ada Lovelac_902_assignsubmission_file/x.ipynb", "; near is ada$"),
    ],
)  # fmt: skip
def test_of_a_file_of_nobody_it_is_said_why_and_who_is_near(made, system, entry, says):
    course = made(NAMES.replace("ben,", "ben47315,"))
    assert collect(course, system, entry) == 1
    assert re.search(says, reasons(course)[entry][0])


@pytest.mark.parametrize("number", ["47315", "12345"])
def test_an_anonymous_number_of_canvas_is_no_students_though_it_looks_like_one(made, number):
    course = made(f"student_id,canvas_user_id\nada,{number}\n")
    assert collect(course, "canvas", f"anon_{number}_101_x.ipynb") == 1
    assert students(course) == []


@pytest.mark.parametrize(
    ("system", "entry"),
    [
        ("moodle", "Ada Lovelace_71_assignsubmission_onlinetext/onlinetext.html"),
        ("moodle", "Ada Lovelace_71_assignsubmission_onlinetext_onlinetext.html"),
        ("canvas", "lovelaceada_11_text.html"),
        ("canvas", "lovelaceada_LATE_11_link.html"),
    ],
)
def test_what_was_typed_in_place_of_a_file_is_told_as_that_and_is_no_fault(made, system, entry):
    course = made(NAMES)
    assert collect(course, system, entry) == 0
    assert reasons(course)[entry][0] == "it was typed into a form: grading does not read it"


# --- Who is not in the roster -----------------------------------------------------------------

ROSTER = """student_id,name,email,sis_login_id,github_username
ada,Ada Lovelace,ada.lovelace@uni.example,al17,ada-codes
ben,Ben Okafor,ben@uni.example,bo18,
"""
OTHERS = {
    "ADA": "differs only by case from ada",
    "Ben@Uni.example": "the e-mail address of ben",
    "al17": "the SIS login id of ada",
    "Ada-Codes": "the GitHub name of ada",
    "ben@students.example": "perhaps ben",
    "Ada Lovelace": "perhaps ada",
}


def put(course, student, data=WORK):
    place = course.folder / "submitted" / student / LESSON
    place.mkdir(parents=True)
    (place / f"{LESSON}.ipynb").write_bytes(data)


@pytest.mark.parametrize("other", OTHERS)
def test_work_under_another_id_is_told_with_whose_it_may_be_and_one_command_gives_it(
    made, other, capsys
):
    course = made(ROSTER)
    put(course, other)
    with_grades(course, {other: (3, 0.5)})
    (told,) = not_in_roster(course, course.book())
    assert f"not in the roster: {other} {LESSON} ({OTHERS[other]})" in told
    command = re.search(r"roster --rename ('[^']+'|\S+?)(?=\))", told)
    assert main(shlex.split(command[0])) == 0
    student = command[0].rpartition("=")[2].strip("'")
    assert students(course) == [student]
    with course.gradebook() as gradebook:
        assert gradebook.find_submission(LESSON, student).score == 3.5
        assert {s.id for s in gradebook.students} == {"ada", "ben"}
    assert not_in_roster(course, course.book()) == []
    assert main(["export", "csv", "--out", "out.csv"]) == 0
    assert "not in the roster" not in capsys.readouterr().out


def test_grades_under_an_id_that_differs_by_case_are_no_success_of_an_export(made, capsys):
    course = made(ROSTER)
    with_grades(course, {"ADA": (3, 0.5), "ben": (1, 0)})
    assert main(["export", "csv", "--out", "out.csv"]) == 1
    out = capsys.readouterr().out
    assert not_in_roster(course, course.book())[0] in out
    advice = re.search(r"correct it: (.*?)\. If it is right", out)[1].removeprefix(f"{PROGRAM} ")
    assert main(advice.split()) == 0
    assert known(course) == {"ADA", "ben"}
    assert main(["export", "csv", "--out", "out.csv"]) == 0


def test_grade_report_and_export_say_the_same_of_who_is_not_in_the_roster(made, capsys):
    course = made(ROSTER)
    with_grades(course, {"zoe": (3, 0.5), "ben": (1, 0)})
    (told,) = not_in_roster(course, course.book())
    assert f"  {told}" in summary(course, course.book())
    capsys.readouterr()
    assert main(["export", "csv", "--out", "out.csv"]) == 0
    assert told in capsys.readouterr().out
    (course.folder / "canvas.csv").write_text("Student,ID,SIS Login ID,Section,01 Doubling (7)\n"
                                              '"Okafor, Ben",18,bo18,One,\n')  # fmt: skip
    assert main(["export", "canvas", "--template", "canvas.csv", "--out", "out.csv"]) == 0
    out = capsys.readouterr().out
    assert told in out
    assert "In the roster, not in Canvas's export: ada." in out


def test_two_ids_with_work_in_one_lesson_are_not_made_one(made, capsys):
    course = made(ROSTER)
    for student in ("ada", "ADA"):
        put(course, student)
    assert main(["roster", "--rename", "ADA=ada"]) == 1
    assert f"ADA and ada both handed in {LESSON}. Nothing was changed." in capsys.readouterr().err
    assert students(course) == ["ADA", "ada"]
    assert main(["roster", "--out", "ADA", "--with-work"]) == 0
    assert students(course) == ["ada"]


@pytest.mark.parametrize(
    ("pair", "says"),
    [("zoe=adda", "Did you mean ada?"), ("zoe=ada", "There is no student 'zoe'"),
     ("ada=ben", "both in the roster"), ("ada", "write OLD=NEW"), ("ada=a/b", "cannot be")],
)  # fmt: skip
def test_a_correction_that_fits_nobody_is_refused(made, pair, says, capsys):
    course = made(ROSTER)
    assert main(["roster", "--rename", pair]) == 2
    assert says in capsys.readouterr().err
    assert known(course) == {"ada", "ben"}


# --- Who joins and who leaves -----------------------------------------------------------------


def test_who_left_is_neither_missed_nor_exported_nor_told_and_the_work_stays(made, capsys):
    course = made(ROSTER)
    put(course, "ben")
    with_grades(course, {"ada": (3, 0.5), "ben": (1, 0)})
    assert main(["roster", "--out", "ben"]) == 0
    assert "The work stays" in capsys.readouterr().out
    assert known(course) == {"ada"}
    assert students(course) == ["ben"]
    assert not_in_roster(course, course.book()) == []
    assert main(["export", "csv", "--out", "out.csv"]) == 0
    assert "ben" not in (course.folder / "out.csv").read_text()


def test_who_left_with_the_work_is_nowhere_any_more(made):
    course = made(ROSTER)
    put(course, "ben")
    with_grades(course, {"ada": (3, 0.5), "ben": (1, 0)})
    assert main(["roster", "--out", "ben", "--with-work"]) == 0
    assert students(course) == []
    assert course.students() == ["ada"]


def test_who_is_listed_again_is_back_and_who_joins_is_added(made, capsys):
    course = made(ROSTER)
    assert main(["roster", "--out", "ben"]) == 0
    assert enter(course, "student_id\ncleo\n") == 0
    assert known(course) == {"ada", "cleo"}
    assert enter(course, "student_id\nben\n") == 0
    assert known(course) == {"ada", "ben", "cleo"}
    assert "ben had left, and is back" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--out", "bem"], ["--with-work"], ["--rename", "x"]])
def test_a_mistyped_correction_changes_nothing(made, words, capsys):
    course = made(ROSTER)
    assert main(["roster", *words]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert known(course) == {"ada", "ben"}


def test_a_systems_list_knows_by_addresses_who_has_an_id_here(made):
    course = made(ROSTER)
    moodle = "First name,Last name,ID number,Email address\nBen,Okafor,M7,BEN@uni.example\n"
    assert enter(course, moodle) == 0
    assert known(course) == {"ada", "ben"}


def test_github_classrooms_list_knows_who_has_an_id_here_by_what_it_calls_them(made):
    course = made(ROSTER)
    head = "identifier,github_username,github_id,name\n"
    assert enter(course, f"{head}al17,ada-codes,7,Ada Lovelace\nben,bens,8,\nzoe,zz,9,\n") == 0
    assert known(course) == {"ada", "ben", "zz"}


def test_an_extension_for_an_id_that_is_in_no_roster_is_told_with_whose_it_may_be(made, capsys):
    course = made(ROSTER)
    rows = f"lesson,due,student\n{LESSON},2026-12-04,\n{LESSON},2026-12-05,BEN@uni.example\n"
    (course.folder / "due.csv").write_text(rows)
    assert main(["deadlines", "due.csv"]) == 0
    assert "yet: BEN@uni.example (the e-mail address of ben)." in capsys.readouterr().out


@pytest.mark.parametrize("zone", [" Europe/Berlin", "+01:00", " UTC+1", " CEST"])
def test_a_due_date_has_a_zone_that_exists_or_none(made, zone, capsys):
    course = made(ROSTER)
    (course.folder / "due.csv").write_text(f"lesson,due\n{LESSON},2026-12-04 23:00{zone}\n")
    is_one = zone in (" Europe/Berlin", "+01:00")
    assert main(["deadlines", "due.csv"]) == (0 if is_one else 2)
    with course.gradebook() as gradebook:
        dates = [str(x.duedate) for x in gradebook.assignments if x.duedate]
    assert dates == (["2026-12-04 22:00:00"] if is_one else [])
    assert is_one or f"23:00{zone}" in capsys.readouterr().err
