"""Versions that a student's own test is tried on, out of its reach.

In a "test the test" exercise the student's code calls right and broken versions of a function. In
grading these run in the watcher, not beside the student's code: the isolated process holds only
proxies, whose numbers say nothing. The order of the versions is drawn after the fork, so it is not
in the memory that the isolated process is a copy of, and only the version on trial answers. A
verdict on a proxy that was never called counts for nothing.

A test may still remember what earlier versions answered, and call right those that answer alike.
In one trial run (one isolated process) all right versions together come as often as each broken
one, and a broken one differs from itself as right ones do from each other (one query at a time,
the width at padding), or whatever shows such a difference would be right. So with five kinds of
answers, a guess at the kind to let through is right 1 time in 5. So a test is tried in TRIAL_RUNS
processes, each with its own order, and a verdict on a version counts only if all its trials in all
of them agree: a guess earns full points 1 time in 5**2 = 25. Only a test that keeps nothing between
its calls, as far as reading shows, is tried in one process (`Step.again` of the plan says so).

A right version computes what other exercises ask for. So tests are tried last, and the first call
of a version ends what is taken about other exercises.
"""

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from grader.notebook_limits import parts_of
from grader.workers.job_files import Cases, Steps, tries
from grader.workers.lending import lend, lent_to
from grader.workers.progress import EVENT
from grader.workers.protocol import (
    MOST_PARTS,
    Message,
    encode,
    pack,
    question_of,
    unpack,
)
from grader.workers.trial_proxy import live
from utils.checks.authoring.tried_sizes import require_small
from utils.checks.observation import Observation, Problem, ProblemKind, plain
from utils.checks.registry import probes

Trial = tuple[str, int]  # exercise and number
MOST_CALLS: Final = 20_000  # in one trial run: a hundred random batches, tried five times on each
MOST_SECONDS: Final = 10.0  # of computing for one trial run: no other limit counts them
TOO_MANY: Final = f"too many calls: all tries of your test together may make {MOST_CALLS}"
VERSION_FAILED: Final = "the function failed on what your test passes; try the test on your own"
TRIAL_RUNS: Final = 2  # in how many isolated processes, one after another, a test is tried


