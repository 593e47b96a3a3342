"""Feedback pages: what they show, when they are written anew, and what cannot get into them."""

import hashlib
import json
import os
from datetime import UTC, timedelta

import msgspec
import pytest
from bs4 import BeautifulSoup
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from grader.course.hand_in_files import note_unread
from grader.course.hand_in_time import Came, Note
from grader.pages.feedback import without_page, write_feedback
from tests.unit.grader.pages.graded_class import (
    DUE,
    LESSON,
    NO_SCALING,
    ROW_MISSED,
    TOTAL,
    comment_on,
    grade_of,
    stub,
    wrong,
)
from utils.checks.exercise import Case
from utils.checks.verdict import CaseResult, Finding, Verdict

ATTEND = "scaled_dot_product_attention"  # 5 points


def written(made, student="ada"):
    write_feedback(made.course, [(student, LESSON)], made.course.book())
    return BeautifulSoup(made.page(student).read_text(encoding="utf-8"), "html.parser")


def words(node):
    return " ".join(node.get_text().split())


def facts(page):
    return {words(dt): words(dt.find_next("dd")) for dt in page.select(".facts dt")}


def row(page, exercise):
    found = page.find("nav").find("a", href=f"#{exercise}").find_parent("tr")
    return " ".join(words(cell) for cell in found.find_all(["th", "td"]))


def test_a_page_says_who_handed_in_what_when_and_what_it_earned(made):
    made.add("ada", wrong(ATTEND, 5, NO_SCALING), when=DUE - timedelta(hours=2), first_name="Ada L")
    page = written(made)
    assert words(page.h1) == "02 · Attention: looking back directly"
    assert words(page.header).endswith(f"Ada L (ada) {TOTAL - 5:g} of {TOTAL:g} points")
    assert facts(page) == {
        "Handed in": "20 November 2026, 10:00 (UTC)",
        "Due": "20 November 2026, 12:00 (UTC)",
        "Lateness": "on time",
        "Status": "graded",
    }
    assert row(page, ATTEND) == f"{ATTEND} wrong 0 of 5"
    assert row(page, "attend") == "attend right 3 of 3"


def test_who_wrote_in_another_cell_is_not_shown_the_stub_as_their_code(made):
    released = json.loads(made.lesson.release_path.read_text(encoding="utf-8"))["cells"]
    given = next("".join(cell["source"]) for cell in released if cell["id"] == ATTEND)
    made.add("ada", sources={ATTEND: given})
    made.add("bob", sources={ATTEND: "def mine(): ..."})
    made.add("cyd", stub(ATTEND, 5), sources={ATTEND: given})
    pages = {student: words(written(made, student).find(id=ATTEND)) for student in ("ada", "bob")}
    assert "stands in another cell" in pages["ada"]
    assert "NotImplementedError" not in pages["ada"]
    assert "stands in another cell" not in pages["bob"]
    assert "def mine()" in pages["bob"]
    assert "stands in another cell" not in words(written(made, "cyd"))


def test_late_work_shows_how_late_it_is_and_what_that_costs(made):
    made.add("ada", when=DUE + timedelta(days=2, hours=3))

    def penalise(submission):
        submission.notebooks[0].late_submission_penalty = 4.4

    made.change("ada", penalise)
    page = written(made)
    assert facts(page)["Lateness"] == "2 days 3 hours late: 4.4 points off"
    assert f"{TOTAL - 4.4:g} of {TOTAL:g} points" in words(page.header)


@pytest.mark.parametrize(
    ("mark", "handed_in", "lateness"),
    [
        (True, "after the lesson was due for all", "late (the day is not known)"),
        (False, "by 20 November 2026, 12:00 (UTC)", "on time"),
    ],
)
def test_of_a_file_from_canvas_a_page_says_no_more_than_what_is_known(
    made, mark, handed_in, lateness
):
    due = DUE.replace(tzinfo=UTC)
    came = Came(due + timedelta(days=40), False, due, mark)
    made.add("ada", when=came.time.replace(tzinfo=None))
    notes = made.course.folder / "lms" / "canvas" / f"{LESSON}.json"
    notes.parent.mkdir(parents=True)
    notes.write_bytes(msgspec.json.encode({"ada": Note().of(came)}))
    told = facts(written(made))
    assert (told["Handed in"], told["Lateness"]) == (handed_in, lateness)


