"""Isolated processes that are there before a submission comes: it takes as long as a few cases.

They wait behind their walls, copies of a template that was told of no submission, and are told of
one when they are let go.
"""

import contextlib
from collections.abc import Collection, Iterable
from typing import Final

from grader.sandbox import Ended, Supervisor
from grader.sandbox.start import Start
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
        self._on_their_way: dict[Asked, Start] = {}
        self._waiting: dict[Asked, list[int]] = {}
        self._ended: dict[int, Ended] = {}

    def make_room(self, kinds: Collection[Asked]) -> None:
        """End those that wait for other exercises; call it while none is at work."""
        if not {*kinds}.issuperset([*self._on_their_way, *self._waiting]):
            self.supervisor.close()
            self._on_their_way.clear()
            self._waiting.clear()
            self._ended.clear()

    def take(self, asked: Asked) -> int:
        """Return one that waits, by its number; start it if there is none."""
        self._take_up(asked)
        waiting = self._waiting.get(asked, [])
        while waiting:
            task = waiting.pop()
            self._ended |= self.supervisor.poll(timeout=0)
            if self._ended.pop(task, None) is None:
                return task
        return self.supervisor.start(self._templates.of(asked), held=True)

    def give_back(self, kinds: Iterable[Asked], tasks: Iterable[int]) -> None:
        """Take back those that were not let go, while none is at work; `kinds` are what for."""
        for asked, task in zip(kinds, tasks, strict=True):
            self._waiting.setdefault(asked, []).append(task)
        if not self.supervisor.may_hold:
            self.make_room(())

    def make_ready(self, kinds: Iterable[Asked]) -> None:
        """Have one of each kind wait, if this machine lets processes wait, and has room.

        They are on their way when this returns: who is at work asks meanwhile.
        """
        for asked in kinds if self.supervisor.may_hold else ():
            if not self._waiting.get(asked) and asked not in self._on_their_way:
                with contextlib.suppress(OSError):
                    start = self.supervisor.ask_for(self._templates.of(asked))
                    self._on_their_way[asked] = start

    def wait_for(self, task: int) -> Ended:
        """Wait until one that was let go has ended, and return how."""
        while task not in self._ended:
            self._ended |= self.supervisor.poll()
        return self._ended.pop(task)

    def _take_up(self, asked: Asked) -> None:
        """Wait for one that is on its way."""
        if start := self._on_their_way.pop(asked, None):
            with contextlib.suppress(OSError):
                self._waiting.setdefault(asked, []).append(self.supervisor.take_up(start))
