"""Answer a mistyped command with the fault, and with the words to type instead."""

import argparse
import re
from collections.abc import Iterator
from typing import Final, NoReturn

from grader.errors import MOST_SHOWN, advice, nearest

# What argparse says, and what a person is told.
_MISSING: Final = re.compile(r"the following arguments are required: (?P<names>.+)")
_NO_VALUE: Final = re.compile(r"argument (?P<name>\S+): expected (at least )?one argument")
_NO_CHOICE: Final = re.compile(
    r"argument (?P<name>\S+): invalid choice: '(?P<value>.*)' \(choose from (?P<known>.+)\)"
)
_UNKNOWN: Final = re.compile(r"unrecognized arguments: (?P<word>\S+).*")


OPTIONS_ALIKE: Final = 0.7  # as short as they are, most are half alike


class Parser(argparse.ArgumentParser):
    """A parser that answers a mistake in a sentence, without the whole usage before it."""

    def error(self, message: str) -> NoReturn:
        """Print a sentence and end the program with status 2 (argparse's own hook)."""
        unknown = _UNKNOWN.fullmatch(message)
        if unknown and unknown["word"].startswith("-"):
            told = f"{self._no_option(unknown['word'])} Options:"
        else:
            told = f"{self._sentence(message)} What can follow:"
        self.exit(2, f"{told} {self.prog} --help\n")

    def _no_option(self, word: str) -> str:
        options = re.findall(r"--[\w-]+", self.format_help())
        question = nearest(word, options, OPTIONS_ALIKE)
        return f"There is no option {word}. {question}".rstrip()

    def _shown(self, names: str) -> Iterator[str]:
        """Yield the names of what is missing, with what can stand there if that is a few words."""
        choices = {x.metavar: list(map(str, x.choices)) for x in self._actions if x.choices}
        for name in names.split(", "):
            words = choices.get(name, ())
            yield f"{name} ({', '.join(words)})" if 0 < len(words) <= MOST_SHOWN else name

    def _sentence(self, message: str) -> str:
        if found := _MISSING.fullmatch(message):
            return f"Something is missing: {', '.join(self._shown(found['names']))}."
        if found := _NO_VALUE.fullmatch(message):
            return f"{found['name']} needs a value after it."
        if found := _NO_CHOICE.fullmatch(message):
            known = re.findall(r"[\w-]+", found["known"])
            return f"{found['name']} {found['value']!r} is unknown. {advice(found['value'], known)}"
        if found := _UNKNOWN.fullmatch(message):
            return f"{found['word']} is one too many."
        return message.removeprefix("argument ").rstrip(".") + "."


def whole_number(text: str) -> int:
    """Read a number above zero, as the type of an option.

    Raises:
        argparse.ArgumentTypeError: it is none.

    """
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 31):
        raise argparse.ArgumentTypeError(f"write a whole number above 0, not {text!r}")
    return int(text)
