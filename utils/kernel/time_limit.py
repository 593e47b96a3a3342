"""A limit on the time that code takes."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def time_limit(seconds: float, *, of_computing: bool = False) -> Iterator[None]:
    """Raise TimeoutError in code that takes too long, again and again until it ends.

    Outside the main thread and on Windows this is impossible: the code runs without a limit.

    Args:
        seconds: on the clock or, if of_computing, of this process's processors.
        of_computing: whether to leave out waiting, for a busy machine too.

    """
    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return
    timer = signal.ITIMER_PROF if of_computing else signal.ITIMER_REAL
    alarm = signal.SIGPROF if of_computing else signal.SIGALRM

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds:g} s")

    before = signal.signal(alarm, stop)
    signal.setitimer(timer, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)
