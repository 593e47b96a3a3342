"""Downloads of each system's shape, collected by the command as an instructor calls it."""

import csv
import json
import stat
from datetime import timedelta

import pytest
from nbgrader.utils import parse_utc

from grader.cli import main
from tests.unit.grader.lms.downloads import (
    DUE,
    LESSON,
    NOON,
    ROSTER,
    Item,
    notebook,
    small_course,
    write_zip,
)  # fmt: skip

FIRST, SECOND = notebook("first = 1"), notebook("second = 2")
CANVAS_ADA = "lovelaceada_11_101_01_doubling.ipynb"


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return small_course(tmp_path)


def collect(course, items, system="canvas", *options):
    """Collect a download with these files; the exit code."""
    archive = write_zip(course.folder / "all.zip", items)
    return main(["collect", system, str(archive), "--roster", "roster.csv", *options])


def handed_in(course, student, name=f"{LESSON}.ipynb"):
    return (course.folder / "submitted" / student / LESSON / name).read_bytes()


def time_of(course, student):
    text = (course.folder / "submitted" / student / LESSON / "timestamp.txt").read_text()
    return parse_utc(text)


def students(course):
    return sorted(path.name for path in (course.folder / "submitted").glob("*"))


def newest(course):
    """The folder with what the last download left over."""
    return max((course.folder / "lms" / "unmatched").glob("*"), key=lambda p: p.stat().st_mtime_ns)


def reasons(course):
    """Entry -> (reason, name of the kept file) of what was left over."""
    with (newest(course) / "reasons.csv").open(encoding="utf-8", newline="") as file:
        return {row[0]: (row[1], row[2]) for row in list(csv.reader(file))[1:]}


def kept(course, entry):
    folder = newest(course)
    return (folder / reasons(course)[entry][1]).read_bytes()


def due(course, when=DUE):
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=when)


# --- Canvas -----------------------------------------------------------------------------------


def test_canvas_files_reach_the_students_of_the_roster_by_their_user_ids(course):
    code = collect(course, {
        CANVAS_ADA: FIRST,
        "oneillbjorn_12_102_01_doubling.ipynb": SECOND,
        "muellerdan_15_103_01_doubling.ipynb": FIRST,
    })  # fmt: skip
    assert code == 0
    assert students(course) == ["ada", "b,en", "dan2"]
    assert handed_in(course, "b,en") == SECOND
    assert time_of(course, "ada") == NOON.replace(tzinfo=None)


@pytest.mark.parametrize(
    "name", ["01_doubling-1.ipynb", "01_doubling (1).ipynb", "Untitled1.ipynb", "Ünï cöde, 2.IPYNB"]
)
def test_a_notebook_counts_whatever_it_is_called(course, name):
    assert collect(course, {f"lovelaceada_11_101_{name}": FIRST}) == 0
    assert handed_in(course, "ada") == FIRST


def test_of_several_attempts_the_newest_counts_and_the_older_is_kept(course):
    later = "lovelaceada_11_205_01_doubling-1.ipynb"
    code = collect(course, {later: SECOND, CANVAS_ADA: Item(FIRST, NOON + timedelta(hours=1))})
    assert code == 0
    assert handed_in(course, "ada") == SECOND
    assert "older than 01_doubling-1.ipynb" in reasons(course)[CANVAS_ADA][0]
    assert kept(course, CANVAS_ADA) == FIRST


def test_what_canvas_calls_late_is_late_and_all_else_is_not_whatever_the_files_times(course):
    due(course)
    after = NOON + timedelta(days=3)
    collect(course, {
        "lovelaceada_LATE_11_101_x.ipynb": Item(FIRST, NOON),
        "oneillbjorn_LATE_12_102_x.ipynb": Item(FIRST, after),
        "muellerdan_14_103_x.ipynb": Item(FIRST, after),
    })  # fmt: skip
    assert time_of(course, "ada") == parse_utc(DUE) + timedelta(seconds=1)
    assert time_of(course, "b,en") == time_of(course, "ada")
    assert time_of(course, "dan") == parse_utc(DUE)


