"""A warm process from which everything that grades is copied.

    the judging process: judges and records; runs no student code
      └ fork server: torch imported, no secret in memory; is told of no submission
          ├ watchers, one for each submission that is graded at a time: they read jobs, watch the
          │   isolated processes, pass on results
          └ origins, one for each watcher: they start isolated processes, and know nothing else
              └ the isolated processes, one for each trial run: the student's code

Isolated processes are copies of an origin, which no submission was ever read in: nothing of
another one is left in their memory. Nothing is ever copied from a watcher. For the same reason,
the fork server is started fresh, not forked from the judging process.
"""

import contextlib
import json
import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Final, NoReturn

from grader.sandbox import CannotIsolate, Channel, Limits, Supervisor
from grader.sandbox.starting import Elsewhere, receive, serve
from grader.sandbox.walls.processes import die_with_parent
from grader.workers.runner import work
from grader.workers.warm_up import warm_up
from grader.workers.watcher import watch

STDIN: Final = 0
CANNOT_GO_ON: Final = (
    "A grading process cannot go on ({error}). Close other programs, or grade fewer at once "
    "(--jobs 1)."
)


def serve_pool(pool: socket.socket, supervisor: Supervisor) -> None:
    """Start a watcher, and an origin for it, whenever the pool asks, until the pool is gone.

    Args:
        pool: the connection to the pool; it brings the ends of each watcher's pipes.
        supervisor: what watchers watch with.

    """
    with contextlib.suppress(EOFError):
        while True:
            _, (jobs, results) = receive(pool)
            ours, theirs = socket.socketpair()
            if os.fork() == 0:
                close_all([pool, theirs])
                close_descriptors([jobs, results])
                be_origin(ours)
            if os.fork() == 0:
                close_all([pool, ours])
                watch(supervisor, jobs, results, Elsewhere(theirs))
            close_all([ours, theirs])
            close_descriptors([jobs, results])
            reap()


def be_origin(connection: socket.socket) -> NoReturn:
    """Start isolated processes as a watcher asks, copies of this one, and end with it."""
    code = 1
    try:
        die_with_parent()
        serve(connection, isolated)
        code = 0
    finally:
        os._exit(code)


def isolated(channel: Channel) -> None:
    """Do what an isolated process does, once it is told: all steps, in so many seconds."""
    seconds, steps = json.loads(channel.wait())
    work(steps, channel, seconds)


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
    """Answer each request for a watcher with the reason why there is none."""
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
        supervisor = Supervisor(limits, isolate=isolate)
    except CannotIsolate as error:
        refuse(pool, str(error))
    else:
        try:
            serve_pool(pool, supervisor)
        except OSError as error:  # it cannot make another process: the pool tries with a new server
            sys.exit(CANNOT_GO_ON.format(error=error.strerror))
