"""Class lists in the forms that people have them in, and what is wrong with one."""

import pytest

from grader.course.roster_file import Student
from grader.errors import CourseError
from grader.lms.class_list import merged, read_class
from tests.unit.grader.lms.downloads import ROSTER


def read(folder, text):
    path = folder / "class.csv"
    path.write_text(text, encoding="utf-8")
    return read_class(path).students


def test_our_own_form_is_read_with_commas_quotes_and_umlauts(tmp_path):
    ada, ben, cleo, *_, eve = read(tmp_path, ROSTER)
    assert (ada.id, ada.names, ada.moodle_participant) == ("ada", ("Ada", "Lovelace"), "71")
    assert (ben.id, ben.names) == ("b,en", ("Björn", "O'Neill"))
    assert (cleo.id, cleo.names) == ("=cleo", ('Quote "Q"', "Cleo"))
    assert (eve.id, eve.email, eve.canvas_user_id) == ("eve", "", "")


def test_canvas_own_gradebook_serves_as_a_class_list(tmp_path):
    text = (
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Homework (7)\n"
        "    Points Possible,,,,,10\n"
        '"Müller, Dan",14,S4,dan,One,3\n'
    )
    (dan,) = read(tmp_path, text)
    assert dan == Student(
        "dan", name="Müller, Dan", canvas_user_id="14", sis_user_id="S4", sis_login_id="dan"
    )


def test_moodles_list_of_participants_serves_with_semicolons_too(tmp_path):
    text = "First name;Last name;ID number;Email address\nDan;Müller;M4;dan@uni.example\n"
    (dan,) = read(tmp_path, text)
    assert (dan.id, dan.names, dan.moodle_id_number) == ("M4", ("Dan", "Müller"), "M4")


def test_github_classrooms_roster_serves_for_those_too_who_have_linked_no_account(tmp_path):
    text = (
        '"identifier","github_username","github_id","name"\n'
        '"dan@uni.example","dan-m","123","Dan Müller"\n"eve@uni.example","","",""\n'
    )
    assert read(tmp_path, text) == [
        Student(
            "dan-m", name="Dan Müller", sis_login_id="dan@uni.example", github_username="dan-m"
        ),
        Student("eve@uni.example", sis_login_id="eve@uni.example"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"sep=;\r\nStudent_ID;Name;E-Mail\r\nada;Lovelace, Ada;a@x\r\n;;\r\n",
        "STUDENT ID\tName\tEmail\nada\tLovelace, Ada\ta@x\n".encode("utf-16"),
        b' student_id ,name, email\nada, "Lovelace, Ada", a@x\n',
    ],
)
def test_a_list_is_read_as_spreadsheets_and_hands_write_it(tmp_path, data):
    (tmp_path / "class.csv").write_bytes(data)
    assert read_class(tmp_path / "class.csv").students == [
        Student("ada", name="Lovelace, Ada", email="a@x")
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("first name,town\nAda,London\n", "no column with ids"),
        ("student_id,email\nada,a@x\nben,\nada,b@x\n", "lines 2 and 4: id ada belongs to two"),
        ("student_id\nAda\nada\n", "lines 2 and 3: id ada belongs to two students"),
        ("student_id\nren\u00e9\nrene\u0301\n", "belongs to two students"),
        ("student_id,canvas_user_id\na,1\nb,1\n", "lines 2 and 3: canvas user id 1 belongs to two"),
        ("student_id,canvas_user_id\na,1\n\nb,1.0\n", "lines 2 and 4: canvas user id 1 belongs"),
        (
            "student_id,canvas_user_id\na,1.0E+15\n",
            "line 2: the canvas user id 1.0E.15 was",
        ),
        ("student_id,name\n,Ada\n", "line 2: it has no id"),
        ("student_id\n../ada\n", "line 2: the id ../ada cannot name a folder"),
        pytest.param(
            f"student_id\n{chr(0x1D4B3) * 64}\n", "cannot name a folder", id="of long letters"
        ),
        ("student_id\n.ada\n", "line 2"),
        ("student_id\nred\x1b[31m\n", r"the id red\\x1b\[31m cannot"),
        ("student_id\nad\u200ba\n", r"the id ad\\u200ba cannot"),
    ],
)
def test_a_faulty_list_is_refused_and_says_where(tmp_path, text, says):
    with pytest.raises(CourseError, match=says):
        read(tmp_path, text)


def test_a_list_that_is_not_utf_8_or_not_there_is_refused(tmp_path):
    (tmp_path / "latin.csv").write_bytes("student_id,name\nd,Müller\n".encode("latin-1"))
    with pytest.raises(CourseError, match="not UTF-8"):
        read_class(tmp_path / "latin.csv")
    with pytest.raises(CourseError, match="cannot be read"):
        read_class(tmp_path / "none.csv")


def test_a_later_list_adds_to_an_earlier_one_and_takes_nothing_away(tmp_path):
    before = [Student("ada", email="ada@uni.example"), Student("ben")]
    after = merged(before, [Student("ada", canvas_user_id="11")])
    assert after == [Student("ada", email="ada@uni.example", canvas_user_id="11"), Student("ben")]


def test_an_id_that_would_give_one_the_work_of_another_is_refused():
    with pytest.raises(CourseError, match="canvas user id 11 belongs to two"):
        merged([Student("ada", canvas_user_id="11")], [Student("eva", canvas_user_id="11")])


SECTIONS = """student_id,name,email,section
ada,"Lovelace, Ada",ada@uni.example,Lecture
ben,Ben,,Lecture
ada,"Lovelace, Ada",Ada@uni.example,Lab
ben,,ben@uni.example,Lab
"""


def test_a_student_on_two_lines_that_agree_counts_once_and_the_lines_are_told(tmp_path):
    path = tmp_path / "class.csv"
    path.write_text(SECTIONS)
    found = read_class(path)
    assert [(s.id, s.email) for s in found.students] == [
        ("ada", "ada@uni.example"), ("ben", "ben@uni.example")
    ]  # fmt: skip
    assert [note[:29] for note in found.notes] == [
        "line 4 is line 2 once more: a", "line 5 is line 3 once more: b"
    ]  # fmt: skip


@pytest.mark.parametrize("number", ["4001.0", "4001,0", "4001.00", "4001"])
def test_numbers_that_a_spreadsheet_wrote_with_decimals_are_whole(tmp_path, number):
    text = f'student_id,email,canvas_user_id\n"{number}",4.0@x,"{number}"\n'
    assert read(tmp_path, text) == [Student("4001", email="4.0@x", canvas_user_id="4001")]


def test_canvas_own_test_student_is_told_and_is_not_in_the_class(tmp_path):
    path = tmp_path / "class.csv"
    path.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\n"
        '"Müller, Dan",14,S4,dan,One\n"Student, Test",99,,7f3a9c,One\n'
    )
    found = read_class(path)
    assert [student.id for student in found.students] == ["dan"]
    assert found.notes == ["line 3 is Canvas's Test Student, who is not in the class."]
