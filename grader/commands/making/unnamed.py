"""`python -m grader unnamed`: list wrong answers whose verdict names no cause."""

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from grader.authoring.files import find_root
from grader.authoring.lesson import Lesson, lessons
from grader.course.book import Book, Record
from grader.course.course import GradingCourse
from grader.course.graded_copies import Answer
from grader.course.private import write_private
from grader.course.safe_text import few, line
from grader.course.wording import plural
from grader.gradebook.lock import only_grader

HEADER: Final = '# %% exercise="{}" causes=["?"]'  # as tests/course/other_hands has it
WITH_DOCSTRING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", nargs="*", help="for example 02_attention; all, if none is named")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write their code, without names")
    parser.epilog = (
        "Lists students by exercise and by the first line of their verdict: mistakes that "
        "mistakes.toml could name. Their code is on the pages that `make report` writes. --out "
        "writes it into a file as well, without names, comments and docstrings, for the course's "
        "authors. Read it before you send it: nothing is sent by itself."
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
    if arguments.out and told:
        codes, n_left = nameless(chosen, book)
        write_private(arguments.out, "\n\n".join(codes) + "\n" * bool(codes))
        print(f"{arguments.out}: {plural(len(codes), 'answer')}; {n_left} left out.")
    if unread:
        print(f"Left out, for they have no graded copy that can be read: {few(unread)}.")
    return 1 if unread else 0


def unnamed(lesson: Lesson, records: Sequence[Record]) -> list[str]:
    """Return a line for each exercise, then one for each beginning of a verdict, with students."""
    told: list[str] = []
    for exercise in lesson.exercises:
        students: dict[str, list[str]] = defaultdict(list)
        for record, answer in _answers(exercise.id, records):
            students[answer.seen.partition("\n")[0]].append(record.student)
        if students:
            told.append(f"{lesson.name}, {exercise.id}: {sum(map(len, students.values()))}")
        for said, whose in sorted(students.items(), key=lambda item: -len(item[1])):
            told.append(f"  {', '.join(map(line, whose))}: {line(said)}")
    return told


def _answers(exercise: str, records: Sequence[Record]) -> Iterator[tuple[Record, Answer]]:
    """Yield the answers to an exercise whose verdict names no cause."""
    for record in records:
        answer = record.copy and record.copy.answers.get(exercise)
        if answer and answer.verdict is not None and answer.verdict.is_unnamed:
            yield record, answer


def nameless(chosen: Sequence[Lesson], book: Book) -> tuple[list[str], int]:
    """Return the code of answers without a cause, in no student's order, and how many are left out.

    Left out are answers that are no Python, those that hold a student's name, id or address, and
    those that are there already.
    """
    people = {part.casefold() for person in book.people.values() for part in person if part}
    ids = [exercise.id for lesson in chosen for exercise in lesson.exercises]
    records = list(book.records.values())
    sources = [(i, answer.source) for i in ids for _, answer in _answers(i, records)]
    bare = [f"{HEADER.format(i)}\n{code}\n" for i, source in sources if (code := _bare(source))]
    codes = {code for code in bare if not _names_somebody(code, people)}
    return sorted(codes), len(sources) - len(codes)


def _bare(source: str) -> str:
    """Return a cell's code without comments and docstrings; "" if it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _names_somebody(code: str, people: Collection[str]) -> bool:
    """Return whether a student is named: short names are parts of too many words."""
    words = set(re.findall(r"[^\W_]+", code.casefold()))
    return any(name in words or (len(name) > 3 and name in code.casefold()) for name in people)
