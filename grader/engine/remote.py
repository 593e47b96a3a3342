"""Objects that a student's own test is tried on, out of its reach.

In a "test the test" exercise the student's code calls versions of a function, right and broken
ones. In grading these run in the attendant, not beside the student's code: what the isolated
process holds is a proxy with a number that says nothing. Their order is drawn behind the fork, so
that it is not in the memory which that process is a copy of, and only the version on trial
answers. A verdict on a proxy that was never asked counts for nothing.

A test may still remember what earlier versions answered, and call right those that answer alike.
In one sitting (one isolated process) all right versions together come as often as each broken
one, so among five kinds of answers the kind to let through is a guess against 1 in 5. All is
tried in SITTINGS processes, each in an order of its own, and a verdict on a version counts where
all its trials in all of them agree: a guess at full points is one in 5**2 = 25.
"""

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import torch

from grader.engine.wire import WireError, pack, unpack
from grader.isolation import Ended
from utils.checks.observation import plain
from utils.checks.registry import probes

Steps = list[dict[str, Any]]
Trial = tuple[str, int]  # exercise and number
MOST_AXES: Final = 4  # of one argument
MOST_ENTRIES: Final = 4096  # of one argument
MOST_SCORES: Final = 100_000  # of all arguments of a call, broadcast together
MOST_CALLS: Final = 5000
MOST_SECONDS: Final = 10.0  # of computing for one sitting: no other limit counts them
SITTINGS: Final = 2  # in how many isolated processes, one after another, a test is tried


