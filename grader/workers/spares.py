"""Isolated processes that are there before a submission comes: it takes as long as a few cases.

They wait behind their walls, copies of a template that was told of no submission, and are told of
one when they are let go.
"""

import contextlib
from collections.abc import Iterable
from typing import Final

from grader.sandbox import Ended, Supervisor
from grader.workers.templates import Asked, Templates


class Spares:
    """A watcher's isolated processes: those that wait, and those at work.

    Args:
        supervisor: what starts and watches them.
        templates: what they are copies of.

    """

    def __init__(self, supervisor: Supervisor, templates: Templates) -> None:
        self.supervisor: Final = supervisor
        self._templates = templates
        self._waiting: dict[Asked, list[int]] = {}
        self._ended: dict[int, Ended] = {}

    def make_room(self, kinds: Iterable[Asked]) -> None:
        """End those that wait for other exercises; call it while none is at work."""
        if self._waiting.keys() - set(kinds):
            self.supervisor.close()
            self._waiting.clear()
            self._ended.clear()

    def take(self, asked: Asked) -> int:
        """Return one that waits, by its number; start it if there is none."""
        waiting = self._waiting.get(asked, [])
        while waiting:
            task = waiting.pop()
            if self._ended.pop(task, None) is None:
                return task
        return self._start(asked)

    def give_back(self, kinds: Iterable[Asked], tasks: Iterable[int]) -> None:
        """Take back those that were not let go, while none is at work; `kinds` are what for."""
        for asked, task in zip(kinds, tasks, strict=True):
            self._waiting.setdefault(asked, []).append(task)
        if not self.supervisor.may_hold:
            self.make_room(())

    def make_ready(self, kinds: Iterable[Asked]) -> None:
        """Have one of each kind wait, if this machine lets processes wait, and has room."""
        for asked in kinds if self.supervisor.may_hold else ():
            waiting = self._waiting.setdefault(asked, [])
            if not waiting:
                with contextlib.suppress(OSError):
                    waiting.append(self._start(asked))

    def wait_for(self, task: int) -> Ended:
        """Wait until one that was let go has ended, and return how."""
        while task not in self._ended:
            self._ended |= self.supervisor.poll()
        return self._ended.pop(task)

    def _start(self, asked: Asked) -> int:
        return self.supervisor.start(self._templates.of(asked), held=True)
