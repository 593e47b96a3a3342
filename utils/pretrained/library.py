"""The course's own text, section by section: what lesson 07 searches in."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from utils.pretrained.words import sentences_of

RELEASE: Final = Path(__file__).resolve().parents[2] / "notebooks"
LAST: Final = "06"  # the lesson that searches is not searched
_UNREAD: Final = re.compile(
    r"<details.*?</details>|```.*?```|\$\$.*?\$\$|^\|.*?$|^#.*?$", re.S | re.M
)
_HEADING: Final = re.compile(r"^## (?:(\d+)\. )?(.+)$", re.MULTILINE)
_SIGNS: Final = re.compile(r"[*`$\\]|\]\(.*?\)")
_PARAGRAPH: Final = re.compile(r"\n\n|\n(?:[-*]|\d+\.) ")  # or an item of a list
_FEWEST, _MOST = 5, 60  # words of a sentence

SIX: Final = (
    "Hello",
    "The cat sat on the mat.",
    "Where does most of the weight go, and why?",
    "An unaffordable, reopened onion: 3.14 seconds!",
    "Attention is a weighted mean of values, and the weights are a softmax of scores.",
    "It rains, and it rains, and it rains. " * 6,
)
PAIRS: Final = (
    ("the price went up", "the price went down"),
    ("he is a physician", "the man works as a doctor"),
    ("the dog bites the man", "the man bites the dog"),
    ("the dog bites the man", "man the bites dog the"),
    ("flights from Prague to Rome", "flights from Rome to Prague"),
    ("the film was good", "the film was not good"),
    ("how can I lose weight quickly", "what is a fast way to get slimmer"),
    ("it costs 10 dollars", "it costs 1000 dollars"),
    ("dog bites man", "stock markets fell"),
)
# Questions, and the section that answers each, fixed before any search.
QUESTIONS: Final = {
    "How do I stop the model from looking at blank filler tokens?": "02.6",
    "Why do we shrink the scores before the softmax?": "02.5",
    "Does the network know which word comes first?": "04.1",
    "What happens when gradients disappear over many steps?": "01.5",
    "Is it enough to look at accuracy to find a bug in my code?": "06.12",
    "Where do most of the weights of the network sit?": "05.8",
    "How can I group sentences of similar size to waste less?": "06.3",
    "Why not start training with a high learning rate right away?": "05.5",
    "Which part of the network carries information past a block unchanged?": "05.3",
    "Can a single head look at two things at once?": "03.6",
}


@cache
def places() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sections ("02.5") of all sentences of the course, and the sentences."""
    found = [pair for path in sorted(RELEASE.glob("0*/0*.ipynb")) for pair in _of_lesson(path)]
    return tuple(place for place, _ in found), tuple(sentence for _, sentence in found)


def forty_eight() -> list[str]:
    """Return 48 sentences of the course, of 5 to 25 words, from all lessons."""
    usual = [s for s in places()[1] if 5 <= len(s.split()) <= 25]
    return usual[:: max(1, len(usual) // 48)][:48]


def neighbours() -> list[tuple[str, str]]:
    """Return pairs of sentences that follow each other within a section, no sentence twice."""
    where, sentences = places()
    return [
        (sentences[n], sentences[n + 1])
        for n in range(0, len(sentences) - 1, 2)
        if where[n] == where[n + 1]
    ]


def _of_lesson(path: Path) -> Iterator[tuple[str, str]]:
    lesson = path.name[:2]
    if lesson > LAST:
        return
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    section = "0"
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            parts = _HEADING.split(text)  # text, number, title, text, ...
            for number, body in zip([section, *parts[1::3]], parts[::3], strict=True):
                section = number or ""  # a recap has none, and says again what others say
                yield from ((f"{lesson}.{number}", one) for one in _sentences(body) if number)


def _sentences(text: str) -> Iterator[str]:
    for paragraph in _PARAGRAPH.split(_UNREAD.sub("", text)):
        plain = " ".join(_SIGNS.sub("", paragraph).split())
        for sentence in sentences_of(plain):
            if _FEWEST <= len(sentence.split()) <= _MOST:
                yield sentence