def test_an_extension_moves_the_due_date_and_is_named(made):
    made.add("ada", when=DUE + timedelta(days=2))

    def extend(submission):
        submission.extension = timedelta(days=3)

    made.change("ada", extend)
    told = facts(written(made))
    assert told["Due"] == "23 November 2026, 12:00 (UTC)"
    assert told["Lateness"] == "on time, with an extension of 3 days"


def test_a_wrong_exercise_shows_both_causes_hints_what_was_seen_and_the_code(made):
    made.add("ada", wrong(ATTEND, 5, NO_SCALING, ROW_MISSED), sources={ATTEND: "my = 'code'"})
    part = written(made).find(id=ATTEND)
    assert part.name == "article"
    text = words(part)
    assert "What this usually means: The scores are not divided." in text
    assert "Where to look: Look at sqrt." in text
    assert "And: The last row is missed." in text
    assert "Case “plain”: 3 of 4 entries differ. x[0]: expected 1, got 2" in text
    assert part.select_one("details.code:not([open]) pre").get_text() == "my = 'code'"
    assert part.select_one("a[href$='02_attention.ipynb#cell-id=scaled_dot_product_attention']")


def half_right(exercise, points, *, simplest_fails=False):
    """Of two cases of the idea one fails; of what is also asked one of two is missed."""
    finding = Finding("values", "x", "3 of 4 entries differ.")
    results = (
        CaseResult(Case("plain", required=True), finding if simplest_fails else None),
        CaseResult(Case("large"), finding),
        CaseResult(Case("an empty row", demand="an empty row"), None),
        CaseResult(Case("float64", demand="float64"), finding),
    )
    return Verdict(exercise, results, points=points)


def test_a_page_says_how_points_come_about(made):
    made.add("ada", half_right(ATTEND, 5))
    text = words(written(made).find(id=ATTEND))
    assert "Extra demands not met: float64." in text
    assert (
        "The cases of the main task earn 2.5 of 5 points, and 0.25 of these are lost with the "
        "extra demands." in text
    )


def test_where_nothing_is_earned_nobody_is_told_what_else_was_asked(made):
    made.add("ada", half_right(ATTEND, 5, simplest_fails=True))
    text = words(written(made).find(id=ATTEND))
    assert "float64 " not in text.partition("✓")[0]
    assert "Extra demands" not in text
    assert "The cases of the idea" not in text


def test_what_is_right_is_folded(made):
    made.add("ada")
    page = written(made)
    assert page.find("article") is None
    folded = page.select("details.right:not([open])")
    assert [part["id"] for part in folded] == [x.id for x in made.lesson.exercises]


def test_an_untouched_exercise_is_called_not_written_and_shows_no_code(made):
    made.add("ada", stub(ATTEND, 5), sources={ATTEND: "raise NotImplementedError"})
    page = written(made)
    assert row(page, ATTEND) == f"{ATTEND} not written 0 of 5"
    assert "NotImplementedError" not in str(page)


def test_an_instructors_score_and_comment_count_and_are_shown(made):
    made.add("ada", wrong(ATTEND, 5, NO_SCALING))

    def judge(submission):
        grade_of(submission, ATTEND).manual_score = 3.5
        grade_of(submission, "attend").extra_credit = 1
        comment_on(submission, ATTEND).manual_comment = "Nearly.\nAsk me <b>."
        comment_on(submission, "attend").manual_comment = "Elegant."

    made.change("ada", judge)
    page = written(made)
    assert f"{TOTAL - 5 + 3.5 + 1:g} of {TOTAL:g} points" in words(page.header)
    text = words(page.find(id=ATTEND))
    assert "Your instructor: Nearly. Ask me <b>." in text
    assert "Your instructor gave 3.5 of 5 points; the grader 0." in text
    right = page.find(id="attend")
    assert right.has_attr("open")
    assert "Elegant." in words(right)
    assert "Extra credit: 1" in words(right)


