"""Command line of the grader: `python -m grader COMMAND`."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from grader.errors import CourseError, UsageError

# name: (module, summary). The module has add_arguments(parser) and run(arguments) -> exit code.
# Only the chosen command's module is imported, so `--help` is quick.
COMMANDS = {
    "build": (
        "grader.commands.build",
        "build notebooks and releases from the lesson texts",
    ),
    "autograde": ("grader.commands.autograde", "grade submissions, fast and isolated"),
    "grade": ("grader.commands.grade", "collect, grade, write feedback, sum up the grades"),
    "teach": ("grader.commands.teach", "open JupyterLab to grade by hand, in formgrader"),
    "release": ("grader.commands.release", "hand feedback back through the exchange"),
    "deadlines": ("grader.commands.deadlines", "set due dates and extensions, or show them"),
    "collect": ("grader.commands.collect", "take hand-ins from a learning system's download"),
    "export": ("grader.commands.export", "write grades or feedback for a learning system"),
    "report": ("grader.commands.report", "write pages on a class and on each student"),
    "predictions": ("grader.commands.predictions", "score handed-in predictions as extra credit"),
    "bundle": ("grader.commands.bundle", "zip what students get into dist/"),
    "fingerprints": (
        "grader.commands.fingerprints",
        "make machine-made mistakes for the checks to recognise",
    ),
    "site": ("grader.commands.site", "build the public web site into site/_build"),
    "demo": ("grader.commands.demo", "grade a made-up class of six in its own folder"),
}
# What commands make is the instructor's alone, for it holds names and grades. These make what is
# for students: the course itself, and what goes into the exchange.
PRIVATE, PUBLIC = 0o077, 0o022
WRITES_PUBLIC = ("build", "bundle", "fingerprints", "release", "site")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (0 done, 1 something to fix, 2 wrong usage)."""
    words = list(sys.argv[1:] if argv is None else argv)
    arguments = _parser(words[0] if words else "").parse_args(words)
    before = os.umask(PUBLIC if words[0] in WRITES_PUBLIC else PRIVATE)
    try:
        return int(arguments.run(arguments))
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    finally:
        os.umask(before)


def _parser(chosen: str) -> argparse.ArgumentParser:
    """Return the parser; only the chosen command adds its arguments."""
    parser = argparse.ArgumentParser(prog="python -m grader", description="Tools for instructors.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name == chosen:
            module = import_module(module_name)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser
