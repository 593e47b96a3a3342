"""Reports on a class and on each student."""

import errno
import json
import re
from dataclasses import replace
from importlib.util import find_spec
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

from grader.cli import main
from grader.course.graded_copies import NOT_ENTERED
from grader.course.roster_file import ROSTER
from grader.errors import CourseError
from grader.pages import reports
from grader.pages.charts import histogram, stacked_bar
from grader.pages.reports import write_reports
from grader.pages.similarity import own_code, similar_pairs
from tests.course.lesson_runs import ROOT
from tests.unit.grader.pages.graded_class import (
    LESSON,
    NO_SCALING,
    ROW_MISSED,
    TOTAL,
    stub,
    wrong,
)

ATTEND, MASK = "scaled_dot_product_attention", "padding_mask"
NOT_WRITTEN = [("attend", 3), (ATTEND, 5), ("SelfAttention", 4), ("test_attention", 3)]
needs_copydetect = pytest.mark.skipif(
    find_spec("copydetect") is None, reason="copydetect is not installed"
)


def test_what_an_interrupted_run_had_not_entered_is_left_out_and_told(made):
    made.add("ada")
    (made.add("ben").parent / NOT_ENTERED).touch()
    path, unread = write_reports(made.course, [made.lesson], made.course.book())
    assert unread == [
        f"ben's {LESSON} is left out: its grading was interrupted; run make grade",
    ]
    assert "ben" not in path.read_text(encoding="utf-8")


def test_where_the_report_may_not_be_written_both_rights_and_room_are_named(made, monkeypatch):
    def refuses(*_arguments):
        raise PermissionError(errno.EACCES, "Permission denied")

    made.add("ada")
    monkeypatch.setattr(reports, "write_whole", refuses)
    with pytest.raises(CourseError, match=r"may write there and that the disk has room, then run"):
        write_reports(made.course, [made.lesson], made.course.book())


def report(made):
    path, unread = write_reports(made.course, [made.lesson], made.course.book())
    assert unread == []
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def words(node):
    return " ".join(node.get_text(" ").split())


def part(page, heading):
    """What stands between a heading and the next one."""
    start = page.find(["h2", "h3"], string=heading)
    found = []
    for node in start.find_next_siblings():
        if node.name in ("h2", "h3"):
            break
        found.append(words(node))
    return " ".join(found)


@pytest.fixture
def six(made):
    """Three share a cause, two another; one left much undone, one timed out."""
    for student in ("ada", "ben", "cleo"):
        made.add(student, wrong(ATTEND, 5, NO_SCALING))
    for student in ("dan", "eve"):
        made.add(student, wrong(MASK, 1, ROW_MISSED))
    made.add("finn", *(stub(*exercise) for exercise in NOT_WRITTEN), status="timed out",
             notes=("Grading stopped at the time limit.",))  # fmt: skip
    return made


def test_causes_are_counted_the_most_frequent_first_with_hints_and_names(six):
    causes = [words(item) for item in report(six).select("ol.causes li")]
    assert causes == [
        f"3 students , {ATTEND} : The scores are not divided. Hint, and who Look at sqrt . "
        "ada , ben , cleo",
        f"2 students , {MASK} : The last row is missed. Hint, and who Count them. dan , eve",
    ]


def test_each_exercise_has_its_distribution(six):
    row = report(six).find("code", string=ATTEND).find_parent("tr")
    assert row.svg["aria-label"] == "2 right, 3 wrong, 1 not written"
    assert "33%" in words(row)
    assert "1.67 of 5" in words(row)


def test_who_of_the_roster_handed_in_nothing_is_told_and_many_are_counted(six):
    assert "Nothing handed in" not in words(report(six))
    path = six.course.folder / ROSTER
    path.parent.mkdir()
    path.write_text(json.dumps([{"id": name} for name in ("ada", "zoe", "<b>")]))
    assert "Nothing handed in: <b>, zoe." in words(report(six))
    path.write_text(json.dumps([{"id": f"s{n:03}"} for n in range(100)]))
    told = words(report(six))
    assert "s018, s019, and 80 more." in told
    assert "s020" not in told


def test_who_is_stuck_where_is_told(six):
    assert f"finn {TOTAL - 15:g} of {TOTAL:g} attend , not written, and 3 more" in part(
        report(six), "Who is stuck where"
    )