def test_our_own_failure_shows_no_score(made):
    made.add("ada", status="grader error")
    page = written(made)
    assert "no score yet" in words(page.header)
    assert "not your fault" in words(page.main)


def test_what_is_told_of_the_whole_notebook_is_not_repeated_at_each_exercise(made):
    printed = {"output_type": "stream", "name": "stdout", "text": "It is no notebook.\n"}
    other = printed | {"text": "Only here.\n"}
    notes = ("It is no notebook.",)
    made.add("ada", status="malformed", notes=notes, extra_outputs=(printed, other))
    said = words(written(made))
    assert said.count("It is no notebook.") == 1
    assert said.count("Only here.") > 1


def test_the_notes_on_a_notebook_are_shown(made):
    made.add("ada", status="timed out", notes=("Grading stopped at the time limit.",))
    page = written(made)
    assert facts(page)["Status"] == "timed out"
    assert "Grading stopped at the time limit." in words(page.select_one("section.notice"))


ODD = "<img src=x>`.py"


def test_what_else_was_handed_in_is_named_on_the_page(made):
    made.add("ada")
    note_unread(made.course.folder, "ada", LESSON, ["data.csv", ODD])  # not collected
    beside = made.course.folder / "submitted" / "ada" / LESSON  # put there by hand
    beside.mkdir(parents=True, exist_ok=True)
    (beside / "helper.py").touch()
    (beside / "timestamp.txt").touch()
    notice = written(made).select_one("section.notice")
    assert f"and not read by grading: {ODD}, data.csv, helper.py. What is to" in words(notice)
    assert notice.img is None
    made.add("ben")
    assert "not read by grading" not in words(written(made, "ben"))


def test_a_page_is_written_anew_when_something_else_was_handed_in(made):
    made.add("ada")
    write_feedback(made.course, [("ada", LESSON)], made.course.book())
    note_unread(made.course.folder, "ada", LESSON, ["data.csv"])
    assert without_page(made.course, [("ada", LESSON)], made.course.book()) == [("ada", LESSON)]
    note_unread(made.course.folder, "ada", LESSON, [])
    assert without_page(made.course, [("ada", LESSON)], made.course.book()) == []


def test_of_many_other_files_the_first_are_named(made):
    made.add("ada")
    note_unread(made.course.folder, "ada", LESSON, [f"{n:04}" for n in range(5000)])
    assert "0006, 0007, and more." in words(written(made))


def set_score(submission):
    grade_of(submission, ATTEND).manual_score = 2


def set_extra(submission):
    grade_of(submission, ATTEND).extra_credit = 2


def set_comment(submission):
    comment_on(submission, ATTEND).manual_comment = "See me."


def extend(submission):
    submission.extension = timedelta(days=1)


def penalise(submission):
    submission.notebooks[0].late_submission_penalty = 1


def rename(submission):
    submission.student.last_name = "Lovelace"


CHANGES = [set_score, set_extra, set_comment, extend, penalise, rename]


@pytest.mark.parametrize("edit", CHANGES, ids=lambda edit: edit.__name__)
def test_a_change_in_the_gradebook_makes_that_students_page_stale_alone(made, edit):
    both = [("ada", LESSON), ("ben", LESSON)]
    for student, _ in both:
        made.add(student)
    assert without_page(made.course, both, made.course.book()) == both
    write_feedback(made.course, both, made.course.book())
    assert without_page(made.course, both, made.course.book()) == []
    made.change("ada", edit)
    assert without_page(made.course, both, made.course.book()) == [("ada", LESSON)]
    write_feedback(made.course, [("ada", LESSON)], made.course.book())
    assert without_page(made.course, both, made.course.book()) == []


def test_another_due_date_makes_every_page_stale(made):
    both = [("ada", LESSON), ("ben", LESSON)]
    for student, _ in both:
        made.add(student)
    write_feedback(made.course, both, made.course.book())
    with made.course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=DUE + timedelta(days=1))
    assert without_page(made.course, both, made.course.book()) == both


