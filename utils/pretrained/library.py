"""Texts of lesson 07: everyday sentences, and the course's own text, section by section."""

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
    r"<details.*?</details>|<span.*?</span>|```.*?```|\$\$.*?\$\$|^\|.*?$|^#.*?$"
    r"|^\*\d.*? minutes?\*$",
    re.S | re.M,
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
# What the encoder's faults and heads are measured on.
EVERYDAY: Final = """\
The bus was late again, so we walked to the station.
She has lived in three countries and speaks four languages.
Could you send me the report before noon?
The old bridge was closed after the flood last spring.
My sister bought two tickets, but only one of us can go.
Nobody knows why the lights went out.
He forgot his keys on the kitchen table.
The recipe asks for three eggs, a cup of flour and a pinch of salt.
In winter the lake freezes, and people skate on it.
A new library will open next to the town hall in May.
Please turn off your phone during the concert.
The doctor told him to rest for at least a week.
They planted apple trees along the road to the village.
What time does the last train leave for the airport?
I read the first chapter and fell asleep.
The company sold fewer cars this year than the year before.
Our neighbours have a dog that barks at every bicycle.
It took the team nine months to build the prototype.
The judge asked the witness to speak louder.
Rain is expected in the north, while the south stays dry.
If you heat ice, it melts; if you heat water, it boils.
The museum shows paintings from the seventeenth century.
Her first novel was rejected by twelve publishers.
We need more chairs, because twenty guests have said yes.
The goalkeeper caught the ball and kicked it far upfield.
Is there a pharmacy near here that is open on Sundays?
The price of coffee has doubled since last summer.
Birds migrate south when the days become shorter.
He repaired the radio with a piece of wire and some patience.
The meeting was moved from Tuesday to Thursday.
Most of the students had already handed in their essays.
A small boat crossed the bay under a grey sky.
Scientists found traces of water in the dust of the crater.
You should not swim here: the current is too strong.
The baker gets up at three, long before the town wakes.
She plays the violin better than anyone in the orchestra.
The government promised lower taxes and better schools.
I would like a table for two by the window.
This software updates itself every night, whether you like it or not.
The children laughed when the clown dropped his hat.
Bread, cheese and olives were all that was left.
After the storm, the roof of the barn lay in the field.
The lawyer read the contract twice and found an error.
Do you remember the name of that little restaurant in Lisbon?
The battery lasts about ten hours if the screen is dim.
An hour later the snow had covered all tracks.
The committee could not agree on a date.
Turn left at the church, then follow the river for two miles.
""".splitlines()
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


def neighbours() -> list[tuple[str, str]]:
    """Return pairs of sentences that follow each other within a section, no sentence twice."""
    where, sentences = places()
    return [
        (sentences[n], sentences[n + 1])
        for n in range(0, len(sentences) - 1, 2)
        if where[n] == where[n + 1]
    ]


def _of_lesson(path: Path) -> Iterator[tuple[str, str]]:
    lesson = path.name.partition("_")[0]
    if lesson > LAST:  # nor is a lab, such as 06b
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
