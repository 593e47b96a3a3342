"""A user's mistake is answered with what to do next: no command shows a traceback."""

import errno
import io
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing

import pytest
from sqlalchemy.exc import OperationalError

from grader.cli import COMMANDS, STOPPED, main
from grader.errors import PROGRAM
from tests.unit.course_files import ROOT
from tests.unit.grader.lms.downloads import small_course

HELP = f"What can follow: {PROGRAM} {{}} --help"
OPTIONS = f"Options: {PROGRAM} {{}} --help"
MOST_SENTENCES = 3
NEEDED = {  # what a command does not run without
    "collect": "canvas x.zip --roster roster.csv",
    "export": "csv --out x",
}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small course with a gradebook, a roster and a student's folder, as the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "submitted" / "ada" / "01_doubling").mkdir(parents=True)
    return small_course(tmp_path)


def told(capsys, words):
    """The exit code of a command line, and all that it printed."""
    try:
        code = main(words.split())
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr()
    return code, said.out + said.err


def reads_well(code, said):
    """Whether an answer is a refusal in one to three sentences."""
    first = said.partition("\n")[0]
    ends = re.findall(r"[.?:](?: |$)", re.sub(r"\([^)]*\)", "", first))
    assert code in (1, 2), said
    assert "Traceback" not in said
    assert "Errno" not in re.sub(r"\([^)]*\)", "", said)
    assert 1 <= len(ends) <= MOST_SENTENCES + 1, first  # a colon may stand before a command
    return True


NUMBER = "write a whole number above 0"
UNKNOWN_LESSON = "There is no lesson '01_dubling'. Did you mean 01_doubling?"
MISTAKES = {
    "grad": "There is no command 'grad'. Did you mean grade?",
    **dict.fromkeys(
        ("release_assignment", "generate_assignment", "assign"),
        "bundle hands lessons out to students, and release hands feedback back to them. What each",
    ),
    "release_feedback": "Did you mean release?",
    "zzz": f"What each does: {PROGRAM} --help",
    "": f"Something is missing: COMMAND. What can follow: {PROGRAM} --help",
    **{f"{verb} --forse": f"There is no option --forse.*{OPTIONS.format(verb)}" for verb in COMMANDS
       if verb not in ("collect", "export")},
    **{f"{verb} 01_dubling": UNKNOWN_LESSON for verb in
       ("build", "autograde", "grade", "release", "report", "fingerprints")},
    **{f"{verb} too many": f"one too many. {HELP.format(verb)}" for verb in
       ("teach", "predictions", "bundle", "demo", "archive")},
    **{f"{verb} --jobs {n}": f"--jobs: {NUMBER}, not '{n}'" for verb in
       ("grade", "autograde", "demo") for n in ("x", "0", "-3", "1.5", "²")},
    **{f"{verb} --limits {text}": f"--limits '{text}' is no limit. Write wall=60" for verb in
       ("grade", "autograde", "demo") for text in ("x", "wall=0", "wall=-1", "cpu=²", "time=3")},
    **{f"{verb} --cluster {text}": f"--cluster {told}" for verb in ("grade", "autograde", "demo")
       for text, told in (("local:0", "'local:0': after local: comes a number of workers."),
                          ("here", "'here' is no address. Write local:N"),
                          ("tcp://127.0.0.1:86", "'tcp://127.0.0.1:86' is not encrypted by TLS"))},
    "grade --cluster": "--cluster needs a value after it",
    "autograde --cluster tls://127.0.0.1:9": "No scheduler answers at tls://127.0.0.1:9.*Start one",
    "grade --engine nbgrader --cluster local:2": "leave out --cluster",
    "grade --jobs": "--jobs needs a value after it",
    "grade --engine slow": "--engine 'slow' is unknown. There are: fast, nbgrader.",
    "grade --student zoe": "There is no student 'zoe'. There are: ",
    "grade --student adaa": "Did you mean ada?",
    "release --student adaa": "Did you mean ada?",
    "autograde --student adaa": "Did you mean ada?",
    "build --forze": f"no option --forze. Did you mean --force? {OPTIONS.format('build')}",
    "teach --port x": f"--port: {NUMBER}",
    "teach --port 99999": "--port: ports end at 65535",
    "deadlines nofile.csv": "nofile.csv cannot be read (No such file or directory). Check its name",
    "deadlines .": "Check its name, then run the same command",
    "deadlines gradebook.db": "Save it as CSV in UTF-8",
    "deadlines roster.csv": "has no columns lesson and due. Write a row for each lesson",
    "roster nofile.csv": "nofile.csv cannot be read (No such file or directory). Check its name",
    "roster gradebook.db": "Save it as CSV in UTF-8",
    "roster a.csv b.csv": f"b.csv is one too many. {HELP.format('roster')}",
    "collect": f"Something is missing: SYSTEM (canvas, moodle), ZIP. {HELP.format('collect')}",
    "collect canvs x.zip": "SYSTEM 'canvs' is unknown. Did you mean canvas?",
    "collect canvas": "Something is missing: ZIP.",
    "collect canvas x.zip --roster no.csv": "Check its name, then run the same command",
    "collect canvas x.zip --roster gradebook.db": "Save it as CSV in UTF-8",
    "collect canvas x.zip --roster roster.csv": "There is no file x.zip. Give the ZIP file",
    "collect canvas roster.csv --roster roster.csv": "Download it again",
    "collect canvas . --roster roster.csv": "cannot be read as a ZIP file",
    "collect canvas x.zip --lesson 01_dubling": UNKNOWN_LESSON,
    "export": "Something is missing: FORM (canvas, moodle, csv, feedback-zip), --out. "
              f"{HELP.format('export')}",
    "export csv": "Something is missing: --out.",
    "export cvs --out x": "FORM 'cvs' is unknown. Did you mean csv?",
    "export csv --out x": "Nothing is graded yet, so there is nothing to export: run make grade.",
    "export csv --out x --lesson 01_dubling": UNKNOWN_LESSON,
    "export csv --out x --roster no.csv": "Check its name, then run the same command",
    "export feedback-zip --out x": f"{PROGRAM} collect canvas|moodle ZIP",
    "report": "Nothing is graded yet, so there is nothing to report: run make grade.",
    "demo": "01_doubling is not built yet. Run make build, then the same command.",
    "bundle": "make bundle needs a clone of the course",
}  # fmt: skip


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_told_in_a_few_sentences_with_what_to_do(course, capsys, words):
    code, said = told(capsys, words)
    assert reads_well(code, said)
    parts = MISTAKES[words].split(".*")
    assert all(part in said for part in parts), said


