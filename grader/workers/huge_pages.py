"""Join a process's memory into huge pages, so that its forks have fewer entries to copy.

A fork copies one table entry for each page: 512 times fewer if pages hold 2 MiB in place of 4 KiB.
A fork server forks for every lesson, so that it pays to join its pages once, before the first.
"""

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grader.sandbox.syscalls import libc

HUGE: Final = 2 * 1024 * 1024
COLLAPSE: Final = 25  # MADV_COLLAPSE of Linux 6.1; older kernels refuse it, and nothing is lost
MAPS: Final = Path("/proc/self/maps")
# Writable memory of the process itself, of no file: its heap, and what it mapped.
OWN: Final = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 *(?:\[heap\])?")


def join_pages() -> int:
    """Join what can be joined; return the bytes that are in huge pages now (0 where none can be).

    See madvise(2), MADV_COLLAPSE.

    """
    return sum(end - start for start, end in own_memory() if joined(start, end - start))


def joined(start: int, size: int) -> bool:
    """Join one part; return whether the kernel did."""
    return int(libc().madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), COLLAPSE)) == 0


def own_memory() -> Iterator[tuple[int, int]]:
    """Yield the parts of this process's own memory that huge pages could cover, (start, end)."""
    if not MAPS.exists():
        return
    for line in MAPS.read_text(encoding="utf-8").splitlines():
        if found := OWN.fullmatch(line):
            start, end = (int(number, 16) for number in found.groups())
            start, end = -(-start // HUGE) * HUGE, end // HUGE * HUGE
            if start < end:
                yield start, end