class Server:
    """The watcher's side: hides which version is which, and answers calls.

    Attributes:
        steps: what the isolated process does, with how many cases or trials each has.
        rest: the messages that came and are not about a trial.

    """

    def __init__(self, steps: Steps, run: int = 0) -> None:
        self._run = run
        tried = [step["exercise"] for step in steps if _served(step["exercise"])]
        self._versions: dict[Trial, Any] = {}
        self._places: dict[Trial, int] = {}
        self._current = dict.fromkeys(tried, 0)  # the trial under way
        self._asked: set[Trial] = set()
        self._verdicts: dict[Trial, dict[str, Any]] = {}
        self._calls = 0
        self._seconds = 0.0
        self._is_spent = False
        self.rest: list[bytes] = []
        numbered = [step | {"number": number} for number, step in enumerate(steps)]
        self.steps = _part(numbered, run)
        observed = {step["exercise"] for step in self.steps} - {""}
        # What is said of a test counts as a verdict on a trial alone: one without trials has none.
        self._open = {exercise for exercise in observed if not _served(exercise)}
        self._lent = lent_to(frozenset(observed))

    def draw(self, seed: bytes, cases: Cases) -> None:
        """Draw the order of the versions that students' tests are tried on."""
        for exercise in self._current:
            probe, order = probes()[exercise], _first_or_again(tries(exercise, cases[exercise]))
            random.Random(f"{self._run} {exercise} {seed.hex()}").shuffle(order)
            for trial, (place, again) in enumerate(order):
                params = {**cases[exercise][place], "again": again}
                self._versions[exercise, trial] = probe.make(params)[probe.served]
                self._places[exercise, trial] = place

    def reply(self, raw: bytes) -> bytes | None:
        """Answer a call; take any other message and return None.

        One that no right answer sends, for its many values, is dropped unread.
        """
        if parts_of(raw) > MOST_PARTS:
            return None
        if raw.startswith(b'{"lend"'):
            lent, answered = lend(raw, self._lent)
            self._open -= answered
            return lent
        if raw.startswith(b'{"call"'):
            return self._answer(raw)
        self._take(raw)
        return None

    def _answer(self, raw: bytes) -> bytes:
        """Answer a call of a version."""
        self._calls += 1
        try:
            request = json.loads(raw)["call"]
            if self._calls > MOST_CALLS or self._seconds > MOST_SECONDS:
                self._is_spent = True
                raise ValueError(TOO_MANY)
            found = self._timed_call(request)
            results = (found,) if isinstance(found, Tensor) else tuple(found)
        except Exception as error:  # whatever was asked, the answer is a sentence
            return json.dumps({"error": f"{type(error).__name__}: {error}"[:400]}).encode()
        packed = [pack(plain(item)) for item in results]
        return json.dumps({"results": packed, "alone": isinstance(found, Tensor)}).encode()

    def verdicts(self) -> Iterator[bytes]:
        """Yield a verdict on each version whose trials were all called first and all agree.

        Where calls ran out, trials of a version differ for that reason, and it is told.
        """
        for exercise, place in sorted({(e, place) for (e, _), place in self._places.items()}):
            trials = [t for t, p in self._places.items() if (t[0], p) == (exercise, place)]
            question = {"exercise": exercise, "case": place}  # whatever a message says later on
            found = [self._verdicts.get(trial, {}) | question for trial in trials]
            if self._verdicts.keys() >= set(trials) and found.count(found[0]) == len(found):
                yield json.dumps(found[0]).encode()
            elif self._is_spent:
                problem = Problem(ProblemKind.EXCEPTION, f"ValueError: {TOO_MANY}")
                yield encode(Message(exercise, place, Observation(problem=problem)))

    def _take(self, raw: bytes) -> None:
        """Keep a message; one about the current trial ends it, and counts if it was called.

        That a test was stopped before its first call, or is not there, is told and earns nothing.
        Kept are events, and messages about exercises that are open.
        """
        if raw.startswith(EVENT):
            self.rest.append(raw)
            return
        question = question_of(raw)
        if question not in self._places:
            if question is not None and question[0] in self._open:
                self.rest.append(raw)
        elif question[1] == self._current[question[0]]:
            self._current[question[0]] += 1
            data = _read(raw)
            if data is not None and (question in self._asked or _is_stopped(data)):
                self._verdicts[question] = data

    def _timed_call(self, request: Mapping[str, Any]) -> Any:
        began = time.process_time()
        try:
            return self._call(request)
        finally:
            self._seconds += time.process_time() - began

    def _call(self, request: Mapping[str, Any]) -> Any:
        trial = str(request["exercise"]), int(request["trial"])
        if trial[1] != self._current[trial[0]]:
            raise ValueError("this version is not on trial now")
        version = self._versions[trial]
        self._asked.add(trial)
        self._open.clear()
        arguments = [unpack(item) for item in request["arguments"]]
        named = {str(name): unpack(item) for name, item in request["named"]}
        values = (*arguments, *named.values())
        require_small(value.shape for value in values if isinstance(value, np.ndarray))
        tensors = {name: live(value) for name, value in named.items()}
        with torch.no_grad():
            try:
                return version(*map(live, arguments), **tensors)
            except Exception:  # its words would tell versions apart that compute the same
                raise ValueError(VERSION_FAILED) from None


def _first_or_again(places: Sequence[int]) -> list[tuple[int, bool]]:
    return [(place, place in places[:n]) for n, place in enumerate(places)]


def _served(exercise: str) -> bool:
    return bool(exercise) and bool(probes()[exercise].served)


def _read(raw: bytes) -> Any:
    """Return a message as plain data; None if it cannot be read."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _is_stopped(verdict: Mapping[str, Any]) -> bool:
    """Return whether a verdict is none, but says what stopped the test."""
    problem = verdict.get("problem")
    return isinstance(problem, list) and problem[:1] in (["stub"], ["exception"])


def runs_of(steps: Steps) -> int:
    """Return in how many trial runs a job is done, if its student's tests ask for nothing else."""
    return TRIAL_RUNS if any(_is_tried_again(step) for step in steps) else 1


def _part(steps: Steps, run: int) -> Steps:
    """Return what a trial run does, with students' tests last: all, or what tests need again."""
    kept = [step for step in steps if run == 0 or not step["exercise"] or _is_tried_again(step)]
    while run and kept and not kept[-1]["exercise"]:
        kept.pop()
    return sorted(kept, key=lambda step: _served(step["exercise"]))


def _is_tried_again(step: Mapping[str, Any]) -> bool:
    return _served(step["exercise"]) and bool(step.get("again", True))
