"""Grades and feedback out of the gradebook, in each learning system's form, and back again."""

import csv
import re
import stat
import zipfile

import pytest

from grader.cli import main
from grader.errors import PROGRAM
from grader.lms.claims import READERS
from grader.lms.feedback import answer_to
from tests.unit.grader.lms.downloads import LESSON, notebook, small_course, with_grades, write_zip

TITLE = "01 Doubling (4711)"
CANVAS = '''\
\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Other (1),01 Doubling (4711),Current Score
    Points Possible,,,,,5,3.5,(read only)
"Lovelace, Ada",11,,,"One, and Two",4,,80
"O'Neill, Björn",12,S2,ben@uni,One,,,
"Cleo, ""Q""",,S3,=cleo,One,,,
"Müller, Dan",14,S4,dan@uni,One,,,
"Müller, Dan",15,S5,dan2@uni,One,,,
"Student, Test",900,,,One,,,
'''
POINTS = {"ada": (3.0, 0.5), "b,en": (2.0, 0.0), "=cleo": (0.0, 0.5), "dan2": (1.0, 0.0)}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A class with a roster, a lesson, and grades of four of its six students."""
    monkeypatch.chdir(tmp_path)
    course = small_course(tmp_path)
    empty = write_zip(tmp_path / "empty.zip", {})
    assert main(["collect", "moodle", str(empty), "--roster", "roster.csv"]) == 0
    with_grades(course, POINTS)
    (tmp_path / "canvas.csv").write_text(CANVAS, encoding="utf-8")
    return course


def export(course, form, *options):
    """Write a table; its rows."""
    out = course.folder / "private" / "out.csv"
    assert main(["export", form, "--out", str(out), *options]) == 0
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_canvas_gets_its_own_lines_ids_and_titles_back_with_the_points(course):
    assert export(course, "canvas", "--template", "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", TITLE],
        ["    Points Possible", "", "", "", "", "3.5"],
        ["Lovelace, Ada", "11", "", "", "One, and Two", "3.5"],
        ["O'Neill, Björn", "12", "S2", "ben@uni", "One", "2.0"],
        ['Cleo, "Q"', "", "S3", "'=cleo", "One", "0.5"],
        ["Müller, Dan", "14", "S4", "dan@uni", "One", ""],
        ["Müller, Dan", "15", "S5", "dan2@uni", "One", "1.0"],
    ]


def test_who_is_in_one_of_canvas_and_roster_alone_is_told(course, capsys):
    export(course, "canvas", "--template", "canvas.csv")
    told = capsys.readouterr().out
    assert "In Canvas, not in the roster: Student, Test." in told
    assert "In the roster, not in Canvas's export: eve." in told


def test_other_points_in_canvas_than_here_are_told(course, capsys):
    (course.folder / "canvas.csv").write_text(CANVAS.replace("5,3.5,", "5,100,"))
    export(course, "canvas", "--template", "canvas.csv")
    assert f"{TITLE} has 100 points in Canvas, and 3.5 here" in capsys.readouterr().out


def with_template(course, text):
    (course.folder / "canvas.csv").write_text(text, encoding="utf-8")
    return export(course, "canvas", "--template", "canvas.csv")


@pytest.mark.parametrize("mark", ["EX", "N/A", "Excused", "A-", "complete"])
def test_what_a_teacher_wrote_in_place_of_points_stays_and_is_told(course, capsys, mark):
    rows = with_template(course, CANVAS.replace('Two",4,,80', f'Two",4,{mark},80'))
    assert rows[2][-1] == mark
    assert rows[3][-1] == "2.0"
    told = capsys.readouterr().out
    assert f"Left as Canvas has it (clear it there to send points): {mark} of Lovelace, A" in told
    assert told.count(mark) == 1


@pytest.mark.parametrize("points", ["2", "2.25", "2,25", "0"])
def test_points_that_are_there_give_way_to_new_ones(course, capsys, points):
    rows = with_template(course, CANVAS.replace('Two",4,,80', f'Two",4,"{points}",80'))
    assert rows[2][-1] == "3.5"
    assert "Left as Canvas" not in capsys.readouterr().out


@pytest.mark.parametrize(("points", "told"), [("3,50", False), ("3.50", False), ("20,00", True)])
def test_points_of_an_assignment_are_read_with_a_decimal_comma_too(course, capsys, points, told):
    rows = with_template(course, CANVAS.replace(",,,,,5,3.5,", f',,,,,5,"{points}",'))
    assert rows[1][-1] == points
    assert ("has 20 points in Canvas, and 3.5 here" in capsys.readouterr().out) is told


def test_a_template_saved_again_with_semicolons_is_canvas_own_all_the_same(course):
    wanted = export(course, "canvas", "--template", "canvas.csv")
    lines = list(csv.reader(CANVAS.removeprefix("\ufeff").splitlines()))
    lines[0][:2] = ["student", " Id"]
    text = "\n".join(
        ";".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in line) for line in lines
    )
    assert with_template(course, f"\ufeffsep=;\n{text}\n") == wanted


def test_exercises_become_columns_of_canvas_with_their_points(course):
    rows = export(course, "canvas", "--template", "canvas.csv", "--per-exercise")
    assert rows[0][-3:] == [TITLE, f"{LESSON}: double", f"{LESSON}: predict_sum"]
    assert rows[1][-3:] == ["3.5", "3.0", "0.5"]
    assert rows[2][-3:] == ["3.5", "3.0", "0.5"]


def test_an_assignment_that_canvas_calls_otherwise_is_asked_for_and_taken(course, capsys):
    text = CANVAS.replace(TITLE, '"Homework, first (4711)"')
    (course.folder / "canvas.csv").write_text(text)
    arguments = ["export", "canvas", "--out", "x.csv", "--template", "canvas.csv"]
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert f'--title "{LESSON}=TITLE (NUMBER)"' in said
    assert "Assignments there: Other (1), Homework, first (4711)" in said
    rows = export(
        course, "canvas", "--template", "canvas.csv", "--title",
        f"{LESSON}=Homework, first (4711)",
    )  # fmt: skip
    assert rows[0][-1] == "Homework, first (4711)"


def test_without_a_template_canvas_gets_the_roster_with_its_user_ids(course, capsys):
    rows = export(course, "canvas")
    assert rows[0][1:] == ["ID", "SIS User ID", "SIS Login ID", "Section", LESSON]
    assert ["O'Neill, Björn", "12", "S2", "", "", "2.0"] in rows
    told = capsys.readouterr().out
    assert "makes a new assignment" in told
    assert "no Canvas user id: eve." in told


def test_moodle_gets_emails_and_id_numbers_and_names_who_has_neither(course, capsys):
    rows = export(course, "moodle")
    assert rows[0] == ["ID number", "Email address", "First name", "Last name", LESSON]
    assert ["M2", "ben@uni.example", "Björn", "O'Neill", "2.0"] in rows
    assert ["M4", "dan@uni.example", "Dan", "Müller", ""] in rows
    assert len(rows) == 6
    assert "no email or Moodle ID number: eve." in capsys.readouterr().out


NEEDED = {
    "canvas": ["--template canvas.csv", f"canvas_user_id: {PROGRAM} roster class.csv"],
    "moodle": [f"email or moodle_id_number; Moodle's list .*: {PROGRAM} roster class.csv"],
    "canvas --template canvas.csv": ["sis_login_id, by which", f"{PROGRAM} roster class.csv"],
}


@pytest.mark.parametrize("form", NEEDED)
def test_a_table_that_leaves_everyone_out_is_refused_with_what_the_roster_needs(
    tmp_path, monkeypatch, capsys, form
):
    monkeypatch.chdir(tmp_path)
    course = small_course(tmp_path)
    with course.gradebook() as gradebook:
        gradebook.add_student("zoe")
    with_grades(course, {"zoe": (3.0, 0.5)})
    (tmp_path / "canvas.csv").write_text(CANVAS, encoding="utf-8")
    (tmp_path / "x.csv").write_text("grades of before")
    assert main(["export", *form.split(), "--out", "x.csv"]) == 1
    told = capsys.readouterr().err
    assert "x.csv was not written: nobody would be in it." in told
    assert "zoe." in told
    assert all(re.search(part, told) for part in NEEDED[form])
    assert (tmp_path / "x.csv").read_text() == "grades of before"


def test_plain_tables_have_status_and_points_by_lesson_and_by_exercise(course):
    rows = export(course, "csv")
    lines = {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[1:]}
    assert set(lines) == {"ada", "b,en", "'=cleo", "dan", "dan2", "eve"}
    assert lines["ada"]["score"] == "3.5"
    assert (lines["eve"]["status"], lines["eve"]["score"]) == ("not submitted", "")
    parts = export(course, "csv", "--per-exercise")
    assert ["ada", "predict_sum", "0.5"] in [[row[0], row[5], row[10]] for row in parts]


def test_points_of_a_lab_are_exported_where_the_class_counts_them_or_names_it(course, capsys):
    lab, texts = "01b_doubling", course.root / "solutions"
    (texts / f"{lab}.py").write_bytes((texts / f"{LESSON}.py").read_bytes())
    with_grades(course, {"ada": (1.0, 0.0)}, lab)
    assert {row[4] for row in export(course, "csv")[1:]} == {LESSON}
    assert f"Left out, as a lab is extra: {lab}." in capsys.readouterr().out
    assert {row[4] for row in export(course, "csv", "--lesson", lab)[1:]} == {lab}
    (course.root / "course.toml").write_text("labs = true")
    assert {row[4] for row in export(course, "csv")[1:]} == {LESSON, lab}
    assert "Left out" not in capsys.readouterr().out


def test_a_late_penalty_lowers_the_score_that_is_exported(course):
    with course.gradebook() as gradebook:
        gradebook.find_submission(LESSON, "ada").notebooks[0].late_submission_penalty = 1.0
        gradebook.db.commit()
    assert export(course, "canvas", "--template", "canvas.csv")[2][-1] == "2.5"


def test_a_table_is_closed_to_other_users(course):
    export(course, "csv")
    path = course.folder / "private" / "out.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_not_canvas_gradebook_is_refused(course, capsys):
    arguments = ["export", "canvas", "--out", "x.csv", "--template", "roster.csv"]
    assert main(arguments) == 1
    assert "not Canvas's gradebook" in capsys.readouterr().err


def test_before_anything_is_graded_an_export_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    small_course(tmp_path)
    assert main(["export", "csv", "--out", "x.csv"]) == 1
    assert "Nothing is graded yet" in capsys.readouterr().err


# --- Feedback ---------------------------------------------------------------------------------

DOWNLOADS = {
    "canvas": ("lovelaceada_LATE_11_101_01_doubling-1.ipynb", "muellerdan_15_102_Untitled.ipynb"),
    "moodle": (
        "Ada Lovelace_71_assignsubmission_file/Untitled.ipynb",
        "Dan Müller_75_assignsubmission_file_01_doubling.ipynb",
    ),
}


@pytest.mark.parametrize("system", DOWNLOADS)
def test_feedback_goes_back_to_those_whose_files_were_collected(course, system, capsys):
    entries = DOWNLOADS[system]
    archive = write_zip(course.folder / "all.zip", dict.fromkeys(entries, notebook()))
    assert main(["collect", system, str(archive)]) == 0
    page = course.feedback / "ada" / LESSON / f"{LESSON}.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>for ada")
    assert main(["export", "feedback-zip", "--lesson", LESSON, "--out", "back.zip"]) == 0
    with zipfile.ZipFile("back.zip") as back:
        (name,) = back.namelist()
        assert back.read(name) == b"<p>for ada"
    (ours,), (theirs,) = READERS[system](name), READERS[system](entries[0])
    assert (ours.name, ours.key, ours.order[0]) == (theirs.name, theirs.key, theirs.order[0])
    assert name.endswith(".html")
    assert "No page yet for 1 student, run make grade: dan2" in capsys.readouterr().out


def test_a_page_lies_where_moodle_looks_for_it_in_both_shapes():
    folder, flat = DOWNLOADS["moodle"]
    ada, dan = (answer_to("moodle", LESSON, entry) for entry in (folder, flat))
    assert ada == f"Ada Lovelace_71_assignsubmission_file/{LESSON}.html"
    assert dan == f"Dan Müller_75_assignsubmission_file_{LESSON}.html"


def test_a_page_answers_who_handed_in_whatever_the_file_was_called():
    entry = f"Ada Lovelace_71_assignsubmission_file_{DOWNLOADS['moodle'][1]}"
    page = answer_to("moodle", LESSON, entry)
    assert page == f"Ada Lovelace_71_assignsubmission_file_{LESSON}.html"


def test_without_hand_ins_from_a_download_there_is_nothing_to_answer(course, capsys):
    assert main(["export", "feedback-zip", "--lesson", LESSON, "--out", "back.zip"]) == 1
    assert "none were collected here" in capsys.readouterr().err


def test_an_id_that_differs_by_case_and_is_in_no_roster_is_left_out_and_told(course, capsys):
    rows = export(course, "csv")
    with course.gradebook() as gradebook:
        gradebook.add_student("ADA")
    capsys.readouterr()
    assert export(course, "csv") == rows
    told = capsys.readouterr().out
    assert "differs only by case: ADA. If the roster's is wrong, correct it" in told
    export(course, "canvas", "--template", "canvas.csv")
    assert "differs only by case: ADA." in capsys.readouterr().out


def test_without_a_roster_ids_that_differ_by_case_are_two_students(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    course = small_course(tmp_path)
    with course.gradebook() as gradebook:
        gradebook.add_student("ada")
        gradebook.add_student("ADA")
    with_grades(course, {"ada": (3.0, 0.5), "ADA": (0.0, 0.0)})
    rows = export(course, "csv", "--lesson", LESSON)
    assert [row[0] for row in rows] == ["student", "ADA", "ada"]
