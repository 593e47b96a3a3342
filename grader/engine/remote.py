"""Objects that a student's own test is tried on, out of its reach.

In a "test the test" exercise the student's code calls versions of a function, right and broken
ones. In grading these run in the attendant, not beside the student's code: what the isolated
process holds is a proxy with a number that says nothing, in an order drawn anew each time. Every
version comes twice, and its verdict counts where both agree. A verdict on a proxy that was never
asked counts for nothing; one given without regard to the answer is a guess against 1 in 495.
"""

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch

from grader.engine.wire import WireError, pack, unpack
from utils.checks.observation import plain
from utils.checks.registry import probes

Steps = list[dict[str, Any]]
Trial = tuple[str, int]  # exercise and number
MOST_ENTRIES: Final = 4096  # of one argument
MOST_CALLS: Final = 5000
ROUNDS: Final = 2  # how often each version is tried


class Proxy:
    """The isolated side: calls travel to the attendant, results come back.

    Args:
        exercise: the exercise's id.
        trial: the proxy's number.
        ask: sends a request, gives the reply.
    """

    def __init__(self, exercise: str, trial: int, ask: Callable[[bytes], bytes]) -> None:
        self._exercise, self._trial, self._ask = exercise, trial, ask

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the version; its results are tensors without gradients."""
        request = {
            "exercise": self._exercise,
            "trial": self._trial,
            "arguments": [pack(plain(argument)) for argument in arguments],
            "named": [[name, pack(plain(argument))] for name, argument in named.items()],
        }
        reply = json.loads(self._ask(json.dumps({"call": request}).encode()))
        if "error" in reply:
            raise ValueError(reply["error"])
        return tuple(_live(unpack(item)) for item in reply["results"])


class Server:
    """The attendant's side: hides which version is which, and answers calls.

    Attributes:
        steps: the plan with every served case replaced by numbers.
    """

    def __init__(self, steps: Steps) -> None:
        self._versions: dict[Trial, Any] = {}
        self._places: dict[Trial, int] = {}
        self._asked: set[Trial] = set()
        self._in_time: list[bool] = []  # of each message that is no call
        self._calls = 0
        self.steps = [self._hide(step) for step in steps]

    def _hide(self, step: dict[str, Any]) -> dict[str, Any]:
        exercise = step["exercise"]
        served = probes()[exercise].served if exercise else ""
        if not served:
            return step
        order = list(range(len(step["cases"]))) * ROUNDS
        random.SystemRandom().shuffle(order)
        for trial, place in enumerate(order):
            inputs = probes()[exercise].inputs(**step["cases"][place])
            self._versions[exercise, trial] = inputs[served]
            self._places[exercise, trial] = place
        return step | {"cases": [{"trial": trial} for trial in range(len(order))]}

    def reply(self, raw: bytes) -> bytes | None:
        """Answer a call; None for a message that is none."""
        if not raw.startswith(b'{"call"'):
            trial = self._trial_of(raw)
            self._in_time.append(trial is None or trial in self._asked)
            return None
        self._calls += 1
        try:
            request = json.loads(raw)["call"]
            if self._calls > MOST_CALLS:
                raise ValueError("too many calls")
            results = self._call(request)
        except Exception as error:  # whatever was asked, the answer is a sentence
            return json.dumps({"error": f"{type(error).__name__}: {error}"[:400]}).encode()
        return json.dumps({"results": [pack(plain(item)) for item in results]}).encode()

    def restored(self, messages: Sequence[bytes]) -> tuple[bytes, ...]:
        """The messages with verdicts on versions in place of those on trials.

        A version has one where all its trials were asked before, and had the same.
        """
        rest, verdicts = [], dict[Trial, dict[str, Any]]()
        for raw, in_time in zip(messages, self._in_time, strict=False):
            trial = self._trial_of(raw)
            if trial is None:
                rest.append(raw)
            elif in_time:
                verdicts.setdefault(trial, json.loads(raw))
        return (*rest, *self._agreed(verdicts))

    def _agreed(self, verdicts: Mapping[Trial, dict[str, Any]]) -> Iterator[bytes]:
        for exercise, place in sorted({(e, place) for (e, _), place in self._places.items()}):
            trials = [t for t, p in self._places.items() if (t[0], p) == (exercise, place)]
            found = [verdicts.get(trial, {}) | {"case": place} for trial in trials]
            if all(trial in verdicts for trial in trials) and found.count(found[0]) == len(found):
                yield json.dumps(found[0]).encode()

    def _trial_of(self, raw: bytes) -> Trial | None:
        """Which trial a message is about, if it is about one."""
        if not self._places:
            return None
        try:
            data = json.loads(raw)
            trial = data["exercise"], data["case"]
            return trial if trial in self._places else None
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def _call(self, request: Mapping[str, Any]) -> Sequence[Any]:
        trial = str(request["exercise"]), int(request["trial"])
        version = self._versions[trial]
        self._asked.add(trial)
        arguments = [_bounded(unpack(item)) for item in request["arguments"]]
        named = {str(name): _bounded(unpack(item)) for name, item in request["named"]}
        with torch.no_grad():
            return tuple(version(*arguments, **named))


def _live(value: Any) -> Any:
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def _bounded(value: Any) -> Any:
    if isinstance(value, np.ndarray) and math.prod(value.shape) > MOST_ENTRIES:
        raise WireError(f"a test may pass tensors of at most {MOST_ENTRIES} entries")
    return _live(value)