@dataclass(frozen=True)
class Sitting:
    """What came of one isolated process.

    Attributes:
        ended: how it ended; its messages are those about no trial.
        verdicts: on versions, as messages.
        more: another sitting follows.
    """

    ended: Ended
    verdicts: tuple[bytes, ...]
    more: bool


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
        steps: what the isolated process does, with every served case replaced by a number.
        rest: the messages that came and are about no trial.
    """

    def __init__(self, steps: Steps, sitting: int = 0) -> None:
        self._sitting = sitting
        self._cases = {s["exercise"]: s["cases"] for s in steps if _served(s["exercise"])}
        self._versions: dict[Trial, Any] = {}
        self._places: dict[Trial, int] = {}
        self._current = dict.fromkeys(self._cases, 0)  # the trial under way
        self._asked: set[Trial] = set()
        self._verdicts: dict[Trial, dict[str, Any]] = {}
        self._calls = 0
        self._seconds = 0.0
        self.rest: list[bytes] = []
        self.steps = [self._hide(step) for step in _part(steps, sitting)]

    def _hide(self, step: dict[str, Any]) -> dict[str, Any]:
        if step["exercise"] not in self._cases:
            return step
        n_trials = len(_tries(step["exercise"], step["cases"]))
        return step | {"cases": [{"trial": trial} for trial in range(n_trials)]}

    def draw(self, seed: bytes) -> None:
        """Draw the order of the versions.

        Call it behind the fork of the isolated process, which would else find it in its memory.
        """
        for exercise, cases in self._cases.items():
            probe, order = probes()[exercise], _tries(exercise, cases)
            random.Random(f"{self._sitting} {exercise} {seed.hex()}").shuffle(order)
            for trial, place in enumerate(order):
                self._versions[exercise, trial] = probe.inputs(**cases[place])[probe.served]
                self._places[exercise, trial] = place

    def reply(self, raw: bytes) -> bytes | None:
        """Answer a call; None for a message that is none."""
        if not raw.startswith(b'{"call"'):
            self._take(raw)
            return None
        self._calls += 1
        try:
            request = json.loads(raw)["call"]
            if self._calls > MOST_CALLS or self._seconds > MOST_SECONDS:
                raise ValueError("too many calls")
            results = self._timed_call(request)
        except Exception as error:  # whatever was asked, the answer is a sentence
            return json.dumps({"error": f"{type(error).__name__}: {error}"[:400]}).encode()
        return json.dumps({"results": [pack(plain(item)) for item in results]}).encode()

    def verdicts(self) -> Iterator[bytes]:
        """The verdicts on versions: one where all trials were asked before, and had the same."""
        for exercise, place in sorted({(e, place) for (e, _), place in self._places.items()}):
            trials = [t for t, p in self._places.items() if (t[0], p) == (exercise, place)]
            found = [self._verdicts.get(trial, {}) | {"case": place} for trial in trials]
            if self._verdicts.keys() >= set(trials) and found.count(found[0]) == len(found):
                yield json.dumps(found[0]).encode()

    def _take(self, raw: bytes) -> None:
        """Keep a message; one about a trial ends that trial, and counts if it is under way."""
        trial = self._trial_of(raw)
        if trial is None:
            self.rest.append(raw)
        elif trial[1] == self._current[trial[0]]:
            self._current[trial[0]] += 1
            if trial in self._asked:
                self._verdicts[trial] = json.loads(raw)

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

    def _timed_call(self, request: Mapping[str, Any]) -> Sequence[Any]:
        began = time.process_time()
        try:
            return self._call(request)
        finally:
            self._seconds += time.process_time() - began

    def _call(self, request: Mapping[str, Any]) -> Sequence[Any]:
        trial = str(request["exercise"]), int(request["trial"])
        if trial[1] != self._current[trial[0]]:
            raise ValueError("this version is not on trial now")
        version = self._versions[trial]
        self._asked.add(trial)
        arguments = [unpack(item) for item in request["arguments"]]
        named = {str(name): unpack(item) for name, item in request["named"]}
        _require_small([*arguments, *named.values()])
        with torch.no_grad():
            return tuple(
                version(*map(_live, arguments), **{n: _live(value) for n, value in named.items()})
            )


def as_one(sittings: Sequence[Sitting | None]) -> Ended | None:
    """What came of a job in all its sittings; None where one of them died.

    Its messages are those of the first sitting, and the verdicts that all sittings agree on.
    """
    whole = [sitting for sitting in sittings if sitting is not None]
    if len(whole) < len(sittings):
        return None
    ended = [sitting.ended for sitting in whole]
    agreed = [v for v in whole[0].verdicts if all(v in sitting.verdicts for sitting in whole)]
    return replace(
        next((one for one in ended if one.status != "finished"), ended[0]),
        messages=(*ended[0].messages, *agreed),
        cpu_seconds=sum(one.cpu_seconds for one in ended),
        wall_seconds=sum(one.wall_seconds for one in ended),
        max_rss_bytes=max(one.max_rss_bytes for one in ended),
    )


def _served(exercise: str) -> bool:
    return bool(exercise) and bool(probes()[exercise].served)


def _part(steps: Steps, sitting: int) -> Steps:
    """What a sitting does: the first all, others what leads to the served exercises."""
    if sitting == 0:
        return steps
    kept = [step for step in steps if not step["exercise"] or _served(step["exercise"])]
    while kept and not kept[-1]["exercise"]:
        kept.pop()
    return kept


def _tries(exercise: str, cases: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places of the cases, each as often as it is tried in a sitting.

    The right versions (their cases are required) answer alike: each comes once, and every broken
    one as often as they do together, so that how often an answer comes says nothing.
    """
    right = [dict(case.params) for case in probes()[exercise].cases if case.required]
    times = [1 if params in right else max(1, len(right)) for params in cases]
    return [place for place, n in enumerate(times) for _ in range(n)]


def _live(value: Any) -> Any:
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def _require_small(values: Sequence[Any]) -> None:
    """Refuse tensors that are large, or become so when they are broadcast together."""
    shapes = [value.shape for value in values if isinstance(value, np.ndarray)]
    if any(len(shape) > MOST_AXES or math.prod(shape) > MOST_ENTRIES for shape in shapes):
        text = f"a test may pass tensors of at most {MOST_AXES} axes and {MOST_ENTRIES} entries"
        raise WireError(text)
    padded = [(1,) * (MOST_AXES - len(shape)) + shape for shape in [(), *shapes]]
    *lead, rows, columns = (max(sizes) for sizes in zip(*padded, strict=True))
    if math.prod(lead) * rows * max(rows, columns) > MOST_SCORES:
        raise WireError(f"these tensors together make more than {MOST_SCORES} scores")
