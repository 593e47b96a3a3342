"""A batch on its way to a worker, as JSON: submissions, their seeds, and how they are graded.

A worker has the lessons from its own copy of the course. What a class changes in them goes with the
batch: the words that vary hidden cases, and its own mistakes. Its secret stays with the client.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from grader.authoring.lesson import Lesson
from grader.authoring.own_mistakes import own_in, with_own
from grader.course.secret import with_words, words_in
from grader.reading.prepared import Item
from grader.sandbox import Limits


@dataclass(frozen=True)
class Terms:
    """How every submission of a run is graded.

    Attributes:
        versions: what the worker's must equal.
        limits: what each submission may use.
        isolate: whether it runs isolated.
        seconds: after so many, a worker begins no further submission of a batch.

    """

    versions: Mapping[str, str]
    limits: Limits
    isolate: bool
    seconds: float


def write_request(terms: Terms, items: Sequence[Item]) -> bytes:
    """Write a batch, on one line."""
    words = {item.lesson.name: words_in(item.lesson) for item in items}
    mistakes = {item.lesson.name: own_in(item.lesson) for item in items}
    sent = [
        {
            "lesson": item.lesson.name,
            "data": base64.b64encode(item.data).decode(),
            "seed": item.seed.hex(),
        }
        for item in items
    ]
    of_class = {"words": words, "mistakes": mistakes}
    return json.dumps({"terms": asdict(terms), **of_class, "items": sent}).encode()


def read_terms(request: Mapping[str, Any]) -> Terms:
    """Read how a batch is to be graded."""
    return msgspec.convert(request["terms"], Terms)


def read_items(request: Mapping[str, Any], lessons: Mapping[str, Lesson]) -> list[Item]:
    """Read a batch's submissions; `lessons` are the worker's own."""
    varied = {
        name: with_own(with_words(lessons[name], words), request["mistakes"][name])
        for name, words in request["words"].items()
    }
    return [
        Item(base64.b64decode(sent["data"]), varied[sent["lesson"]], bytes.fromhex(sent["seed"]))
        for sent in request["items"]
    ]
