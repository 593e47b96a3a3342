"""A warm process that grades one submission at a time, each in new processes.

    the judging process: judges and records; runs no student code
      └ fork server: torch imported, no secret in memory; is told where a job is, never reads it
          └ monitor: one job, one trial run; reads it, watches it, passes on the result, ends
              └ the isolated process: the student's code

The monitor exists so that nothing of one submission is left in the memory that the next one is
copied from. For the same reason, fork servers are started fresh, not forked from the judging
process.
"""

import itertools
import json
import os
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Final, NoReturn

from grader.sandbox import CannotIsolate, Limits, Supervisor
from grader.workers import torch_in_memory
from grader.workers.job_files import read_hidden, read_steps
from grader.workers.progress import status_of
from grader.workers.results import POOL_READY, TrialRun, write_result
from grader.workers.runner import work
from grader.workers.trials import Server
from grader.workers.warm_up import warm_up

LEAST_SECONDS: Final = 0.01  # for a process whose job has used up its time: it is stopped at once
MORE: Final = 10  # a monitor's exit code if another trial run follows


def run(supervisor: Supervisor, jobs: IO[bytes], results: IO[bytes]) -> None:
    """Take jobs, one per line, until there are no more; answer each with results.

    A line holds the seconds that earlier tries of the job took, and the name of its file.
    """
    results.write(POOL_READY)
    results.flush()
    for line in jobs:
        spent, _, name = line.rstrip(b"\n").partition(b" ")
        job, began = Path(os.fsdecode(name)), time.monotonic() - float(spent)
        for number in itertools.count():
            pid = os.fork()
            if pid == 0:
                supervisor.limits = rest_of(supervisor.limits, time.monotonic() - began)
                monitor(supervisor, job, number, results)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if code != MORE:
                break
        if code:
            write_result(results, None)


def rest_of(limits: Limits, spent: float) -> Limits:
    """Return the limits of a job's next process: all of them share the wall-clock seconds."""
    return replace(limits, wall_seconds=max(limits.wall_seconds - spent, LEAST_SECONDS))


def monitor(supervisor: Supervisor, job: Path, number: int, results: IO[bytes]) -> NoReturn:
    """Do one trial run of a job, pass on its result, and end this process."""
    code = 1
    try:
        run = run_trial(supervisor, job, number)
        write_result(results, run)
        code = MORE if run.more else 0
    finally:
        os._exit(code)


def run_trial(supervisor: Supervisor, job: Path, number: int) -> TrialRun:
    """Do one trial run; another follows while the student's own test gives verdicts."""
    server = Server(read_steps(job), number)
    seconds = min(supervisor.limits.wall_seconds, float(supervisor.limits.cpu_seconds))
    task = supervisor.start(
        lambda channel: work(server.steps, channel.send, channel.ask, seconds), answer=server.reply
    )
    server.draw(*read_hidden(job))  # not before: the task is a copy of this process
    ended = supervisor.poll()[task]
    ended = replace(ended, messages=tuple(server.rest))
    ended = replace(ended, status=status_of(ended))
    verdicts = tuple(server.verdicts())
    more = (server.more or bool(verdicts)) and number < server.last
    return TrialRun(ended, verdicts, more, tuple(server.apart()), server.tested)


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
