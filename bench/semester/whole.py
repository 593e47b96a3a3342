"""A semester of a made-up class, from the roster to the archive, by the commands themselves.

Lessons come by Canvas, by Moodle and through the exchange in turn; some hand in late, again or
nothing; an assistant changes scores by hand; an extension is granted; the first lesson changes in
mid-semester. After each step what must hold is asserted, so a figure is never that of a wrong run.

`python -m bench.semester --students 20 --lessons 3` runs a smaller one.
"""

import argparse
import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from bench.grading import peak
from bench.record import keep
from bench.semester.commands import Semester, exercises_of, look
from bench.semester.end import (
    hand_back,
    look_at_the_archive,
    look_at_the_backups,
    look_at_the_report,
    look_at_the_tables,
)
from bench.semester.people import (
    ROSTER_HEAD,
    HandIn,
    Student,
    due,
    hand_ins,
    put_into_exchange,
    way,
    write_download,
)
from grader.course.book import Record
from grader.course.wording import plural

ROOT: Final = Path(__file__).resolve().parents[2]
N_STUDENTS, N_LESSONS = 200, 7
# The change in mid-semester: the second exercise of lesson 00 is worth more, the third is given.
DEARER, GIVEN = "masked_mean", "pairwise_dot"
COMMENT: Final = "Well argued, and the idea is right."


def measure(n_students: int = N_STUDENTS, n_lessons: int = N_LESSONS) -> dict[str, Any]:
    """Run a semester; return its times and counts.

    Raises:
        AssertionError: something did not hold; the message says what.

    """
    start = time.perf_counter()
    with a_course(n_lessons) as (root, texts):
        semester = Semester(root, [Student(n) for n in range(n_students)], texts)
        begin(semester)
        for week in range(n_lessons):
            a_week(semester, week)
            if week == n_lessons // 2:
                change_the_first_lesson(semester)
        finish(semester)
        whole = time.perf_counter() - start
        return found(semester, whole)


@contextlib.contextmanager
def a_course(n_lessons: int) -> Iterator[tuple[Path, list[Path]]]:
    """Yield a copy of the course with its first lessons, as the working folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        shutil.copy(ROOT / "nbgrader_config.py", root)
        # A copy: a lesson that changes in the semester changes files below it.
        made = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "utils", root / "utils", ignore=made)
        for text in sorted((ROOT / "solutions").glob("*.py"))[:n_lessons]:
            for folder in ("solutions", "notebooks"):
                shutil.copytree(ROOT / folder / text.stem, root / folder / text.stem)
            shutil.copy(text, root / "solutions")
        os.chdir(root)
        try:
            yield root, sorted((root / "solutions").glob("*.py"))
        finally:
            os.chdir(before)


def begin(semester: Semester) -> None:
    """Write the roster and the due dates."""
    lines = [ROSTER_HEAD, *(student.roster_row for student in semester.students)]
    (semester.root / "roster.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = semester.verb("roster", "roster.csv")
    semester.hold(f"{len(semester.students)} students in the class" in told, told)
    dates = [f"{t.stem},{due(week):%Y-%m-%d %H:%M}+00:00" for week, t in enumerate(semester.texts)]
    (semester.root / "due.csv").write_text("\n".join(["lesson,due", *dates]) + "\n")
    told = semester.verb("deadlines", "due.csv")
    semester.hold(f"{plural(len(dates), 'row')} set" in told, told)


def a_week(semester: Semester, week: int) -> None:
    """Grade what comes by the due date, then what comes late or again; look at every score."""
    every = [hand_in for s in semester.students for hand_in in hand_ins(s, week)]
    first = [h for h in every if h.attempt == 0 and not h.seconds_late]
    semester.counts["hand-ins"] += len(every)
    hand_over(semester, week, first)
    grade_and_look(semester, week, {h.student.id: h for h in first})
    hand_over(semester, week, every)
    grade_and_look(semester, week, semester.sent(week))
    if week == 0:
        grade_by_hand(semester, week)
        grant_an_extension(semester, week)


def hand_over(semester: Semester, week: int, sent: list[HandIn]) -> None:
    """Bring hand-ins to the course, the way that the week's lesson comes."""
    text = semester.texts[week]
    if way(week) == "exchange":
        put_into_exchange(semester.root / ".course" / "exchange", text, sent)
        return
    path = semester.root / "download.zip"
    write_download(path, text, sent)
    told = semester.verb("collect", way(week), str(path))
    there = {h.student.id for h in sent}
    stored = {p.parts[-2] for p in (semester.root / "submitted").glob(f"*/{text.stem}")}
    semester.hold(there <= stored, f"lost: {sorted(there - stored)}\n{told}")
    semester.hold("Not collected" not in told, told)


def grade_and_look(semester: Semester, week: int, sent: dict[str, HandIn]) -> None:
    """Grade a lesson, and hold its scores against what was handed in."""
    semester.grade(semester.texts[week].stem)
    look(semester, week, sent)


def grade_by_hand(semester: Semester, week: int) -> None:
    """Change every tenth student's first score and write a comment, as formgrader does."""
    name, sent = semester.texts[week].stem, semester.sent(week)
    first = exercises_of(semester, week)[0]
    with semester.course.gradebook() as gradebook:
        for student in [s for s in sent if int(s[1:]) % 10 == 0]:
            gradebook.find_grade(f"test_{first}", name, name, student).manual_score = 0.25
            gradebook.find_comment(first, name, name, student).manual_comment = COMMENT
            semester.by_hand[student, week] = 0.25
        gradebook.db.commit()
    semester.grade(name)
    look(semester, week, sent)
    _look_for_comments(semester)


