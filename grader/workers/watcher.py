"""The process that watches isolated ones: it reads jobs, and passes on what became of them.

No student code runs in it and nothing is copied from it, so it may hold what must stay hidden. It
lives through many jobs, and keeps of them only the inputs of cases, which are the lessons' own.
"""

import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Final, NoReturn

from grader.sandbox import Ended, Limits, Supervisor
from grader.sandbox.processes import die_with_parent
from grader.workers.job_files import read_job
from grader.workers.progress import status_of
from grader.workers.results import TrialRun, write_result
from grader.workers.templates import Templates
from grader.workers.trials import Server, runs_of

LEAST_SECONDS: Final = 0.01  # for a process whose job has used up its time: it is stopped at once


def watch(
    supervisor: Supervisor, jobs: IO[bytes], results: IO[bytes], fork_server: socket.socket
) -> NoReturn:
    """Do one job per line until there are no more, and end.

    A line holds the seconds that earlier tries of the job took, and the name of its file.
    """
    code = 1
    try:
        die_with_parent()
        templates = Templates(fork_server)
        for line in jobs:
            spent, _, name = line.rstrip(b"\n").partition(b" ")
            began = time.monotonic() - float(spent)
            for trial in trial_runs(supervisor, templates, Path(os.fsdecode(name)), began):
                write_result(results, trial)
            supervisor.close()  # who was not needed still waits
        code = 0
    finally:
        os._exit(code)


def trial_runs(
    supervisor: Supervisor, templates: Templates, job: Path, began: float
) -> Iterator[TrialRun]:
    """Do a job's trial runs; those after the first follow while a student's own test judges."""
    steps, seed, cases = read_job(job)
    servers = [Server(steps, number) for number in range(runs_of(steps))]
    tasks = [
        supervisor.start(
            templates.of(server.steps),
            answer=server.reply,
            given=json.dumps(server.steps).encode(),
            held=True,
        )
        for server in servers
    ]
    done: dict[int, Ended] = {}
    for number, (server, task) in enumerate(zip(servers, tasks, strict=True)):
        server.draw(seed, cases)
        let_go(supervisor, task, began)
        while task not in done:
            done |= supervisor.poll()
        trial = trial_run(server, done[task])
        more = trial.more and number + 1 < len(servers)
        yield replace(trial, more=more)
        if not more:
            return


def let_go(supervisor: Supervisor, task: int, began: float) -> None:
    """Tell a held task to begin, in the time that is left."""
    limits = rest_of(supervisor.limits, time.monotonic() - began)
    seconds = min(limits.wall_seconds, float(limits.cpu_seconds))
    supervisor.let_go(task, b"%f" % seconds, limits.wall_seconds)


def trial_run(server: Server, ended: Ended) -> TrialRun:
    """Return the result of a trial run whose process has ended."""
    ended = replace(ended, messages=tuple(server.rest))
    ended = replace(ended, status=status_of(ended))
    verdicts = tuple(server.verdicts())
    more = server.more or bool(verdicts)
    return TrialRun(ended, verdicts, more, tuple(server.apart()), server.tested)


def rest_of(limits: Limits, spent: float) -> Limits:
    """Return the limits of a job's next process: all of them share the wall-clock seconds."""
    return replace(limits, wall_seconds=max(limits.wall_seconds - spent, LEAST_SECONDS))