def test_time_outs_are_told_with_their_notes(six):
    told = part(report(six), "Time-outs, crashes and notes")
    assert told == "finn : timed out. Grading stopped at the time limit."


def test_crashes_are_told_with_their_notes(made):
    made.add("ada")
    made.add("ben", *(stub(*exercise) for exercise in NOT_WRITTEN), status="crashed",
             notes=("Python itself ended.",))  # fmt: skip
    told = part(report(made), "Time-outs, crashes and notes")
    assert told == "ben : crashed. Python itself ended."


def test_hard_exercises_are_named_and_without_first_tries_nothing_is_said_of_them(six):
    told = part(report(six), "Who is stuck where")
    assert f"Fewer than half of the class now have these right: {ATTEND} (33%)." in told
    assert "first try" not in told  # none is recorded


def test_first_tries_are_counted_beside_what_holds_now(made):
    """Who had it right at first, wrong at first and mended, never right, never written."""
    for student, share in (("ada", 1.0), ("ben", 0.5), ("cleo", 0.0)):
        made.add(student, first_tries={ATTEND: share, MASK: 1.0})
    made.add("dan", *(stub(*exercise) for exercise in NOT_WRITTEN), first_tries={MASK: 0.0})
    page = report(made)
    columns = [words(cell) for cell in page.select_one("section.lesson table").select("thead th")]
    at = columns.index("At first try")
    row = page.find("code", string=ATTEND).find_parent("tr")
    assert words(row.find_all(["th", "td"])[at]) == "33% of 3"
    told = part(page, "Who is stuck where")
    assert f"Fewer than half had these right at the first try: {ATTEND} (33% of 3)." in told
    assert "now have these right" not in told  # three of four have it by now


def test_a_cause_that_two_share_is_shown_for_a_person_to_judge(six):
    told = part(report(six), "Similar answers")
    assert "not findings" in told
    assert f"dan , eve : {MASK} , The last row is missed." in told
    assert "ada , ben" not in told


def test_a_wrong_answer_without_a_cause_is_counted(made):
    made.add("ada", wrong(ATTEND, 5))
    row = report(made).find("code", string=ATTEND).find_parent("tr")
    assert words(row).endswith("1")


def test_a_failure_of_the_grader_counts_nowhere_but_among_statuses(made):
    made.add("ada")
    made.add("ben", *(stub(*exercise) for exercise in NOT_WRITTEN), status="grader error")
    page = report(made)
    assert f"1 notebook with a score; median {TOTAL:g} of {TOTAL:g}" in page.get_text()
    assert "ben : grader error" in part(page, "Time-outs, crashes and notes")


def test_each_student_has_a_page_that_says_what_is_next(six):
    report(six)
    path = six.course.folder / "report" / "students" / "ada.html"
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    assert "The scores are not divided. Look at sqrt" in words(page.find("ol"))
    row = page.select_one("table").find("code", string=ATTEND).find_parent("tr")
    assert "wrong 0 of 5 The scores are not divided." in words(row)


def test_every_link_of_the_class_leads_to_a_page(six):
    page = report(six)
    folder = six.course.folder / "report"
    links = {a["href"] for a in page.select("a[href^=students]")}
    assert len(links) == 6
    assert all((folder / link).is_file() for link in links)


def test_an_odd_id_and_hostile_code_stay_text(made):
    made.add("a b&<i>", wrong(ATTEND, 5), sources={ATTEND: "<script>x</script>"}, notes=("<b>",))
    page = report(made)
    assert page.find(["script", "i"]) is None
    link = page.select_one("a[href^=students]")
    assert link.text == "a b&<i>"
    assert link["href"] == "students/a%20b%26%3Ci%3E.html"


def test_ids_as_long_as_a_folder_may_be_called_have_pages_of_their_own(made):
    ids = [f"{'é' * 125}{end}" for end in "ab"] + ["c" * 255, "d" * 200]
    for student in ids:
        made.add(student, stub(ATTEND, 5), status="timed out")
    links = {a["href"] for a in report(made).select("a[href^=students]")}
    folder = made.course.folder / "report"
    assert len(links) == len(ids)
    assert f"students/{'d' * 200}.html" in links
    assert all((folder / unquote(link)).is_file() for link in links)