def _look_for_comments(semester: Semester) -> None:
    for student, week in semester.by_hand:
        name = semester.texts[week].stem
        page = semester.root / "feedback" / student / name / f"{name}.html"
        semester.hold(COMMENT in page.read_text(encoding="utf-8"), f"{page} lacks the comment")
        with semester.course.gradebook() as gradebook:
            first = exercises_of(semester, week)[0]
            kept = gradebook.find_comment(first, name, name, student).manual_comment
        semester.hold(kept == COMMENT, f"{student}'s comment is now {kept!r}")


def grant_an_extension(semester: Semester, week: int) -> None:
    """Grant a week to the first who is late; only their penalty goes."""
    sent, name = semester.sent(week), semester.texts[week].stem
    student = next(s for s, hand_in in sent.items() if hand_in.seconds_late)
    row = f"{name},{due(week) + timedelta(days=8):%Y-%m-%d %H:%M}+00:00,{student}"
    (semester.root / "more.csv").write_text(f"lesson,due,student\n{row}\n")
    told = semester.verb("deadlines", "more.csv")
    semester.hold("late penalties changed: 1" in told, told)
    semester.excused.add((student, week))
    look(semester, week, sent)


def change_the_first_lesson(semester: Semester) -> None:
    """Give an exercise away and make another dearer, build, and grade what that affects."""
    text = semester.texts[0]
    text.write_text(changed(text.read_text(encoding="utf-8")), encoding="utf-8")
    before = {row.student: row for row in _first_rows(semester)}
    told = semester.verb("grade", text.stem, code=1)
    semester.verb("build", text.stem)
    told = semester.grade(text.stem)
    semester.hold(f"judged anew, because this changed: {DEARER}" in told, told)
    semester.counts["submissions judged anew"] += len(before)
    after = {row.student: row for row in _first_rows(semester)}
    semester.hold(before.keys() == after.keys(), f"lost: {before.keys() ^ after.keys()}")
    for student, row in after.items():
        old = before[student].scores
        kept = {name: s for name, s in old.items() if name != GIVEN} | {DEARER: 2 * old[DEARER]}
        semester.hold(row.scores == kept, f"{student}: {old} became {row.scores}")
    look(semester, 0, semester.sent(0))
    _look_for_comments(semester)


def _first_rows(semester: Semester) -> list[Record]:
    course = semester.course
    return course.book().of(course.lessons[0].name)


def changed(text: str) -> str:
    """Return the first lesson's text with one exercise given away and another worth 2 points."""
    test = rf'# %% test="{GIVEN}".*?(?=# %%)'
    text, gone = re.subn(test, "", text, flags=re.DOTALL)
    head, given = text.split(f'# %% exercise="{GIVEN}"')
    given, n_marks = re.subn(r"    # (BEGIN|END) SOLUTION\n", "", given, count=2)
    head, n_points = re.subn(rf'(test="{DEARER}" points=)1\b', r"\g<1>2", head)
    cell = head.index(f'test="{DEARER}"')
    head = head[:cell] + head[cell:].replace("points=1,", "points=2,", 1)
    assert (gone, n_marks, n_points) == (1, 2, 1), "lesson 00 was rewritten: adapt bench/semester"
    return f"{head}# %%{given}"


def finish(semester: Semester) -> None:
    """Report, export, hand back, and look at what is left for the archive."""
    semester.hold("Graded 0 submissions" in semester.grade(), "something was graded twice")
    for week in range(len(semester.texts)):
        look(semester, week, semester.sent(week))
    look_at_the_report(semester)
    look_at_the_tables(semester)
    hand_back(semester)
    look_at_the_backups(semester)
    look_at_the_archive(semester)


def found(semester: Semester, whole: float) -> dict[str, Any]:
    """Return the figures of a run."""
    size = (semester.root / "gradebook.db").stat().st_size
    weeks = range(len(semester.texts))
    sent = [hand_in for week in weeks for hand_in in semester.sent(week).values()]
    return {
        "students": len(semester.students),
        "lessons": len(semester.texts),
        "submissions that count": len(sent),
        "of them late": sum(hand_in.seconds_late > 0 for hand_in in sent),
        "of them handed in twice": sum(hand_in.attempt for hand_in in sent),
        "scores given by hand": len(semester.by_hand),
        **semester.counts,
        "seconds, by command": {name: round(s, 1) for name, s in semester.seconds.items()},
        "seconds, in all": round(whole, 1),
        "submissions graded per second": round(
            semester.counts["submissions graded"] / semester.seconds["grade"], 2
        ),
        "gradebook (MiB)": round(size / (1 << 20), 1),
        "peak memory of the commands' process (MiB)": peak(),
    }


def main() -> None:
    """Run a semester of the size that the options say, and save what it took."""
    parser = argparse.ArgumentParser(prog="python -m bench.semester", description=__doc__)
    parser.add_argument("--students", type=int, default=N_STUDENTS)
    parser.add_argument("--lessons", type=int, default=N_LESSONS)
    options = parser.parse_args()
    keep("semester", measure(options.students, options.lessons))
