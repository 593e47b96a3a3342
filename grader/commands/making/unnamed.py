"""`python -m grader unnamed`: list wrong answers whose verdict names no cause."""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from grader.authoring.files import find_root
from grader.authoring.lesson import Lesson, lessons
from grader.course.book import Record
from grader.course.course import GradingCourse
from grader.course.safe_text import few, line
from grader.gradebook.lock import only_grader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", nargs="*", help="for example 02_attention; all, if none is named")
    parser.epilog = (
        "Lists students by exercise and by the first line of their verdict: mistakes that "
        "mistakes.toml could name. Their code is on the pages that `make report` writes."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the answers; return 1 if a graded copy cannot be read."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    chosen = lessons(root, arguments.lesson)
    with only_grader(course.folder, course.db_url):  # copies and scores must be of one moment
        book = course.book()
        graded = [(lesson, book.of(lesson.name)) for lesson in chosen]
        told = [sentence for lesson, found in graded for sentence in unnamed(lesson, found)]
    records = [record for _, found in graded for record in found]
    nothing = "Every wrong answer has a named cause." if records else "Nothing is graded yet."
    print(*(told or [nothing]), sep="\n")
    unread = [f"{record.student} {record.lesson}" for record in records if record.copy is None]
    if unread:
        print(f"Left out, for they have no graded copy that can be read: {few(unread)}.")
    return 1 if unread else 0


def unnamed(lesson: Lesson, records: Sequence[Record]) -> list[str]:
    """Return a line for each exercise, then one for each beginning of a verdict, with students."""
    told: list[str] = []
    for exercise in lesson.exercises:
        students: dict[str, list[str]] = defaultdict(list)
        for record in records:
            answer = record.copy and record.copy.answers.get(exercise.id)
            if answer and answer.verdict is not None and answer.verdict.is_unnamed:
                students[answer.seen.partition("\n")[0]].append(record.student)
        if students:
            told.append(f"{lesson.name}, {exercise.id}: {sum(map(len, students.values()))}")
        for said, whose in sorted(students.items(), key=lambda item: -len(item[1])):
            told.append(f"  {', '.join(map(line, whose))}: {line(said)}")
    return told
