"""A warm process that grades one submission at a time, each in new processes.

    the judging process: judges and records; runs no student code
      └ fork server: torch imported, no secret in memory; is told where a job is, never reads it
          └ monitor: one job; reads it, watches its processes, passes on the results, ends
              └ the isolated processes, one for each trial run: the student's code

The monitor exists so that nothing of one submission is left in the memory that the next one is
copied from. For the same reason, fork servers are started fresh, not forked from the judging
process. And for the same reason, the monitor starts all isolated processes of a job before it
learns in which order versions are tried; each waits until its turn.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Final, NoReturn

from grader.sandbox import CannotIsolate, Channel, Ended, Limits, Supervisor, Task
from grader.workers import torch_in_memory
from grader.workers.job_files import Steps, read_hidden, read_steps
from grader.workers.progress import status_of
from grader.workers.results import POOL_READY, TrialRun, write_result
from grader.workers.runner import work
from grader.workers.trials import Server, runs_of
from grader.workers.warm_up import warm_up

LEAST_SECONDS: Final = 0.01  # for a process whose job has used up its time: it is stopped at once


def run(supervisor: Supervisor, jobs: IO[bytes], results: IO[bytes]) -> None:
    """Take jobs, one per line, until there are no more; answer each with results.

    A line holds the seconds that earlier tries of the job took, and the name of its file.
    """
    results.write(POOL_READY)
    results.flush()
    for line in jobs:
        spent, _, name = line.rstrip(b"\n").partition(b" ")
        pid = os.fork()
        if pid == 0:
            monitor(supervisor, Path(os.fsdecode(name)), time.monotonic() - float(spent), results)
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
            write_result(results, None)


def monitor(supervisor: Supervisor, job: Path, began: float, results: IO[bytes]) -> NoReturn:
    """Do the trial runs of a job that began at a time, pass on their results, and end."""
    code = 1
    try:
        for trial in trial_runs(supervisor, job, began):
            write_result(results, trial)
        supervisor.close()  # who was not needed still waits
        code = 0
    finally:
        os._exit(code)


def trial_runs(supervisor: Supervisor, job: Path, began: float) -> Iterator[TrialRun]:
    """Do a job's trial runs; those after the first follow while a student's own test judges."""
    steps = read_steps(job)
    servers = [Server(steps, number) for number in range(runs_of(steps))]
    tasks = [
        supervisor.start(task_of(server.steps), answer=server.reply, held=True)
        for server in servers
    ]
    hidden = read_hidden(job)  # not before: the tasks are copies of this process
    done: dict[int, Ended] = {}
    for number, (server, task) in enumerate(zip(servers, tasks, strict=True)):
        server.draw(*hidden)
        let_go(supervisor, task, began)
        while task not in done:
            done |= supervisor.poll()
        trial = trial_run(server, done[task])
        more = trial.more and number + 1 < len(servers)
        yield replace(trial, more=more)
        if not more:
            return


def task_of(steps: Steps) -> Task:
    """Return what an isolated process does once it is told how many seconds it has."""

    def task(channel: Channel) -> None:
        work(steps, channel.send, channel.ask, float(channel.wait()))

    return task


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


def main(arguments: list[str]) -> None:
    """Run a fork server; `arguments` are limits as ``name=value`` and maybe ``no-isolation``."""
    warm_up()
    pairs = dict(argument.split("=") for argument in arguments if "=" in argument)
    defaults = asdict(Limits())
    limits = Limits(**{name: type(defaults[name])(float(v)) for name, v in pairs.items()})
    try:
        isolate = "no-isolation" not in arguments
        supervisor = Supervisor(limits, hidden=torch_in_memory.folders(), isolate=isolate)
    except CannotIsolate as error:
        sys.stdout.write(json.dumps(str(error)) + "\n")
    else:
        run(supervisor, sys.stdin.buffer, sys.stdout.buffer)
