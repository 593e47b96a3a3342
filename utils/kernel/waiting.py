"""Tell a student who waits what is running, and how to stop it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from utils.kernel.say import as_bundle
from utils.words import elapsed

PATIENCE: Final = 4.0  # seconds; a check answers in less than one
STOP: Final = "To stop it, interrupt the kernel: the square button above, or press I twice."


@dataclass
class Waiting:
    """What runs, and since when.

    Attributes:
        what: the name of what runs.
        step: which part of it runs now, in words; "" if that is not known.
        started: on the monotonic clock.

    """

    what: str
    step: str = ""
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> str:
        """Return how long it has been running, in words."""
        return elapsed(time.monotonic() - self.started)

    def __str__(self) -> str:
        where = f", now {self.step}" if self.step else ""
        return f"{self.what} has been running for {self.seconds}{where}. {STOP}"


@contextmanager
def told_while_waiting(what: str) -> Iterator[Waiting]:
    """Show a line while something takes longer than some seconds, and take it away at its end.

    Args:
        what: the name of what runs.

    """
    waiting, done = Waiting(what), threading.Event()
    if not InteractiveShell.initialized():
        yield waiting
        return
    teller = threading.Thread(target=_tell, args=(waiting, done), daemon=True)
    teller.start()
    try:
        yield waiting
    finally:
        done.set()
        teller.join()


def _tell(waiting: Waiting, done: threading.Event) -> None:
    shown: Any = None
    while not done.wait(PATIENCE):
        bundle = as_bundle([str(waiting)])
        if shown is None:
            shown = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            shown.update(bundle, raw=True)
    if shown is not None:
        shown.update(as_bundle([]), raw=True)
