"""A semester of a made-up class, from the roster to the archive, by the commands themselves.

Lessons come by Canvas, by Moodle and through the exchange in turn; some hand in late, again or
nothing; an assistant changes scores by hand; an extension is granted; the first lesson changes in
mid-semester. After each step what must hold is asserted, so a figure is never that of a wrong run.

`python -m bench.semester --students 20 --lessons 3` runs a smaller one.
"""

import argparse
import contextlib
import csv
import io
import math
import os
import re
import shutil
import sqlite3
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from bench.__main__ import keep
from bench.grading import peak
from bench.semester_class import (
    ROSTER_HEAD,
    HandIn,
    Student,
    due,
    hand_ins,
    kept_share,
    put_into_exchange,
    way,
    write_download,
)
from grader.cli import main as grader
from grader.course.course import GradingCourse
from grader.course.report import Row, rows

ROOT: Final = Path(__file__).resolve().parents[1]
N_STUDENTS, N_LESSONS = 200, 7
LINES: Final = 40  # of what `grade` prints, however large the class
# The change in mid-semester: the second exercise of lesson 00 is worth more, the third is given.
DEARER, GIVEN = "masked_mean", "pairwise_dot"
COMMENT: Final = "Well argued, and the idea is right."


@dataclass
class Semester:
    """A course folder, its class, and what was counted and timed on the way.

    Attributes:
        root: a copy of the course in which the commands run.
        texts: its lessons' texts, in order.
        by_hand: (student, week) -> points given by hand for the first exercise.
        excused: (student, week) whose extension covers what they handed in.

    """

    root: Path
    students: list[Student]
    texts: list[Path]
    by_hand: dict[tuple[str, int], float] = field(default_factory=dict)
    excused: set[tuple[str, int]] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def course(self) -> GradingCourse:
        """Return the course as it is now; its lessons are read anew."""
        return GradingCourse(self.root, self.root)

    def verb(self, *words: str, code: int = 0) -> str:
        """Run one of the grader's commands as an instructor does; return what it prints."""
        out, start = io.StringIO(), time.perf_counter()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err:
            found = grader(words)
        self.seconds[words[0]] += time.perf_counter() - start
        self.counts[f"runs of {words[0]}"] += 1
        told = f"{' '.join(words)}: exit code {found}\n{out.getvalue()}{err.getvalue()[-2000:]}"
        self.hold(found == code, told)
        return out.getvalue()

    def hold(self, holds: object, otherwise: str) -> None:
        """Count a check; stop with a sentence if it fails."""
        self.counts["assertions"] += 1
        if not holds:
            raise AssertionError(otherwise)

    def sent(self, week: int) -> dict[str, HandIn]:
        """Return student -> the hand-in that counts."""
        found = {s.id: hand_ins(s, week) for s in self.students}
        return {student: listed[-1] for student, listed in found.items() if listed}

    def grade(self, *words: str) -> str:
        """Grade, and check that a large class does not flood the terminal."""
        told = self.verb("grade", *words)
        match = re.search(r"Graded (\d+) submissions", told)
        self.counts["submissions graded"] += int(match[1]) if match else 0
        self.hold(told.count("\n") <= LINES, f"grade printed {told.count(chr(10))} lines")
        return told


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
        (root / "utils").symlink_to(ROOT / "utils")
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
    dates = [f"{t.stem},{due(week):%Y-%m-%d %H:%M}+00:00" for week, t in enumerate(semester.texts)]
    (semester.root / "due.csv").write_text("\n".join(["lesson,due", *dates]) + "\n")
    told = semester.verb("deadlines", "due.csv")
    semester.hold(f"{len(dates)} rows set" in told, told)


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
    told = semester.verb("collect", way(week), str(path), "--roster", "roster.csv")
    there = {h.student.id for h in sent}
    stored = {p.parts[-2] for p in (semester.root / "submitted").glob(f"*/{text.stem}")}
    semester.hold(there <= stored, f"lost: {sorted(there - stored)}\n{told}")
    semester.hold("Not collected" not in told, told)


def grade_and_look(semester: Semester, week: int, sent: dict[str, HandIn]) -> None:
    """Grade a lesson, and hold its scores against what was handed in."""
    semester.grade(semester.texts[week].stem)
    look(semester, week, sent)


def look(semester: Semester, week: int, sent: dict[str, HandIn]) -> None:
    """Hold a lesson's scores against what was handed in: nobody lost, late points exact."""
    course = semester.course
    (lesson,) = [x for x in course.lessons if x.name == semester.texts[week].stem]
    found = {row.student: row for row in rows(course, lesson)}
    semester.hold(found.keys() == sent.keys(), f"{lesson.name}: {found.keys() ^ sent.keys()}")
    alike: dict[str, set[tuple[float, ...]]] = defaultdict(set)
    for student, row in found.items():
        _look_at(semester, week, sent[student], row)
        if (student, week) not in semester.by_hand:
            alike[sent[student].kind].add(tuple(row.scores[e.id] for e in lesson.exercises))
    for kind, several in alike.items():
        semester.hold(len(several) == 1, f"{lesson.name}: {kind}'s answers got {several}")
    if "ada" in alike:
        right = tuple(e.points for e in lesson.exercises)
        semester.hold(alike["ada"] == {right}, f"{lesson.name}: right answers got {alike['ada']}")