def test_another_graded_copy_makes_its_page_stale(made):
    made.add("ada")
    write_feedback(made.course, [("ada", LESSON)], made.course.book())
    made.add("ada", wrong(ATTEND, 5))
    assert without_page(made.course, [("ada", LESSON)], made.course.book()) == [("ada", LESSON)]


def test_a_touched_copy_of_the_same_content_is_no_change(made):
    path = made.add("ada")
    write_feedback(made.course, [("ada", LESSON)], made.course.book())
    later = made.page("ada").stat().st_mtime + 100
    os.utime(path, (later, later))
    assert without_page(made.course, [("ada", LESSON)], made.course.book()) == []


def test_a_submission_that_is_not_graded_gets_no_page(made):
    assert without_page(made.course, [("ada", LESSON)], made.course.book()) == []
    write_feedback(made.course, [("ada", LESSON)], made.course.book())
    assert not made.page("ada").exists()


def test_nothing_half_written_is_left_beside_a_page(made):
    made.add("ada")
    write_feedback(made.course, [("ada", LESSON)], made.course.book())
    assert [path.name for path in made.page("ada").parent.iterdir()] == [f"{LESSON}.html"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # its open files
def test_nbgrader_releases_the_page_to_its_owner(made):
    made.add("ada")
    sent = made.course.folder / "submitted" / "ada" / LESSON
    sent.mkdir(parents=True)
    (sent / "timestamp.txt").write_text("2026-11-20 10:00:00.000000 UTC")
    (sent / "submission_secret.txt").write_text("5e" * 64)
    write_feedback(made.course, [("ada", LESSON)], made.course.book())
    config = made.course.converter_config(LESSON)
    config.Exchange.root = str(made.course.folder / "exchange")
    (made.course.folder / "exchange").mkdir(mode=0o777)
    coursedir = CourseDirectory(config=config)
    ExchangeFactory(config=config).ReleaseFeedback(coursedir=coursedir, config=config).start()
    name = hashlib.md5(("5e" * 64 + LESSON).encode()).hexdigest()
    released = list((made.course.folder / "exchange").glob(f"*/feedback/{name}.html"))
    assert [path.read_bytes() for path in released] == [made.page("ada").read_bytes()]


HOSTILE = "</code></pre><script>alert(1)</script><img src=https://example.org/x onerror=x>"


def test_nothing_of_a_students_text_becomes_markup(made):
    output = {"output_type": "stream", "text": HOSTILE}
    made.add("ada", wrong(ATTEND, 5), sources={ATTEND: HOSTILE}, notes=(HOSTILE,),
             extra_outputs=(output,), first_name=HOSTILE)  # fmt: skip
    page = written(made)
    assert page.find("script") is None
    assert page.find("img") is None
    assert HOSTILE in page.find(id=ATTEND).get_text()


def test_a_page_tells_the_browser_to_load_and_run_nothing(made):
    made.add("ada")
    policy = written(made).find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none'")


@pytest.mark.parametrize("text", ["a." * 50_000, "`" * 10**5, "\n" * 10**5, "<" * 10**5])
def test_a_huge_text_anywhere_leaves_the_page_small(made, text):
    output = {"output_type": "stream", "text": text}
    error = {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]}
    made.add("ada", wrong(ATTEND, 5), sources={ATTEND: text}, notes=(text,) * 3,
             extra_outputs=(output, error))  # fmt: skip
    written(made)
    assert made.page("ada").stat().st_size < 2_000_000


def test_a_hidden_tests_line_is_not_shown_wherever_it_was_printed(made):
    source = next(x.test_source for x in made.lesson.exercises if x.id == ATTEND)
    line = next(line.strip() for line in source.splitlines() if "case=" in line)
    error = {"output_type": "error", "ename": "AssertionError", "evalue": line, "traceback": []}
    printed = {"output_type": "stream", "text": f"before\n{line}\nafter"}
    made.add("ada", wrong(ATTEND, 5), extra_outputs=(error, printed))
    text = written(made).get_text()
    assert line not in text
    assert "before" in text
    assert "not shown: part of the hidden tests" in text


def test_a_tests_source_is_not_shown(made):
    made.add("ada", wrong(ATTEND, 5))
    assert "the test" not in written(made).find(id=ATTEND).get_text()
