"""What must hold when a semester ends: the report, the tables, the pages handed back, backups."""

import contextlib
import csv
import math
import sqlite3
import tarfile
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Final

from bench.semester.commands import Semester
from bench.semester.people import way
from grader.course.wording import plural

KEPT: Final = (("submitted", "ipynb"), ("autograded", "ipynb"), ("feedback", "html"))


def look_at_the_report(semester: Semester) -> None:
    """Write the class's pages: one for every student who handed in."""
    semester.verb("report")
    pages = {path.stem for path in (semester.root / "report" / "students").glob("*.html")}
    sent = {s for week in range(len(semester.texts)) for s in semester.sent(week)}
    semester.hold(pages == sent, f"pages of {pages ^ sent}")


def look_at_the_tables(semester: Semester) -> None:
    """Write each system's table; in all of them the sums are the gradebook's."""
    course = semester.course
    book = course.book()
    totals = {x.name: sum(row.total for row in book.of(x.name)) for x in course.lessons}
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
    semester.hold(f"Feedback released: {plural(by_exchange, 'page')}" in told, told)


def look_at_the_backups(semester: Semester) -> None:
    """Check that the last ten gradebooks are kept, and that the newest holds every submission."""
    copies = sorted((semester.root / "gradebook-backups").glob("*.db"))
    semester.hold(len(copies) == min(10, len(copies)) > 0, f"{len(copies)} backups")
    with contextlib.closing(sqlite3.connect(copies[-1])) as gradebook:
        (count,) = gradebook.execute("SELECT COUNT(*) FROM student").fetchone()
    semester.hold(count == len(semester.students), f"the newest backup has {count} students")


def look_at_the_archive(semester: Semester) -> None:
    """Keep the semester in one file; every hand-in that counts is in it, graded and answered."""
    semester.verb("archive")
    (path,) = (semester.root / "archive").iterdir()
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for week, text in enumerate(semester.texts):
        for student in semester.sent(week):
            for folder, end in KEPT:
                name = f"{folder}/{student}/{text.stem}/{text.stem}.{end}"
                semester.hold(name in names, f"{name} is not in the archive")
    semester.hold("gradebook.db" in names, "the gradebook is not in the archive")
