"""What a worker answers to a batch, read with care: outcomes, or what went wrong."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.authoring.lesson import Lesson
from grader.cluster.outcome_data import read_outcome
from grader.judging.outcome import Outcome
from grader.workers.protocol import WireError


@dataclass
class Answered:
    """A worker's answer.

    Attributes:
        worker: its address.
        outcomes: place in the batch -> outcome; a place may be missing, none comes twice.
        refused: the worker's versions, if they differ from the client's.
        failed: why this worker cannot grade, if it cannot.
        lost: what ended the batch early, if something did.

    """

    worker: str
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    failed: str = ""
    lost: str = ""


def read_answer(raw: bytes, lessons: Sequence[Lesson]) -> Answered:
    """Read an answer to a batch whose submissions are of these lessons, in order.

    Raises:
        WireError: it is not in the form of one, or not about this batch.

    """
    try:
        told = json.loads(raw)
        found = Answered(str(told["worker"]))
        for answer in told["answers"]:
            _add(found, answer, lessons)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WireError(f"no answer: {error!r}") from None
    return found


def _add(found: Answered, answer: dict[str, Any], lessons: Sequence[Lesson]) -> None:
    if "outcome" in answer:
        place = answer["position"]
        if type(place) is not int or not 0 <= place < len(lessons) or place in found.outcomes:
            raise ValueError(f"position {place!r}")
        found.outcomes[place] = read_outcome(answer["outcome"], lessons[place])
    elif "refused" in answer:
        found.refused = {str(name): str(value) for name, value in answer["refused"].items()}
    elif "failed" in answer:
        found.failed = str(answer["failed"])
    else:
        found.lost = str(answer["lost"])