def test_a_deadline_that_is_entered_later_makes_the_same_download_late(course):
    late = {"lovelaceada_LATE_11_101_x.ipynb": FIRST}
    collect(course, late)
    due(course)
    collect(course, late)
    assert time_of(course, "ada") == parse_utc(DUE) + timedelta(seconds=1)


def test_an_unchanged_file_keeps_its_time_in_a_later_download(course, capsys):
    collect(course, {CANVAS_ADA: FIRST})
    assert collect(course, {CANVAS_ADA: Item(FIRST, NOON + timedelta(days=5))}) == 0
    assert time_of(course, "ada") == NOON.replace(tzinfo=None)
    assert "1 collected already" in capsys.readouterr().out


def test_a_later_resubmission_replaces_the_earlier_one_which_is_kept(course):
    due(course)
    collect(course, {CANVAS_ADA: Item(FIRST, NOON + timedelta(days=1))})  # both are on time, so
    again = "lovelaceada_11_300_01_doubling-1.ipynb"  # both times are the deadline's
    collect(course, {again: Item(SECOND, NOON + timedelta(days=1))})
    assert handed_in(course, "ada") == SECOND
    (old,) = (course.folder / "lms" / "replaced" / LESSON / "ada").glob(f"*/{LESSON}.ipynb")
    assert old.read_bytes() == FIRST


def test_an_older_download_never_replaces_a_newer_hand_in(course, capsys):
    collect(course, {"lovelaceada_11_300_x-1.ipynb": SECOND})
    assert collect(course, {CANVAS_ADA: Item(FIRST, NOON - timedelta(days=1))}) == 0
    assert handed_in(course, "ada") == SECOND
    assert kept(course, CANVAS_ADA) == FIRST
    assert "not newer" in capsys.readouterr().out


def test_a_newer_hand_in_that_came_through_the_exchange_stays(course):
    folder = course.folder / "submitted" / "ada" / LESSON
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.ipynb").write_bytes(SECOND)
    (folder / "timestamp.txt").write_text("2026-11-23 09:00:00.123456 UTC")
    collect(course, {CANVAS_ADA: FIRST})
    assert handed_in(course, "ada") == SECOND


def test_a_user_whom_the_roster_does_not_have_is_listed_and_kept(course, capsys):
    stranger = "doejane_99_400_01_doubling.ipynb"
    assert collect(course, {stranger: FIRST, CANVAS_ADA: FIRST}) == 1
    assert students(course) == ["ada"]
    assert "nobody in the roster is doejane (Canvas's user 99)" in reasons(course)[stranger][0]
    assert kept(course, stranger) == FIRST
    assert stranger in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["x_12", "oneillbjorn_12_7_y", "oneillbjorn_12_7_y_LATE", "x_12_oneillbjorn_12_7"]
)
def test_a_canvas_name_with_anothers_number_takes_nobodys_place(course, name):
    disguised = f"{name}_11_101_01_doubling.ipynb"
    assert collect(course, {disguised: FIRST}) == 1
    assert students(course) == []
    assert "can be read in several ways: as one of b,en, ada" in reasons(course)[disguised][0]


def test_a_canvas_name_that_hides_its_mark_is_listed(course):
    hidden = "lovelaceada_11_7_y_LATE_11_101_01_doubling.ipynb"
    assert collect(course, {hidden: FIRST}) == 1
    assert students(course) == []


@pytest.mark.parametrize("file", ["101_01_12_x.ipynb", "101_2_3_4_x.ipynb", "12_01_doubling.ipynb"])
def test_numbers_in_a_files_name_do_not_take_it_to_another(course, file):
    assert collect(course, {f"lovelaceada_11_{file}": FIRST}) == 0
    assert students(course) == ["ada"]


def test_a_student_without_a_canvas_id_is_found_by_a_name_that_leaves_no_choice(course):
    assert collect(course, {"nobodyeve_98_400_x.ipynb": FIRST}) == 0
    assert students(course) == ["eve"]


