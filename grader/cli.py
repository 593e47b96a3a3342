"""Command line of the grader: `python -m grader COMMAND`."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module

from grader.errors import PROGRAM, CourseError, UsageError, advice
from grader.mishaps import explained
from grader.usage import Parser

# name: (module, summary). The module has add_arguments(parser) and run(arguments) -> exit code.
# Only the chosen command's module is imported, so `--help` is quick.
COMMANDS = {
    "build": (
        "grader.commands.making.build",
        "build notebooks and releases from the lesson texts",
    ),
    "autograde": ("grader.commands.autograde", "grade submissions, fast and isolated"),
    "grade": ("grader.commands.grade", "collect, grade, write feedback, sum up the grades"),
    "teach": ("grader.commands.teach", "open JupyterLab to grade by hand, in formgrader"),
    "release": ("grader.commands.release", "hand feedback back through the exchange"),
    "deadlines": ("grader.commands.deadlines", "set due dates and extensions, or show them"),
    "secret": ("grader.commands.secret", "make the secret that varies a class's hidden cases"),
    "roster": ("grader.commands.roster", "enter the class from a list, or show it"),
    "collect": ("grader.commands.collect", "take hand-ins from a learning system's download"),
    "export": ("grader.commands.export", "write grades or feedback for a learning system"),
    "report": ("grader.commands.report", "write pages on a class and on each student"),
    "archive": ("grader.commands.archive", "keep a class's whole record in one file"),
    "gradebook": (
        "grader.commands.gradebook",
        "copy the gradebook, or move it to a server and back",
    ),
    "predictions": ("grader.commands.predictions", "score handed-in predictions as extra credit"),
    "bundle": ("grader.commands.making.bundle", "zip what students get into dist/"),
    "fingerprints": (
        "grader.commands.making.fingerprints",
        "keep what known mistakes give, so that checks are fast",
    ),
    "unnamed": (
        "grader.commands.making.unnamed",
        "list wrong answers whose verdict names no cause",
    ),
    "site": ("grader.commands.making.site", "build the public web site into site/_build"),
    "demo": ("grader.commands.demo", "grade a made-up class of six in its own folder"),
}
MORE = f"Each command tells its own options: {PROGRAM} COMMAND --help"
STOPPED = "Stopped. What was done is kept; the same command does the rest."
# What commands make is the instructor's alone, for it holds names and grades. These make what is
# for students: the course itself, and what goes into the exchange.
PRIVATE, PUBLIC = 0o077, 0o022
WRITES_PUBLIC = ("build", "bundle", "fingerprints", "release", "site")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (0 done, 1 something to fix, 2 wrong usage)."""
    words = list(sys.argv[1:] if argv is None else argv)
    before = os.umask(PUBLIC if words[:1] and words[0] in WRITES_PUBLIC else PRIVATE)
    try:
        _print_any_letter()
        arguments = _arguments(words)
        _verify_names_are_whole()
        _verify_time_zone()
        status = int(arguments.run(arguments))
        print(end="", flush=True)  # so that what cannot be printed is told here, not by Python
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        return 130
    except Exception as error:
        told = str(error) if isinstance(error, CourseError) else explained(error)
        if not told:
            raise
        if isinstance(error, BrokenPipeError):  # or Python tries again at its end, and says so
            sys.stdout = io.StringIO()
        print(told, file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    else:
        return status
    finally:
        os.umask(before)


def _print_any_letter() -> None:
    """Print a letter that the terminal lacks as its number, so that no name stops a command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _verify_names_are_whole() -> None:
    """Raise CourseError where Python would take a folder's name, a student's id, for another."""
    if (encoding := sys.getfilesystemencoding()) != "utf-8":
        raise CourseError(
            f"The names of files are read as {encoding} here, so students' ids with accents would "
            "be others. Set PYTHONUTF8=1 (export PYTHONUTF8=1), then run the same command."
        )


def _verify_time_zone() -> None:
    """Raise CourseError where the machine's time zone is none that Python can compute with."""
    try:
        datetime.now().astimezone()
    except ValueError:
        raise CourseError(
            f"The time zone {os.environ.get('TZ', 'of this machine')} is a day or more away from "
            "UTC. Set another (export TZ=Europe/Berlin), then run the same command."
        ) from None


def _meant(chosen: str) -> str:
    """Return what to type instead; nbgrader's words for handing out look like our handing back."""
    if "assign" in chosen:
        return "bundle hands lessons out to students, and release hands feedback back to them."
    return advice(chosen, COMMANDS)


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    """Read the words of a command line; only the chosen command's module adds its arguments.

    Raises:
        UsageError: there is no such command.
        SystemExit: the words are no command line; the reason is printed by then.

    """
    parser = Parser(prog=PROGRAM, description="Tools for instructors.", epilog=MORE)
    commands = parser.add_subparsers(metavar="COMMAND", dest="COMMAND", required=True)
    chosen = words[0] if words else ""
    if not chosen.startswith("-") and chosen not in ("", *COMMANDS):
        raise UsageError(
            f"There is no command {chosen!r}. {_meant(chosen)} What each does: {PROGRAM} --help"
        )
    parsers = {
        name: commands.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        for name, (_, summary) in COMMANDS.items()
    }
    if chosen in parsers:
        module = import_module(COMMANDS[chosen][0])
        module.add_arguments(parsers[chosen])
        parsers[chosen].set_defaults(run=module.run)
    arguments, others = parser.parse_known_args(words)
    if others:
        parsers.get(chosen, parser).error(f"unrecognized arguments: {' '.join(others)}")
    return arguments
