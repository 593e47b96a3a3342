"""A warm process that grades one submission at a time, each in new processes.

    the judging process: judges and records; runs no student code
      └ fork server: torch imported, no secret in memory; is told of no submission
          ├ watcher: reads jobs, makes inputs, watches the isolated processes, passes on results
          └ templates: without what exercises forbid, one for each set of them
              └ the isolated processes, one for each trial run: the student's code

Isolated processes are copies of a template, which no submission was ever read in: nothing of
another one is left in their memory, and nothing that must stay hidden is. Nothing is ever copied
from the watcher. For the same reason, fork servers are started fresh, not forked from the judging
process.
"""

import json
import os
import socket
import sys
from dataclasses import asdict
from typing import IO

from grader.sandbox import CannotIsolate, Limits, Supervisor
from grader.workers import torch_in_memory
from grader.workers.results import POOL_READY, write_result
from grader.workers.templates import make_templates
from grader.workers.warm_up import warm_up
from grader.workers.watcher import watch


def run(supervisor: Supervisor, jobs: IO[bytes], results: IO[bytes]) -> None:
    """Have jobs watched, one per line, until there are no more; each is answered with results.

    A watcher that died has taken its job and its templates along: it is replaced.
    """
    results.write(POOL_READY)
    results.flush()
    while watched(supervisor, jobs, results):
        write_result(results, None)


def watched(supervisor: Supervisor, jobs: IO[bytes], results: IO[bytes]) -> int:
    """Start a watcher and make its templates until it ends; return its exit code."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        watch(supervisor, jobs, results, theirs)
    theirs.close()
    with ours:
        make_templates(ours)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


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
