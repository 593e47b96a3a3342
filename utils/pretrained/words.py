"""Text as BERT's vocabulary wants it: lower-cased, without accents, cut into words."""

import unicodedata
from collections.abc import Iterator

_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_BLANK = "\t\n\r"
_DROPPED = ("Cc", "Cf", "Co", "Cs")  # categories; what no alphabet has yet (Cn) stays
LONGEST = 100  # letters; a longer word is unknown


def split_words(text: str) -> list[str]:
    """Cut a text into words, punctuation marks and ideographs, each by itself.

    A word that is longer than the published tokenizer takes comes back as "[UNK]".
    """
    spaced = "".join(map(_kept, text))
    letters = "".join(map(str.lower, spaced))  # one by one: a word's last sigma stays a sigma
    plain = (c for c in unicodedata.normalize("NFD", letters) if unicodedata.category(c) != "Mn")
    words = "".join(f" {c} " if _is_punctuation(c) else c for c in plain).split(" ")
    return ["[UNK]" if len(word) > LONGEST else word for word in words if word]


def _kept(character: str) -> str:
    if character in _BLANK or unicodedata.category(character) == "Zs":
        return " "
    code = ord(character)
    if code in (0, 0xFFFD) or unicodedata.category(character) in _DROPPED:
        return ""
    return f" {character} " if any(a <= code <= b for a, b in _IDEOGRAPHS) else character


def _is_punctuation(character: str) -> bool:
    signs = character.isascii() and character.isprintable() and not character.isalnum()
    return (signs and character != " ") or unicodedata.category(character).startswith("P")


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, cut behind a full stop or another sign of its kind."""
    begin = 0
    for end in range(1, len(text) + 1):
        at_end = end == len(text) or (text[end - 1] in ".?!" and text[end] == " ")
        if at_end and text[begin:end].strip():
            yield text[begin:end].strip()
            begin = end