def _look_at(semester: Semester, week: int, hand_in: HandIn, row: Row) -> None:
    """Check one student's points, late days and points given by hand."""
    key = (row.student, week)
    late = 0.0 if key in semester.excused else hand_in.seconds_late
    told = f"{row} for {hand_in}"
    semester.hold(row.seconds_late == late or late == 0 >= row.seconds_late, told)
    wanted = sum(row.scores.values()) * kept_share(late)
    semester.hold(math.isclose(row.total, wanted, abs_tol=1e-9), f"{wanted} wanted: {told}")
    if key in semester.by_hand:
        first = next(iter(_exercises(semester, week)))
        semester.hold(row.scores[first] == semester.by_hand[key], f"by hand: {told}")


def _exercises(semester: Semester, week: int) -> list[str]:
    (lesson,) = [x for x in semester.course.lessons if x.name == semester.texts[week].stem]
    return [exercise.id for exercise in lesson.exercises]


def grade_by_hand(semester: Semester, week: int) -> None:
    """Change every tenth student's first score and write a comment, as formgrader does."""
    name, sent = semester.texts[week].stem, semester.sent(week)
    first = _exercises(semester, week)[0]
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
            first = _exercises(semester, week)[0]
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


def _first_rows(semester: Semester) -> list[Row]:
    course = semester.course
    return rows(course, course.lessons[0])


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


def look_at_the_report(semester: Semester) -> None:
    """Write the class's pages: one for every student who handed in."""
    semester.verb("report")
    pages = {path.stem for path in (semester.root / "report" / "students").glob("*.html")}
    sent = {s for week in range(len(semester.texts)) for s in semester.sent(week)}
    semester.hold(pages == sent, f"pages of {pages ^ sent}")


def look_at_the_tables(semester: Semester) -> None:
    """Write each system's table; in all of them the sums are the gradebook's."""
    course = semester.course
    totals = {x.name: sum(row.total for row in rows(course, x)) for x in course.lessons}
    for form in ("canvas", "moodle", "csv"):
        semester.verb("export", form, "--out", f"{form}.csv")
        sums, n_people = _sums(semester.root / f"{form}.csv", form)
        semester.hold(n_people == len(semester.students), f"{form}: {n_people} people")
        for name, total in totals.items():
            told = f"{form}: {name} sums up to {sums[name]}, {total} in the gradebook"
            semester.hold(math.isclose(sums[name], total, abs_tol=0.01), told)


def _sums(path: Path, form: str) -> tuple[dict[str, float], int]:
    """Return lesson -> the sum of its points in a table, and how many people it has."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = [x for x in csv.DictReader(file) if x.get("Student", "") != "    Points Possible"]
    sums: dict[str, float] = defaultdict(float)
    for line in lines:
        pairs = [(line["lesson"], line["score"])] if form == "csv" else list(line.items())
        for name, points in pairs:
            with contextlib.suppress(ValueError):
                sums[name] += float(points or 0)
    people = {line.get("student") or line.get("ID") or line.get("Email address") for line in lines}
    return sums, len(people - {None, ""})


def hand_back(semester: Semester) -> None:
    """Hand every page back the way that its notebook came."""
    told, by_exchange = semester.verb("release"), 0
    for week, text in enumerate(semester.texts):
        sent = semester.sent(week)
        if way(week) == "exchange":
            by_exchange += len(sent)
            continue
        out = semester.root / "back.zip"
        semester.verb("export", "feedback-zip", "--lesson", text.stem, "--out", str(out))
        with zipfile.ZipFile(out) as archive:
            semester.hold(len(set(archive.namelist())) == len(sent), f"{text.stem}: pages")
    semester.counts["pages released through the exchange"] = by_exchange
    semester.hold(f"Feedback released: {by_exchange} pages" in told, told)


def look_at_the_backups(semester: Semester) -> None:
    """Check that the last ten gradebooks are kept, and that the newest holds every submission."""
    copies = sorted((semester.root / "gradebook-backups").glob("*.db"))
    semester.hold(len(copies) == min(10, len(copies)) > 0, f"{len(copies)} backups")
    with contextlib.closing(sqlite3.connect(copies[-1])) as gradebook:
        (count,) = gradebook.execute("SELECT COUNT(*) FROM student").fetchone()
    semester.hold(count == len(semester.students), f"the newest backup has {count} students")


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


if __name__ == "__main__":  # tests and tools import every module
    main()
