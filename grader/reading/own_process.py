"""Work on a student's text in a process of its own: what it costs is bounded, and hurts nobody.

No student code runs in it. But a text can be made so that reading it takes hours, gibibytes, or
more of the stack than there is.
"""

import contextlib
import gc
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from grader.sandbox.walls.processes import die_with_parent

CPU_SECONDS: Final = 5  # a solved lesson takes 0.1
WALL_SECONDS: Final = 120.0  # for these five on a machine that is busy with much else
MORE_MEMORY: Final = 1 << 30  # bytes of address space, above what the process has when it begins
CPU_ROUNDING: Final = 0.5  # the kernel enforces seconds in ticks, but reports them exactly
OUT_OF_MEMORY: Final = 3
FAILED: Final = 4
CHUNK: Final = 1 << 16


class TooCostly(Exception):
    """The work took more than it may: time, memory or stack."""


class OwnProcess:
    """Work that has begun in a fork, beside what this process goes on to do.

    Args:
        work: what to run; its result comes back as bytes.
        cpu_seconds: how much processor time it may take.
        memory: how many bytes of memory it may take.

    """

    def __init__(
        self, work: Callable[[], bytes], cpu_seconds: int = CPU_SECONDS, memory: int = MORE_MEMORY
    ) -> None:
        self._reader, writer = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._reader)  # or it would wait for itself to read, if nobody else does
            _work(work, writer, cpu_seconds, memory)
        os.close(writer)
        self._is_over, self._cpu_seconds = False, cpu_seconds

    def result(self) -> bytes:
        """Wait for the work, and return what it returns; call it once.

        Raises:
            TooCostly: it took too much time, memory or stack.
            RuntimeError: it failed otherwise, which is no fault of the text.

        """
        result, is_done = b"", False
        try:
            result, is_done = _all_of(self._reader, time.monotonic() + WALL_SECONDS)
        finally:
            status, seconds = self._end(kill=not is_done)
        if status == 0:
            return result
        if is_done and status == -signal.SIGKILL and seconds < self._cpu_seconds - CPU_ROUNDING:
            raise RuntimeError("something ended the process that read a text")
        # Another signal: processor time or stack is used up.
        if is_done and (status < 0 or status == OUT_OF_MEMORY):
            raise TooCostly(f"ended with {status}")
        raise RuntimeError(result.decode(errors="replace") or "a text could not be read in time")

    def close(self) -> None:
        """End the work if nobody waited for it."""
        if not self._is_over:
            self._end(kill=True)

    def _end(self, *, kill: bool) -> tuple[int, float]:
        """Return its exit code, and how many seconds of a processor it took."""
        self._is_over = True
        os.close(self._reader)
        if kill:
            os.kill(self._child, signal.SIGKILL)
        _, status, used = os.wait4(self._child, 0)
        return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def in_own_process(
    work: Callable[[], bytes], cpu_seconds: int = CPU_SECONDS, memory: int = MORE_MEMORY
) -> bytes:
    """Run `work` in a fork, and return what it returns; see `OwnProcess`."""
    return OwnProcess(work, cpu_seconds, memory).result()


def _work(work: Callable[[], bytes], writer: int, cpu_seconds: int, memory: int) -> NoReturn:
    """Do the work in the fork, and leave without any of the parent's clean-up."""
    code = FAILED
    try:
        die_with_parent()  # it holds what its parent holds open, a lock among it
        _limit(cpu_seconds, memory)
        gc.set_threshold(50_000, 100)  # a syntax tree is no garbage, and this process ends soon
        with os.fdopen(writer, "wb", closefd=False) as whole:
            whole.write(work())
        code = 0
    except MemoryError:
        code = OUT_OF_MEMORY
    except BaseException as error:  # told to the parent, which raises it
        with contextlib.suppress(BaseException):
            os.write(writer, f"{type(error).__name__}: {error}"[:400].encode())
    finally:
        os._exit(code)


def _limit(cpu_seconds: int, memory: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    with contextlib.suppress(OSError, ValueError):  # macOS has no /proc, and keeps no such limit
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        now = pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))


def _all_of(reader: int, deadline: float) -> tuple[bytes, bool]:
    """Read until the other end is closed; return what was read, and whether that was in time.

    What is there by then is read, however late: this process itself may have been stopped.
    """
    taken = bytearray()
    while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        chunk = os.read(reader, CHUNK)
        if not chunk:
            return bytes(taken), True
        taken += chunk
    return bytes(taken), False
