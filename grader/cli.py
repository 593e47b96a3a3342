"""Command line of the grader: `python -m grader COMMAND`."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from grader.errors import CourseError

# name: (module, summary). The module has add_arguments(parser) and run(arguments) -> exit code.
# Only the chosen command's module is imported, so that `--help` is quick.
COMMANDS = {
    "build": ("grader.build.command", "build notebooks and student releases from the lesson texts"),
    "autograde": ("grader.engine.command", "grade submissions, fast and isolated"),
    "grade": ("grader.gradebook.command_grade", "collect, grade, write feedback, show the grades"),
    "predictions": ("grader.predictions.command", "score handed-in predictions as extra credit"),
    "demo": ("grader.gradebook.command_demo", "grade a made-up class of six in its own folder"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (0 good, 1 something to mend, 2 wrong usage)."""
    words = list(sys.argv[1:] if argv is None else argv)
    arguments = _parser(words[0] if words else "").parse_args(words)
    try:
        return int(arguments.run(arguments))
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def _parser(chosen: str) -> argparse.ArgumentParser:
    """Return the parser; only the chosen command knows its own arguments."""
    parser = argparse.ArgumentParser(prog="python -m grader", description="Tools for instructors.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name == chosen:
            module = import_module(module_name)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser
