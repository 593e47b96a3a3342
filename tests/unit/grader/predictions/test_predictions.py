"""Predictions that are handed in: written, read, scored, entered as extra credit."""

import csv
import json
import random
import shutil
import tracemalloc
from dataclasses import replace

import pytest

from bench.tagging_contest import contest_on_czech
from bench.tagging_search import FILE as SEARCH
from grader.authoring.lesson import lessons
from grader.authoring.notebook import source_notebook
from grader.calendar.deadlines import Row, as_utc, set_deadlines
from grader.cli import main
from grader.commands.predictions import assess, handed_in, table
from grader.course.course import GradingCourse
from grader.judging.outcome import without_run
from grader.nbgrader_plugins.export import StatusExportPlugin
from grader.predictions.reading import MOST_FAULTS, MOST_HANDED_IN, Faulty, read_predictions
from grader.predictions.record import HOME, LESSON
from grader.predictions.scoring import BEST, Examination, Level, examine
from grader.recording.graded import Graded
from grader.recording.recording import record
from tests.course.lesson_runs import ROOT
from tests.unit.grader.odd_files import as_ordinary_user, open_to_all, opening_fails
from tests.unit.utils.treebank.test_loader import put
from utils.experiments.recorded import recorded
from utils.published import CZECH
from utils.treebank import loader
from utils.treebank.loader import made_up_treebank, tags_of
from utils.treebank.predictions import FILE, write_predictions

TAGGED = [["NOUN|Nom", "VERB"], [], ["ADP|Loc", "NOUN|Loc", "PUNCT"]]
SIZES = [2, 0, 3]
TRUTH = [[("pes", "NOUN|Nom"), ("štěká", "VERB")], [], [("v", "ADP|Loc"), ("dešti", "NOUN|Loc"),
         (".", "PUNCT")]]  # fmt: skip
LEVELS = (Level("chance", 0.2), Level("a look-up table", 0.6), Level("a network", 0.8))
EXAMINATION = Examination("made up here", TRUTH, LEVELS)


def file_of(folder, content):
    path = folder / FILE
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def faults_of(path, sizes=SIZES):
    with pytest.raises(Faulty) as caught:
        read_predictions(path, sizes)
    return caught.value.faults


def test_what_is_written_is_read_again(tmp_path):
    path = write_predictions(tmp_path, TAGGED)
    assert path == tmp_path / FILE
    assert read_predictions(path, SIZES) == TAGGED
    assert read_predictions(write_predictions(tmp_path / "own.txt", TAGGED), SIZES) == TAGGED


@pytest.mark.parametrize("tag", ["", "NOUN Nom", "NOUN\n", None, 3])
def test_what_is_no_tag_is_not_written(tmp_path, tag):
    with pytest.raises(ValueError, match="sentence 1"):
        write_predictions(tmp_path, [["VERB"], ["VERB", tag]])
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    "content",
    ["A B\n\nC D E\n", "A B\n\nC D E", "A B\r\n\r\nC D E\r\n", "\ufeffA  B\n \nC\tD E\n"],
)
def test_line_ends_and_spaces_of_any_system_are_read(tmp_path, content):
    assert read_predictions(file_of(tmp_path, content), SIZES) == [["A", "B"], [], ["C", "D", "E"]]


def test_a_last_sentence_without_words_has_its_line(tmp_path):
    path = write_predictions(tmp_path, [["A"], []])
    assert read_predictions(path, [1, 0]) == [["A"], []]
    assert faults_of(path, [1]) == ("2 lines, and there are 1 test sentences",
                                    )  # fmt: skip


def test_every_faulty_line_is_told_by_its_number(tmp_path):
    path = file_of(tmp_path, "A\nB\nC D E\nF\n")
    assert faults_of(path) == (
        "4 lines, and there are 3 test sentences",
        "line 1: 1 tags, and the sentence has 2 words",
        "line 2: 1 tags, and the sentence has 0 words",
    )


def test_of_many_faults_the_first_are_told_and_the_rest_counted(tmp_path):
    faults = faults_of(file_of(tmp_path, "A\n" * 30), [2] * 30)
    assert len(faults) == MOST_FAULTS + 1
    assert faults[-1] == "and 20 more"


def test_a_file_that_is_no_text_too_large_or_no_file_is_faulty(tmp_path):
    assert faults_of(file_of(tmp_path, b"A B\n\nC \xff E\n")) == ("line 3: not UTF-8 text",)
    assert "larger than" in faults_of(file_of(tmp_path, b"A " * (MOST_HANDED_IN // 2 + 1)))[0]
    (tmp_path / "folder").mkdir()
    assert faults_of(tmp_path / "folder") == ("it is no plain file",)
    link = tmp_path / "link.txt"
    link.symlink_to(write_predictions(tmp_path, TAGGED))
    assert faults_of(link) == ("it is no plain file",)
    assert faults_of(tmp_path / "nothing.txt") == ("it is no plain file",)


@pytest.mark.parametrize(
    ("changed", "share", "points"),
    [(0, "100.0%", 3), (1, "80.0%", 2), (3, "40.0%", 1), (5, "0.0%", 0)],
)
def test_each_level_that_is_exceeded_is_a_point(tmp_path, changed, share, points):
    wrong = [tag for tags in TAGGED for tag in tags]
    wrong[:changed] = ["X"] * changed
    path = write_predictions(tmp_path, [wrong[:2], [], wrong[2:]])
    hand_in = assess(path, EXAMINATION)
    assert hand_in.points == points
    told = table(EXAMINATION, {"ada": hand_in}, [])
    assert ("nearly perfect: ask how it was made" in told) == (changed == 0)
    assert f"{share} of the words are right" in hand_in.message
    assert f"Extra credit: {points} of 3." in hand_in.message


@pytest.mark.parametrize(("changed", "is_marked"), [(0, 1), (0.015, 1), (0.05, 1), (0.2, 0)])
def test_right_tags_with_a_few_changed_are_marked_as_no_tagger_reaches_them(
    tmp_path, changed, is_marked
):
    examination = examine(made_up_treebank("for a test"))
    draw = random.Random(3)
    tags = [[tag for _, tag in sentence] for sentence in examination.test]
    mixed = [["X" if draw.random() < changed else tag for tag in line] for line in tags]
    hand_in = assess(write_predictions(tmp_path, mixed), examination)
    told = table(examination, {"ada": hand_in}, [])
    assert told.count("above the best known tagger") == is_marked


@pytest.mark.parametrize(
    ("found", "margin"),
    [
        (contest_on_czech(json.loads(SEARCH.read_text())), 0.015),
        (recorded("tagging_contest")[0], 0.005),
    ],
    ids=["Czech", "English"],
)
def test_of_all_recorded_taggers_none_is_marked_and_a_little_more_is(found, margin):
    endings = max(found["with endings"]["overall"])
    best = max(share for tagger in found.values() for share in tagger["overall"])
    bound = endings + BEST * (1 - endings)
    assert best < bound < best + margin


def test_a_faulty_file_gets_no_points_and_its_author_is_told_the_line(tmp_path):
    hand_in = assess(file_of(tmp_path, "A B\n\nC D\n"), EXAMINATION)
    assert hand_in.points == 0
    assert "costs nothing: line 3: 2 tags, and the sentence has 3 words." in hand_in.message


def test_levels_rise_from_the_look_up_tables_to_what_is_known():
    treebank = made_up_treebank("for a test")
    examination = examine(treebank)
    shares = [level.share for level in examination.levels]
    assert shares == sorted(shares)
    right = sum(len(sentence) for sentence in treebank.test)
    assert examination.share(tags_of(treebank.test)) == 1
    assert examination.points(1.0) == len(shares) == 5
    assert examination.points(0.0) == 0
    # Without context nobody can reach the third level; with context the fifth is reached easily.
    assert shares[1] < treebank.ceilings.without_context < shares[2]
    assert shares[4] < treebank.ceilings.with_context - 0.1
    assert right > 5000


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course with three graded submissions of the lesson, nothing right in any."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for name in ("solutions", "notebooks", "utils"):
        (folder / name).symlink_to(ROOT / name)
    course = GradingCourse(ROOT, folder)
    (lesson,) = lessons(ROOT, [LESSON])
    course.record(lesson)
    outcome = replace(without_run(lesson, "graded", ""), status="graded")
    data = json.dumps(source_notebook(lesson)).encode()
    record(course, [Graded(name, lesson, data, outcome, "") for name in ("ada", "ben", "cleo")])
    return course


@pytest.fixture
def own(graded, monkeypatch):
    monkeypatch.chdir(graded.folder)
    monkeypatch.setenv("COURSE_DATA", "made-up")
    yield graded
    shutil.rmtree(graded.folder / "submitted", ignore_errors=True)


def hand_in(course, student, tagged):
    folder = course.folder / "submitted" / student / LESSON
    folder.mkdir(parents=True)
    return write_predictions(folder, tagged)


def entered(course):
    """Student -> (extra credit, comment)."""
    with course.gradebook() as gradebook:
        return {
            s.student.id: (
                next(g.extra_credit for n in s.notebooks for g in n.grades
                     if g.name == f"test_{HOME}"),
                next(c.auto_comment for n in s.notebooks for c in n.comments if c.name == HOME),
            )
            for s in gradebook.find_assignment(LESSON).submissions
        }  # fmt: skip


def test_points_and_words_reach_the_gradebook_the_page_and_the_export(own, capsys):
    truth = tags_of(made_up_treebank("for a test").test)
    hand_in(own, "ada", truth)
    hand_in(own, "ben", truth[:-1])
    hand_in(own, "dora", truth)
    assert main(["predictions"]) == 0
    told = capsys.readouterr().out
    assert "ada   Your predictions: 100.0% of the words are right" in told
    assert "dora" in told.splitlines()[-1]
    assert "not graded yet" in told.splitlines()[-1]
    found = entered(own)
    assert {student: credit for student, (credit, _) in found.items()} == {
        "ada": 5,
        "ben": 0,
        "cleo": None,
    }
    assert "399 lines, and there are 400 test sentences" in found["ben"][1]
    page = own.folder / "feedback" / "ada" / LESSON / f"{LESSON}.html"
    assert "Extra credit: 5 of 5" in page.read_text()
    assert exported(own) == {"ada": 5, "ben": 0, "cleo": 0}


def exported(course):
    path = course.folder / "grades.csv"
    with course.gradebook() as gradebook:
        StatusExportPlugin(to=str(path), assignment=[LESSON]).export(gradebook)
    with path.open(newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def test_a_second_run_enters_the_same_and_clears_what_is_no_longer_handed_in(own):
    truth = tags_of(made_up_treebank("for a test").test)
    path = hand_in(own, "ada", truth)
    assert main(["predictions"]) == 0
    before = entered(own)["ada"]
    assert main(["predictions"]) == 0
    assert entered(own)["ada"] == before
    path.unlink()
    hand_in(own, "ben", truth)
    assert main(["predictions"]) == 0
    assert entered(own)["ada"][0] is None
    assert entered(own)["ben"][0] == 5


def test_grading_again_keeps_the_points(own):
    hand_in(own, "cleo", tags_of(made_up_treebank("for a test").test))
    assert main(["predictions"]) == 0
    (lesson,) = lessons(ROOT, [LESSON])
    outcome = replace(without_run(lesson, "graded", ""), status="graded")
    record(own, [Graded("cleo", lesson, b"", outcome, "")])
    assert entered(own)["cleo"][0] == 5


def test_points_of_a_late_hand_in_lose_their_share_at_once(own):
    set_deadlines(own, [Row(LESSON, as_utc("2026-12-01 12:00+00:00"))])
    with own.gradebook() as gradebook:
        late = as_utc("2026-12-02 11:00+00:00")  # a day begun
        gradebook.find_submission(LESSON, "ben").timestamp = late
        gradebook.db.commit()
    hand_in(own, "ben", tags_of(made_up_treebank("for a test").test))
    assert main(["predictions"]) == 0
    assert exported(own)["ben"] == pytest.approx(0.9 * 5)


def test_nothing_handed_in_needs_no_treebank(own, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_DATA", "/no/such/folder")
    assert main(["predictions"]) == 0
    assert "Nobody has handed in" in capsys.readouterr().out


def test_a_made_up_language_nobody_asked_for_costs_nobody_points(own, monkeypatch, capsys):
    hand_in(own, "ada", [["A"]])
    before = entered(own)
    monkeypatch.delenv("COURSE_DATA")
    monkeypatch.setattr(
        "utils.treebank.loader.load_treebank", lambda *_: made_up_treebank("no network")
    )
    assert main(["predictions"]) == 1
    assert "could not be fetched" in capsys.readouterr().err
    assert entered(own) == before


def test_a_class_that_tagged_czech_is_scored_on_czech(own, tmp_path, monkeypatch, capsys):
    put(tmp_path / "ud/UD_English-EWT", "en_ewt", train=5, dev=1, test=1)
    put(tmp_path / "ud/UD_Czech-CAC", "cs_cac", train=5, dev=1, test=3)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "ud"))
    hand_in(own, "ada", [["NOUN|Gen", "PUNCT"]] * 3)
    assert main(["predictions"]) == 0
    assert "could not be scored" in capsys.readouterr().out
    assert main(["predictions", "--treebank", "Czech-CAC"]) == 0
    assert "ada  Your predictions: 100.0%" in capsys.readouterr().out


def test_a_treebank_that_cannot_be_fetched_is_told_in_a_sentence(own, monkeypatch, capsys):
    hand_in(own, "ada", [["A"]])
    monkeypatch.delenv("COURSE_DATA")
    nowhere = replace(CZECH, address="http://127.0.0.1:9", place="none")
    monkeypatch.setattr(loader, "CZECH", nowhere)
    assert main(["predictions", "--treebank", "Czech-CAC"]) == 1
    assert "The test sentences could not be loaded" in capsys.readouterr().err


def test_data_that_is_not_there_is_told_in_a_sentence(own, monkeypatch, capsys):
    hand_in(own, "ada", [["A"]])
    monkeypatch.setenv("COURSE_DATA", "/no/such/folder")
    assert main(["predictions"]) == 1
    assert "The test sentences could not be loaded" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_told_and_changes_no_points(own, monkeypatch, capsys):
    truth = tags_of(made_up_treebank("for a test").test)
    hand_in(own, "ada", truth)
    assert main(["predictions"]) == 0
    before = entered(own)
    hand_in(own, "ben", truth)
    capsys.readouterr()
    opening_fails(monkeypatch, FILE, below="submitted/ada")
    assert main(["predictions"]) == 1
    told = capsys.readouterr().out
    path = own.folder / "submitted" / "ada" / LESSON / FILE
    assert f"Not scored: {path} cannot be read (Permission denied). Give yourself" in told
    assert "ben  Your predictions: 100.0%" in told
    assert entered(own)["ada"] == before["ada"]
    assert entered(own)["ben"][0] == 5


def test_where_no_file_can_be_read_nobodys_points_change(own, monkeypatch, capsys):
    hand_in(own, "ada", tags_of(made_up_treebank("for a test").test))
    assert main(["predictions"]) == 0
    before = entered(own)
    opening_fails(monkeypatch, FILE)
    assert main(["predictions"]) == 1
    assert "Not scored: " in capsys.readouterr().out
    assert entered(own) == before


@pytest.mark.parametrize("closed", [".", LESSON])
def test_predictions_in_a_folder_without_rights_count_as_handed_in(tmp_path, closed):
    with open_to_all() as place:

        def look():
            home = place / "submitted" / "ada"
            (home / LESSON).mkdir(parents=True)
            write_predictions(home / LESSON, TAGGED)
            (place / "submitted" / "ben" / LESSON).mkdir(parents=True)
            (home / closed).chmod(0)
            (place / "found").write_text(repr(list(handed_in(GradingCourse(ROOT, place)))))
            home.chmod(0o700)
            (home / LESSON).chmod(0o700)

        as_ordinary_user(look)
        assert (place / "found").read_text() == "['ada']"


def test_a_file_in_a_linked_folder_is_not_read(tmp_path):
    (tmp_path / "theirs").mkdir()
    write_predictions(tmp_path / "theirs", TAGGED)
    (tmp_path / "mine").symlink_to(tmp_path / "theirs")
    path = tmp_path / "mine" / "predictions.txt"
    assert faults_of(path) == ("it is no plain file",)


def test_a_file_of_line_ends_takes_no_more_memory_than_its_text(tmp_path):
    path = file_of(tmp_path, b"\n" * (2 << 20))
    tracemalloc.start()
    try:
        assert faults_of(path)[0].startswith("2097152 lines")
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