def test_what_a_cluster_needs_and_is_not_installed_is_named_with_the_extra(
    course, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    code, said = told(capsys, "autograde --cluster local:1")
    assert reads_well(code, said)
    assert "needs cryptography, which is not installed" in said
    assert "'.[grader,cluster]'" in said


@pytest.mark.parametrize("target", ["grade", "release", "report", "build"])
def test_make_hands_a_lesson_on_so_that_a_misspelt_one_is_told(target):
    shown = ["make", "-n", target, "LESSON=02_atention", "ARGS=--help"]
    done = subprocess.run(shown, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"-m grader {target} 02_atention --help" in done.stdout


def test_collect_without_a_roster_asks_for_one(course, capsys):
    (course.folder / "gradebook.db").unlink()
    code, said = told(capsys, "collect canvas x.zip")
    assert reads_well(code, said)
    assert "Give the class once, with --roster" in said


@pytest.mark.parametrize("verb", COMMANDS)
def test_help_says_what_a_command_does_in_lines_that_fit(course, capsys, verb):
    code, said = told(capsys, f"{verb} --help")
    assert code == 0
    assert COMMANDS[verb][1].lower() in " ".join(said.lower().split())
    assert max(map(len, said.splitlines())) <= 100


def test_the_help_of_bundle_tells_of_the_classs_settings(course, capsys):
    _, said = told(capsys, "bundle --help")
    assert 'course.toml may say where students hand in: submit = "Moodle' in " ".join(said.split())


def test_outside_a_course_every_command_says_where_to_go(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for verb in COMMANDS:
        code, said = told(capsys, f"{verb} {NEEDED.get(verb, '')}")
        assert reads_well(code, said)
        assert "Go to the course's folder, then run the same command" in said


def test_in_a_folder_whose_name_nbgrader_takes_for_a_pattern_that_is_told(
    course, tmp_path, monkeypatch, capsys
):
    (tmp_path / "class [1]").mkdir()
    (course.folder / "nbgrader_config.py").rename(tmp_path / "class [1]" / "nbgrader_config.py")
    monkeypatch.chdir(tmp_path / "class [1]")
    code, said = told(capsys, "roster")
    assert code == 1
    assert "Rename it, then run the same command" in said


SETTINGS = {
    "c.X.y = (\n": "nbgrader_config.py, line 1, cannot be used (SyntaxError",
    "\n\nunknown_name\n": "nbgrader_config.py, line 3, cannot be used (NameError",
    "c.X.y = 1 / 0\n": "nbgrader_config.py, line 1, cannot be used (ZeroDivisionError",
}
READ_SETTINGS = (
    "build", "autograde", "grade", "release", "deadlines", "collect", "export", "report", "teach",
    "roster", "archive",
)  # fmt: skip


@pytest.mark.parametrize("text", SETTINGS, ids=["syntax", "name", "division"])
@pytest.mark.parametrize("verb", READ_SETTINGS)
def test_settings_that_fail_are_told_with_their_line(course, capsys, verb, text):
    (course.folder / "nbgrader_config.py").write_text(text)
    code, said = told(capsys, f"{verb} {NEEDED.get(verb, '')}")
    assert reads_well(code, said.replace(str(course.folder), "."))
    assert SETTINGS[text] in said
    assert "Correct it, then run the same command" in said


@pytest.mark.parametrize("verb", ["deadlines", "collect", "export", "teach", "roster"])
def test_what_is_no_gradebook_is_told_with_where_copies_are(course, capsys, verb):
    (course.folder / "gradebook.db").write_text("grades, honestly\n" * 100)
    code, said = told(capsys, f"{verb} {NEEDED.get(verb, '')}")
    assert reads_well(code, said.replace(str(course.folder), "."))
    assert "put the newest copy of gradebook-backups/ in its place" in said


def change_gradebook(course, statement):
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as gradebook:
        gradebook.execute(statement)
        gradebook.commit()


def test_a_gradebook_of_a_later_version_is_left_alone(course, capsys):
    change_gradebook(course, "UPDATE alembic_version SET version_num = 'ffff00000000'")
    code, said = told(capsys, "deadlines")
    assert code == 1
    assert "is of a later version than nbgrader" in said
    assert "Use the nbgrader that it was written with" in said


def test_a_gradebook_without_a_column_is_told_as_refusing(course, capsys):
    change_gradebook(course, "ALTER TABLE student RENAME COLUMN email TO mail")
    code, said = told(capsys, "export csv --out x")
    assert reads_well(code, said)
    assert "The gradebook refused (no such column: student.email)" in said


def test_a_gradebook_that_another_program_holds_is_told(course, capsys):
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as other:
        other.execute("BEGIN EXCLUSIVE")
        code, said = told(capsys, "export csv --out x")
    assert reads_well(code, said.replace(str(course.folder), "."))
    assert "(database is locked). Close the program that holds it" in said


def test_due_dates_that_a_gradebook_does_not_take_are_told_without_a_traceback(
    course, capsys, caplog
):
    change_gradebook(
        course,
        "CREATE TRIGGER held BEFORE INSERT ON assignment "
        "BEGIN SELECT RAISE(ABORT, 'database is locked'); END",
    )
    (course.folder / "due.csv").write_text("lesson,due\n01_doubling,2026-12-01\n")
    code, said = told(capsys, "deadlines due.csv")
    assert reads_well(code, said)
    assert "The gradebook refused (database is locked). Close the program that holds it" in said
    assert not caplog.records


@pytest.mark.parametrize(
    ("reason", "helps"),
    [
        ("database or disk is full", "Make room, then"),
        ("attempt to write a readonly database", "Check that you may write it"),
        ("database disk image is malformed", "put the newest copy of gradebook-backups/"),
    ],
)
def test_what_a_gradebooks_file_refuses_is_told_with_what_helps(
    course, capsys, monkeypatch, reason, helps
):
    def refuses(*_arguments):
        raise OperationalError("INSERT", {}, Exception(reason))

    for place in ("commands.roster.run", "course.course.open_gradebook"):
        with monkeypatch.context() as patched:
            patched.setattr(f"grader.{place}", refuses)
            code, said = told(capsys, "roster")
        assert reads_well(code, said.replace(str(course.folder), "."))
        assert helps in said


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (".course", "grade"),
        (".course", "deadlines due.csv"),
        ("lms", "collect canvas x.zip --roster roster.csv"),
        ("gradebook-backups", "deadlines due.csv"),
    ],
)
def test_a_file_where_a_folder_should_be_is_named(course, capsys, name, words):
    (course.folder / "due.csv").write_text("lesson,due\n01_doubling,2026-12-01\n")
    (course.folder / name).write_text("not a folder")
    code, said = told(capsys, words)
    assert reads_well(code, said.replace(str(course.folder), "."))
    assert name in said


def test_where_names_are_not_read_as_utf_8_no_command_takes_a_student_for_another(
    course, capsys, monkeypatch
):
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "iso8859-1")
    code, said = told(capsys, "roster")
    assert reads_well(code, said)
    assert "read as iso8859-1 here" in said
    assert "export PYTHONUTF8=1" in said


