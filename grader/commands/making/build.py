"""`python -m grader build`: build every lesson from its text, or --check that all are built."""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.execute import executed
from grader.authoring.files import find_root, write_if_changed
from grader.authoring.freshness import (
    Difference,
    differences,
    solution_fault,
    source_fault,
    with_last_run,
)
from grader.authoring.lesson import Lesson, lessons
from grader.authoring.notebook import as_text, source_notebook
from grader.authoring.readme import with_lessons
from grader.authoring.release import released
from grader.authoring.right_source import right_source, source_path
from grader.authoring.slides import slides
from grader.errors import CourseError
from utils.checks.bank.source import packed
from utils.checks.bank.table import TableError, verify_patches
from utils.checks.registry import exercises


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", nargs="*", help="for example 02_attention; all, if none is named")
    parser.add_argument("--check", action="store_true", help="only name the files that differ")
    parser.add_argument("--force", action="store_true", help="run lessons that are up to date too")


def run(arguments: argparse.Namespace) -> int:
    """Build or check, and return the exit code."""
    root = find_root(Path.cwd())
    chosen = lessons(root, arguments.lesson)
    if arguments.check:
        return _check(root, chosen, is_whole=not arguments.lesson)
    for lesson in chosen:
        build(lesson, root, force=arguments.force)
    if not arguments.lesson and (wanted := _readme(root, chosen)) is not None:
        write_if_changed(root / "README.md", wanted)
    if not chosen:
        print("Nothing to build: no lesson texts, solutions/NN_name.py, yet.")
    return 0


def build(lesson: Lesson, root: Path, *, force: bool = False) -> None:
    """Build one lesson's files and print one line; the notebooks are written when both are made.

    Raises:
        CourseError: known mistakes do not fit the text, or the lesson does not run.

    """
    start = time.perf_counter()
    print(f"{lesson.name:<28}", end="", flush=True)
    release = released(lesson, root)
    if source_fault(lesson, root) and (source := source_path(lesson, root)) is not None:
        write_if_changed(
            source, packed(right_source(lesson))
        )  # checks that the lesson runs patch it
    fresh = not force and solution_fault(lesson) is None
    notebook = None if force else with_last_run(lesson)
    try:
        verify_mistakes(lesson)
        notebook = notebook or executed(source_notebook(lesson), lesson.name, root)
    except CourseError:
        print("failed")
        raise
    if not fresh:
        write_if_changed(lesson.solution_path, as_text(notebook))
    write_if_changed(lesson.release_path, release)
    for path, picture in slides(lesson, root).items():
        write_if_changed(path, picture)
    print(f"{'up to date' if fresh else 'built':<11}{time.perf_counter() - start:6.1f} s")


def _readme(root: Path, chosen: list[Lesson]) -> str | None:
    """Return what the README should say; None where there is none."""
    readme = root / "README.md"
    if not readme.is_file():
        return None
    mistakes = {name: len(exercise.mistakes) for name, exercise in exercises().items()}
    return with_lessons(readme.read_text(encoding="utf-8"), chosen, mistakes)


def _check(root: Path, chosen: list[Lesson], *, is_whole: bool) -> int:
    """Print the files that differ and how to fix them."""
    found = differences(root, chosen, is_whole=is_whole)
    unfit = [fault for lesson in chosen for fault in _unfit(lesson)]
    wanted = _readme(root, chosen) if is_whole and not unfit else None
    if wanted is not None and wanted != (root / "README.md").read_text(encoding="utf-8"):
        found.append(Difference(root / "README.md", "has another table of lessons", "make build"))
    print(*unfit, sep="\n", end="\n" * bool(unfit))
    for difference in found:
        print(f"{difference.path.relative_to(root)} {difference.what}: {difference.fix}")
    if not found and not unfit:
        print(
            f"Nothing differs from the texts ({', '.join(x.name for x in chosen) or 'none yet'})."
        )
    return 1 if found or unfit else 0


def verify_mistakes(lesson: Lesson) -> None:
    """Raise CourseError with a line for each known mistake of a lesson that cannot be used."""
    if unfit := list(_unfit(lesson)):
        raise CourseError("\n".join(unfit))


def _unfit(lesson: Lesson) -> Iterator[str]:
    """Yield why known mistakes of a lesson's exercises cannot be used."""
    for exercise in lesson.exercises:
        try:
            if exercise.id in exercises():
                verify_patches(exercise.id, exercises()[exercise.id].mistakes)
        except TableError as error:
            yield str(error)