def test_a_copy_that_cannot_be_read_is_named_and_the_others_are_reported(made):
    made.add("ada")
    made.add("ben").write_text("{")
    _, unread = write_reports(made.course, [made.lesson], made.course.book())
    assert unread == [
        "ben's 02_attention is left out: its graded copy cannot be read; grade it again with "
        "--regrade"
    ]


def test_with_nothing_graded_a_sentence_says_what_to_do(made):
    with pytest.raises(CourseError, match="run make grade"):
        write_reports(made.course, [made.lesson], made.course.book())


def test_without_copydetect_the_page_says_how_to_get_it(six, monkeypatch):
    monkeypatch.setattr(reports, "can_compare", lambda: False)
    assert "pip install -c constraints.txt copydetect" in part(report(six), "Similar answers")


ANSWER = """def attend(q, k, v):
    scores = torch.einsum("btd,bsd->bts", q, k) / math.sqrt(q.shape[-1])
    weights = stable_softmax(scores.masked_fill(~mask, float("-inf")))
    return weights @ v, weights
"""
OTHER = "def attend(q, k, v):\n    return F(q)\n" + "".join(f"    x{i} = [{i}]\n" for i in range(9))


@needs_copydetect
def test_a_renamed_copy_is_a_pair_and_independent_code_is_not():
    renamed = ANSWER.replace("scores", "s").replace("weights", "probabilities")
    pairs = similar_pairs({"ada": ANSWER, "ben": OTHER, "cleo": renamed})
    assert [pair.students for pair in pairs] == [("ada", "cleo")]
    assert min(pairs[0].shares) > 0.9
    assert "".join(text for text, _ in pairs[0].codes[1]) == renamed


@needs_copydetect
def test_what_was_given_to_all_makes_no_pair(made):
    cells = json.loads(made.lesson.release_path.read_text(encoding="utf-8"))["cells"]
    given = {cell["id"]: "".join(cell["source"]) for cell in cells}
    for student in ("ada", "ben"):
        made.add(student, wrong("repaired_attention", 1), sources=given)
    assert "No pair has much code in common" in part(report(made), "Similar answers")


@needs_copydetect
def test_who_handed_in_the_published_text_is_named(made):
    solution = next(e.source for e in made.lesson.exercises if e.id == ATTEND)
    made.add("ada", wrong(ATTEND, 5), sources={ATTEND: ANSWER})
    assert "published text" not in report(made).text
    made.add("ben", sources={ATTEND: f"# mine\n{solution}"})
    told = report(made).find("p", string=re.compile("published text")).find_next("ul")
    assert told.text.split() == ["ben:", ATTEND]


def test_a_pair_is_shown_side_by_side(made):
    for student in ("ada", "ben"):
        made.add(student, wrong(ATTEND, 5), sources={ATTEND: ANSWER})
    pair = report(made).select_one("details.pair")
    assert words(pair.summary) == "ada and ben: 100% and 100% in common"
    assert len(pair.select("pre mark")) >= 2


def test_own_code_leaves_out_what_was_given():
    given = {"f": "def f(x):\n    raise NotImplementedError"}
    assert own_code({"f": "def f(x):\n    return x", "g": ""}, given) == "# f\n    return x"


def test_a_bars_parts_are_as_wide_as_their_counts():
    svg = BeautifulSoup(stacked_bar({"right": 3, "wrong": 1, "partly": 0}), "html.parser")
    assert [float(rect["width"]) for rect in svg.find_all("rect")] == [180, 60]


def test_a_histogram_counts_a_full_score_in_the_last_tenth():
    svg = BeautifulSoup(histogram([1.0, 0.95, 0.0]), "html.parser").svg
    assert svg["aria-label"].endswith("0 to 10%: 1; 90 to 100%: 2")


def test_the_command_refuses_a_lesson_that_is_not_there(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["report", "02_attenton"]) == 2
    assert "Did you mean 02_attention?" in capsys.readouterr().err


def test_the_command_writes_and_says_where(six, monkeypatch, capsys):
    monkeypatch.setattr(
        "grader.commands.report.GradingCourse", lambda *_: replace(six.course, root=ROOT)
    )
    monkeypatch.chdir(ROOT)
    assert main(["report", LESSON]) == 0
    assert str(six.course.folder / "report" / "class.html") in capsys.readouterr().out