def test_a_name_that_the_terminal_cannot_print_stops_no_command(course, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    (course.folder / "roster.csv").write_text("student_id\nZoë\n", encoding="utf-8")
    assert main(["roster", "roster.csv"]) == 0
    assert rb"Zo\xeb" in written.getvalue()


def test_output_that_nobody_reads_any_more_is_told_and_not_tried_again(course, monkeypatch, capsys):
    class Unread(io.StringIO):
        def flush(self):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", Unread())
    assert main(["roster"]) == 1
    assert (
        "The program that read this command's output (head, less, ...) ended"
        in capsys.readouterr().err
    )
    sys.stdout.flush()  # as Python does at its end


@pytest.mark.parametrize("zone", ["UTC+25", "ABC-24"])
def test_a_time_zone_further_away_than_a_day_is_told(course, capsys, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    code, said = told(capsys, "deadlines")
    monkeypatch.undo()
    time.tzset()
    assert reads_well(code, said)
    assert f"The time zone {zone}" in said


def test_a_full_disk_is_told_as_full(course, capsys, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    code, said = told(capsys, "collect canvas x.zip --roster roster.csv")
    assert reads_well(code, said)
    assert "The disk is full. Make room, then run the same command" in said


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "(ulimit -n 1024)"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "(ulimit -u)"),
        (MemoryError(), "The memory is used up"),
    ],
)
def test_what_a_process_lacks_is_told_with_how_it_can_have_more(
    course, capsys, monkeypatch, error, says
):
    def lacks(_arguments):
        raise error

    monkeypatch.setattr("grader.commands.report.run", lacks)
    code, said = told(capsys, "report")
    assert reads_well(code, said)
    assert says in said


def test_a_faulty_lesson_text_is_told_with_its_line(course, capsys):
    text = course.folder / "solutions" / "01_doubling.py"
    text.write_text(text.read_text() + '\n# %% exercise="x"\nx = 1\n')
    code, said = told(capsys, "build")
    assert code == 1
    assert re.search(r"^solutions/01_doubling\.py:\d+: ", said)
    assert "Traceback" not in said


def test_a_fault_of_ours_is_not_hidden(course, monkeypatch):
    def fails(_arguments):
        raise KeyError("ours")

    monkeypatch.setattr("grader.commands.report.run", fails)
    with pytest.raises(KeyError):
        main(["report"])


def test_stopping_by_hand_is_no_error_and_it_is_said_how_to_go_on(course, monkeypatch, capsys):
    def stopped(_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.commands.report.run", stopped)
    assert told(capsys, "report") == (130, f"{STOPPED}\n")
    assert "the same command does the rest" in STOPPED
