"""The process that watches isolated ones: it reads jobs, and passes on what became of them.

No student code runs in it and nothing is copied from it, so it may hold what must stay hidden. It
lives through many jobs, and keeps nothing of them.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Final, NoReturn

from grader.sandbox import Ended, Limits, Supervisor
from grader.sandbox.note import NOTHING
from grader.sandbox.starting import Elsewhere
from grader.sandbox.walls.processes import die_with_parent
from grader.workers.job_files import read_job, read_line
from grader.workers.progress import DONE, is_done, status_of
from grader.workers.results import TrialRun, write_ready, write_result
from grader.workers.trials import Server, runs_of

LEAST_SECONDS: Final = 0.01  # for a process whose job has used up its time: it is stopped at once


def watch(supervisor: Supervisor, jobs: int, results: int, origin: Elsewhere) -> NoReturn:
    """Do the jobs that come through a pipe, say what became of them through another, and end."""
    code = 1
    try:
        die_with_parent()
        with os.fdopen(jobs, "rb") as lines, os.fdopen(results, "wb") as told:
            write_ready(told)
            do_jobs(supervisor, origin, lines, told)
        code = 0
    finally:
        os._exit(code)


def do_jobs(
    supervisor: Supervisor, origin: Elsewhere, jobs: Iterable[bytes], results: IO[bytes]
) -> None:
    """Do one job per line (see `job_line`) until there are no more."""
    for line in jobs:
        spent, file = read_line(line)
        for trial in trial_runs(supervisor, origin, file, spent):
            write_result(results, trial)


def trial_runs(
    supervisor: Supervisor, origin: Elsewhere, job: Path, spent: float
) -> Iterator[TrialRun]:
    """Do a job's trial runs; those after the first follow while a student's own test judges."""
    steps, seed, cases = read_job(job)
    for run in range(runs_of(steps)):
        server = Server(steps, run)
        server.draw(seed, cases)
        task = supervisor.start(origin, held=True)
        began = time.monotonic()
        let_go(supervisor, task, server, spent)
        (ended,) = supervisor.poll().values()
        spent += time.monotonic() - began
        trial = trial_run(server, ended)
        yield replace(trial, more=trial.more and run + 1 < runs_of(steps))
        if not trial.more:
            return


def let_go(supervisor: Supervisor, task: int, server: Server, spent: float) -> None:
    """Tell a held task what to do, in the time that is left."""
    limits = rest_of(supervisor.limits, spent)
    seconds = min(limits.wall_seconds, float(limits.cpu_seconds))
    told = json.dumps([seconds, server.steps]).encode()
    supervisor.let_go(task, told, limits.wall_seconds, server.reply, DONE)


def trial_run(server: Server, ended: Ended) -> TrialRun:
    """Return the result of a trial run whose process has ended."""
    ended = replace(ended, messages=tuple(server.rest))
    reached = NOTHING if is_done(ended) else ended.reached
    ended = replace(ended, status=status_of(ended), reached=reached)
    verdicts = tuple(server.verdicts())
    # A test without a verdict ends the trial: none will be agreed on.
    return TrialRun(ended, verdicts, more=bool(verdicts))


def rest_of(limits: Limits, spent: float) -> Limits:
    """Return the limits of a job's next process: all of them share the wall-clock seconds."""
    return replace(limits, wall_seconds=max(limits.wall_seconds - spent, LEAST_SECONDS))
