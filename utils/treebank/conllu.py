"""Read Universal Dependencies files (CoNLL-U): words with part of speech and case.

Of the ten columns, only the id, the word, the part of speech and the features are read. Lines such
as `9-10` (two words written as one) and `8.1` (a word that is not written) are skipped: words 9 and
10 have their own lines. The format: universaldependencies.org/format.html
"""

import re
from pathlib import Path
from sys import intern

from utils.errors import UserError

Sentence = list[tuple[str, str]]  # (word, tag)

N_COLUMNS = 10
# Ids of lines that are not words: 9-10 and 8.1.
PASSED_OVER = re.compile(r"[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*")


class ConlluError(UserError):
    """A file is broken or cannot be read; the message names it and, if possible, the line."""

    def __init__(self, path: Path, line: int | None, why: str) -> None:
        place = str(path) if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {why}")


def read_conllu(path: Path) -> list[Sentence]:
    """Read the sentences of a file as (word, tag) pairs.

    A tag is the part of speech, followed by the case if there is one: `ADP|Loc`, `VERB`.

    Raises:
        ConlluError: the file cannot be read, or one of its lines is broken.

    """
    sentences: list[Sentence] = []
    sentence: Sentence = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line in {"", "\r"}:
            if sentence:
                sentences.append(sentence)
                sentence = []
        elif not line.startswith("#"):
            try:
                _read_word(line, sentence)
            except ValueError as error:
                raise ConlluError(path, number, str(error)) from None
    if sentence:
        raise ConlluError(path, number, "the file breaks off: no empty line after its last word")
    if not sentences:
        raise ConlluError(path, None, "there are no words in this file")
    return sentences


def tag_of(part_of_speech: str, features: str) -> str:
    """Join the part of speech and the case: `NOUN` and `Case=Gen|Number=Sing` -> `NOUN|Gen`."""
    for feature in features.split("|"):
        if feature.startswith("Case="):
            return f"{part_of_speech}|{feature.removeprefix('Case=')}"
    return part_of_speech


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConlluError(path, None, f"cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConlluError(path, line, "this is not UTF-8 text") from None


def _read_word(line: str, sentence: Sentence) -> None:
    """Add the line's word to the sentence; a ValueError says what is wrong with the line."""
    columns = line.split("\t")
    if len(columns) != N_COLUMNS:
        raise ValueError(f"{len(columns)} columns, separated by tabs, where {N_COLUMNS} must be")
    number, word, part_of_speech, features = columns[0], columns[1], columns[3], columns[5]
    if number == str(len(sentence) + 1):
        if not word or part_of_speech in {"", "_"}:
            raise ValueError(f"word {number} has no {'part of speech' if word else 'form'}")
        sentence.append((intern(word), intern(tag_of(part_of_speech, features))))
    elif not PASSED_OVER.fullmatch(number):
        raise ValueError(f"id {number!r} where {len(sentence) + 1} must follow")
