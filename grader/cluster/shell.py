"""The process beside a Dask worker: takes batches as lines of JSON, grades, and answers in JSON.

It keeps its pool from batch to batch, and runs no student code: that runs below the pool's fork
servers. Nothing that happens here is raised to the worker; it is told as data.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, Final

from grader.authoring.lesson import lessons
from grader.cluster.outcome_data import write_outcome
from grader.cluster.request import Terms, read_items, read_terms
from grader.cluster.task import END
from grader.cluster.versions import ROOT, versions
from grader.judging.pipeline import grade_all
from grader.sandbox import CannotIsolate
from grader.workers.pool import Pool

MOST_TOLD: Final = 400  # characters of an error

Answer = dict[str, Any]


class Grader:
    """Grades batch after batch, on one pool while their terms are the same."""

    def __init__(self, n_watchers: int, scratch: Path) -> None:
        self._n_watchers, self._scratch = n_watchers, scratch
        self._lessons = {lesson.name: lesson for lesson in lessons(ROOT)}
        self._opened = ExitStack()
        self._pool: tuple[Terms, Pool] | None = None

    def answers(self, line: bytes) -> Iterator[Answer]:
        """Yield an answer for each submission as it is graded, or why the batch is not."""
        try:
            request = json.loads(line)
            terms = read_terms(request)
            if terms.versions != versions():
                yield {"refused": versions()}
            else:
                yield from self._graded(request, terms)
        except Exception as error:  # this machine's: what a submission causes is in its outcome
            self.close()
            yield {"failed": _told(error)}

    def _graded(self, request: Answer, terms: Terms) -> Iterator[Answer]:
        until = time.monotonic() + terms.seconds
        items = read_items(request, self._lessons)
        in_time = takewhile(lambda _: time.monotonic() < until, items)
        for position, outcome in grade_all(in_time, self._pool_for(terms)):
            yield {"position": position, "outcome": write_outcome(outcome)}

    def _pool_for(self, terms: Terms) -> Pool:
        if self._pool is None or self._pool[0] != terms:
            self.close()
            isolate, scratch = terms.isolate, self._scratch
            pool = Pool(self._n_watchers, terms.limits, isolate=isolate, scratch=scratch)
            self._pool = terms, self._opened.enter_context(pool)
        return self._pool[1]

    def close(self) -> None:
        """Stop the fork server, and remove what they were given."""
        self._opened.close()
        self._pool = None


def _told(error: Exception) -> str:
    text = str(error) if isinstance(error, CannotIsolate) else f"{type(error).__name__}: {error}"
    return text[:MOST_TOLD].rstrip(".")  # it becomes the end of a sentence


def serve(grader: Grader, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer batches, one a line, until there are no more."""
    for line in requests:
        for answer in grader.answers(line):
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()
        answers.write(END + b"\n")
        answers.flush()


def main(arguments: list[str]) -> None:
    """Serve the worker that started this process; the arguments are watchers and scratch."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints by mistake is no answer
    grader = Grader(int(arguments[0]), Path(arguments[1]))
    try:
        serve(grader, sys.stdin.buffer, answers)
    except BrokenPipeError:  # the worker is gone, and with it whoever wants the answers
        os._exit(1)
    finally:
        grader.close()
