"""Processes that isolated ones are copied from: one for each set of exercises that is asked for.

A template is a copy of the fork server from which the exercises' shortcuts were taken out, once for
all submissions. It is told of no submission: neither it nor the fork server has anything of one in
its memory.
"""

import gc
import json
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from grader.sandbox import Channel
from grader.sandbox.processes import die_with_parent
from grader.sandbox.starting import Elsewhere, send, serve
from grader.workers.absence import take_out
from grader.workers.kept_modules import Kept
from grader.workers.runner import work
from grader.workers.unused_checks import take_out_helpers
from utils.checks.registry import probes

FAILED: Final = 1
Asked = tuple[str, ...]  # the exercises that steps observe


class Templates:
    """The watcher's side: templates by what is asked, made when they are first needed.

    A lesson needs one or two, whatever its submissions hold.

    Args:
        fork_server: the connection to the process that makes them.

    """

    def __init__(self, fork_server: socket.socket) -> None:
        self._fork_server = fork_server
        self._known: dict[Asked, Elsewhere] = {}

    def of(self, asked: Asked) -> Elsewhere:
        """Return the template for these exercises."""
        if asked not in self._known:
            ours, theirs = socket.socketpair()
            send(self._fork_server, asked, [theirs.fileno()])
            theirs.close()
            self._known[asked] = Elsewhere(ours)
        return self._known[asked]


def asked_by(steps: Iterable[Mapping[str, Any]]) -> Asked:
    """Return the exercises that steps observe."""
    return tuple(sorted({step["exercise"] for step in steps} - {""}))


def be_template(asked: tuple[str, ...], connection: socket.socket) -> NoReturn:
    """Take out what the exercises forbid, start isolated processes as asked, and end."""
    code = FAILED
    try:
        die_with_parent()
        strip(asked)
        serve(connection, isolated)
        code = 0
    finally:
        os._exit(code)


def strip(asked: Iterable[str]) -> None:
    """Take out of this process what the exercises forbid, and helpers that they do not need.

    What is left of the course can be imported again in all its copies.
    """
    found = [probes()[exercise] for exercise in asked]
    take_out(found)
    take_out_helpers(found)
    sys.meta_path.insert(0, Kept.of("utils"))
    gc.collect()
    gc.freeze()


def isolated(channel: Channel) -> None:
    """Do what an isolated process does, once it is told: all steps, in so many seconds."""
    seconds, steps = json.loads(channel.wait())
    work(steps, channel, seconds)