def test_two_users_who_claim_one_name_are_both_listed_and_neither_is_taken(course):
    one, two = "nobodyeve_98_400_x.ipynb", "nobodyeve_97_401_x.ipynb"
    assert collect(course, {one: FIRST, two: SECOND}) == 1
    assert students(course) == []
    assert {kept(course, one), kept(course, two)} == {FIRST, SECOND}
    assert "several" in reasons(course)[one][0]


def test_students_of_whom_nothing_came_are_listed(course, capsys):
    collect(course, {CANVAS_ADA: FIRST})
    assert "Nothing from 5 students: =cleo, b,en, dan, dan2, eve" in capsys.readouterr().out
    assert reasons(course)["'=cleo"][0] == "nothing of this student is in the download"


# --- Moodle -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["{}_assignsubmission_file/{}", "{}_assignsubmission_file_{}"])
def test_moodle_files_reach_students_by_participant_in_both_shapes(course, shape):
    code = collect(course, {
        shape.format("Ada Lovelace_71", "Untitled1.ipynb"): FIRST,
        shape.format("Dan Müller_75", "01_doubling.ipynb"): SECOND,
    }, "moodle")  # fmt: skip
    assert code == 0
    assert students(course) == ["ada", "dan2"]
    assert handed_in(course, "dan2") == SECOND


def test_without_participants_moodles_full_names_decide_and_equal_names_do_not(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    bare = "\n".join(row.rpartition(",")[0] for row in ROSTER.splitlines())
    course = small_course(tmp_path, bare)
    one, two = (f"Dan Müller_{n}_assignsubmission_file/x.ipynb" for n in (501, 502))
    code = collect(course, {
        "Björn O'Neill_500_assignsubmission_file/x.ipynb": FIRST,
        "group 3-Lovelace Ada_503_assignsubmission_file/x.ipynb": FIRST,
        one: FIRST, two: SECOND,
    }, "moodle")  # fmt: skip
    assert code == 1
    assert students(course) == ["ada", "b,en"]
    assert "several students have this name" in reasons(course)[one][0]
    assert {kept(course, one), kept(course, two)} == {FIRST, SECOND}


def test_of_moodles_notebooks_the_newest_by_time_counts_and_lateness_follows_the_deadline(course):
    due(course)
    folder = "Ada Lovelace_71_assignsubmission_file"
    after = NOON + timedelta(days=1)
    collect(
        course,
        {f"{folder}/b.ipynb": Item(SECOND, after), f"{folder}/a.ipynb": Item(FIRST, NOON)},
        "moodle",
    )
    assert handed_in(course, "ada") == SECOND
    assert time_of(course, "ada") == after.replace(tzinfo=None)


BENS = "Björn O'Neill_72_assignsubmission_file_01_doubling.ipynb"


@pytest.mark.parametrize(
    "entry",
    [
        f"Ada Lovelace_71_assignsubmission_file_{BENS}",
        f"Ada Lovelace_71_assignsubmission_file_-{BENS}",
        f"Ada Lovelace_71_assignsubmission_file/{BENS}",
        f"Ada Lovelace_71_assignsubmission_file/{BENS.replace('file_', 'file/')}",
    ],
)
def test_whose_a_file_is_says_moodle_and_not_the_name_that_a_student_gave_it(course, entry):
    assert collect(course, {BENS: FIRST, entry: Item(SECOND, NOON + timedelta(1))}, "moodle") == 0
    assert handed_in(course, "b,en") == FIRST
    assert handed_in(course, "ada") == SECOND


def test_without_participants_too_moodles_own_part_decides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bare = "\n".join(row.rpartition(",")[0] for row in ROSTER.splitlines())
    course = small_course(tmp_path, bare)
    entry = f"Eve Nobody_79_assignsubmission_file_-{BENS.replace('72', '1')}"
    assert collect(course, {entry: FIRST}, "moodle") == 0
    assert students(course) == ["eve"]


def test_a_file_of_another_kind_of_moodles_is_nobodys_notebook(course):
    entry = f"Ada Lovelace_71_assignsubmission_onlinetext/{BENS}"
    assert collect(course, {entry: FIRST}, "moodle") == 1
    assert students(course) == []
    assert "not one that Moodle gives" in reasons(course)[entry][0]


# --- Files that are no hand-in ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.ipynb", b"{", "not JSON"),
        ("x.ipynb", b"[]", "has no list of cells"),
        ("x.ipynb", b"[" * 100_000, "not JSON"),
        ("x.ipynb", notebook("x = 1", name="split_heads"), "none of the course's cells"),
        ("work.zip", b"PK\x03\x04 and more", "archive in the archive"),
        ("x.ipynb", b"\x1f\x8b zipped", "archive in the archive"),
    ],
)
def test_what_is_no_notebook_of_a_lesson_is_listed_kept_and_stops_no_other(
    course, name, content, reason
):
    entry = f"oneillbjorn_12_102_{name}"
    assert collect(course, {entry: content, CANVAS_ADA: FIRST}) == 1
    assert reason in reasons(course)[entry][0]
    assert kept(course, entry) == content
    assert students(course) == ["ada"]


