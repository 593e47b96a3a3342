"""A warm process from which everything that grades is copied.

    the judging process: judges and records; runs no student code
      └ fork server: torch imported, no secret in memory; is told of no submission
          ├ watchers, one for each submission that is graded at a time: they read jobs, make
          │   inputs, watch the isolated processes, pass on results
          └ templates: without what exercises forbid, one for each set of them and each watcher
              └ the isolated processes, one for each trial run: the student's code

Isolated processes are copies of a template, which no submission was ever read in: nothing of
another one is left in their memory, and nothing that must stay hidden is. Nothing is ever copied
from a watcher. For the same reason, the fork server is started fresh, not forked from the judging
process.
"""

import contextlib
import json
import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Final

from grader.sandbox import CannotIsolate, Limits, Supervisor
from grader.sandbox.starting import receive, wait_for
from grader.workers import torch_in_memory
from grader.workers.templates import be_template
from grader.workers.warm_up import warm_up
from grader.workers.watcher import watch

STDIN: Final = 0
CANNOT_GO_ON: Final = (
    "A grading process cannot go on ({error}). Close other programs, or grade fewer at once "
    "(--jobs 1)."
)


class Copies:
    """The fork server's side: starts watchers as the pool asks, and templates as these ask.

    Args:
        pool: the connection to the pool; it brings the ends of each watcher's pipes.
        supervisor: what watchers watch with.

    """

    def __init__(self, pool: socket.socket, supervisor: Supervisor) -> None:
        self._pool, self._supervisor = pool, supervisor
        self._watchers: list[socket.socket] = []

    def serve(self) -> None:
        """Start what is asked for until the pool is gone."""
        while True:
            for connection in wait_for([self._pool, *self._watchers]):
                if connection is not self._pool:
                    self._template(connection)
                elif not self._watcher():
                    return
            reap()

    def _watcher(self) -> bool:
        """Start a watcher; return whether the pool is there, and asked for one."""
        try:
            _, (jobs, results) = receive(self._pool)
        except EOFError:
            return False
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            close_all([ours, self._pool, *self._watchers])
            watch(self._supervisor, jobs, results, theirs)
        theirs.close()
        close_descriptors([jobs, results])
        self._watchers.append(ours)
        return True

    def _template(self, watcher: socket.socket) -> None:
        """Make the template that a watcher asks for; forget the watcher if it has ended."""
        try:
            asked, (connection,) = receive(watcher)
        except EOFError:
            self._watchers.remove(watcher)
            watcher.close()
            return
        if os.fork() == 0:
            close_all([self._pool, *self._watchers])
            be_template(asked, socket.socket(fileno=connection))
        os.close(connection)


def taken_over(descriptor: int) -> socket.socket:
    """Return the connection at a descriptor, and put nothing in its place."""
    connection = socket.socket(fileno=os.dup(descriptor))
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), descriptor)
    return connection


def close_all(connections: Iterable[socket.socket]) -> None:
    """Close what a copy has no use for: while it is open, its other end hears of no end."""
    for connection in connections:
        connection.close()


def close_descriptors(descriptors: Iterable[int]) -> None:
    """Close descriptors that a copy has of its own."""
    for descriptor in descriptors:
        os.close(descriptor)


def reap() -> None:
    """Take note of all children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def refuse(pool: socket.socket, why: str) -> None:
    """Tell everybody who asks for a watcher why there is none."""
    with contextlib.suppress(EOFError):
        while True:
            _, (jobs, results) = receive(pool)
            os.write(results, json.dumps(why).encode() + b"\n")
            close_descriptors([jobs, results])


def main(arguments: list[str]) -> None:
    """Run a fork server; `arguments` are limits as ``name=value`` and maybe ``no-isolation``."""
    warm_up()
    pairs = dict(argument.split("=") for argument in arguments if "=" in argument)
    defaults = asdict(Limits())
    limits = Limits(**{name: type(defaults[name])(float(v)) for name, v in pairs.items()})
    pool = taken_over(STDIN)
    try:
        isolate = "no-isolation" not in arguments
        supervisor = Supervisor(limits, hidden=torch_in_memory.folders(), isolate=isolate)
    except CannotIsolate as error:
        refuse(pool, str(error))
    else:
        try:
            Copies(pool, supervisor).serve()
        except OSError as error:  # it cannot make another process: the pool tries with a new server
            sys.exit(CANNOT_GO_ON.format(error=error.strerror))