@pytest.mark.parametrize(
    "name", ["日" * 75 + ".ipynb", "é" * 110 + ".ipynb", "\U0001d49c" * 55 + ".ipynb"]
)
def test_a_name_that_is_long_in_bytes_is_listed_kept_and_stops_no_other(course, name):
    entry = f"x/oneillbjorn_12_102_{name}"
    assert collect(course, {entry: b"x", CANVAS_ADA: FIRST}) == 1
    assert kept(course, entry) == b"x"
    assert students(course) == ["ada"]


def test_cells_are_known_by_their_own_ids_too(course):
    own = json.loads(FIRST)
    own["cells"][0] |= {"id": "double", "metadata": {}}
    data = json.dumps(own).encode()
    assert collect(course, {CANVAS_ADA: data}) == 0
    assert handed_in(course, "ada") == data


def test_a_lesson_that_does_not_exist_is_refused_with_those_that_do(course, capsys):
    assert collect(course, {CANVAS_ADA: FIRST}, "canvas", "--lesson", "02_attention") == 2
    assert "There are: 01_doubling." in capsys.readouterr().err
    assert not (course.folder / "submitted").exists()


def test_without_any_student_known_the_roster_is_asked_for(course, capsys):
    archive = write_zip(course.folder / "all.zip", {CANVAS_ADA: FIRST})
    assert main(["collect", "canvas", str(archive)]) == 1
    assert "--roster" in capsys.readouterr().err


def test_the_roster_is_remembered_and_the_gradebook_has_the_students(course):
    collect(course, {})
    archive = write_zip(course.folder / "all.zip", {CANVAS_ADA: FIRST})
    assert main(["collect", "canvas", str(archive)]) == 0
    with course.gradebook() as gradebook:
        ben = gradebook.find_student("b,en")
        assert (ben.first_name, ben.last_name, ben.lms_user_id) == ("Björn", "O'Neill", "12")


def test_nothing_that_was_collected_is_open_to_others(course):
    collect(course, {CANVAS_ADA: FIRST, "x_1_2_y.ipynb": FIRST})
    for name in ("submitted", "lms"):
        assert stat.S_IMODE((course.folder / name).stat().st_mode) == 0o700
    assert stat.S_IMODE((course.folder / "gradebook.db").stat().st_mode) & 0o077 == 0


def test_a_link_in_place_of_a_students_folder_is_not_followed(course):
    (course.folder / "elsewhere").mkdir()
    (course.folder / "submitted").mkdir()
    (course.folder / "submitted" / "ada").symlink_to(course.folder / "elsewhere")
    assert collect(course, {CANVAS_ADA: FIRST}) == 1
    assert list((course.folder / "elsewhere").iterdir()) == []
    assert kept(course, CANVAS_ADA) == FIRST
