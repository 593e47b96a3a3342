"""Fill the holes in a process's memory, so that what its forks make lies together.

A page that a fork writes to must be copied first. New objects go into the holes that old ones left,
a page here and a page there, in all of the memory. With the holes filled, they share fresh pages.
"""

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Final

from grader.sandbox.syscalls import libc

POOL: Final = 1 << 14  # Python keeps small objects of one size in pools of so many bytes ...
FIRST: Final = 48  # ... behind a head of so many
SMALL: Final = range(48, 513, 16)  # the sizes of small objects that bytes can have
HEAD: Final = b"".__sizeof__()  # of bytes, before their content
IN_A_ROW: Final = 8  # objects from a pool's start on: it was empty before
MOST: Final = 100_000  # objects of one size
PARTS: Final = (*(1 << n for n in range(16, 10, -1)), *range(1016, 23, -16))  # of the heap
MOST_BYTES: Final = 32 << 20  # in parts of one size
TRIM, PAD, MAPPED = -1, -2, -3  # mallopt(3): M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD
KEPT_BYTES: Final = 1 << 30  # the heap gives nothing back ...
GROWN_BYTES: Final = 1 << 20  # ... grows by so much ...
MAPPED_BYTES: Final = 32 << 20  # ... and takes all parts up to this size

_KEPT: Final[list[object]] = []  # what lies in the holes


def fill_holes() -> None:
    """Fill Python's pools that are partly used, and the free parts of the C library's heap."""
    _KEPT.append([_fill_pools(object, 16), _fill_pools(lambda: 0.1 * len(_KEPT), 32)])
    for size in SMALL:
        _KEPT.append(_fill_pools(partial(bytes, size - HEAD), size))
    if hasattr(libc(), "mallopt"):  # it is the GNU C library
        _fill_heap()


def _fill_pools(make: Callable[[], object], size: int) -> list[object]:
    """Make objects until they come from a pool that was empty."""
    made: list[object] = []
    row = 0
    while row < IN_A_ROW and len(made) < MOST:
        made.append(make())
        place = id(made[-1])
        follows = row > 0 and place - id(made[-2]) == size
        row = row + 1 if follows else int(place % POOL == FIRST)
    return made


def _fill_heap() -> None:
    """Take parts of every size, from the large to the small, until they come from its end."""
    heap = libc()
    for option, value in ((TRIM, KEPT_BYTES), (PAD, GROWN_BYTES), (MAPPED, MAPPED_BYTES)):
        heap.mallopt(option, value)
    allocate, end_of_heap = heap.malloc, heap.sbrk
    allocate.restype = end_of_heap.restype = ctypes.c_void_p
    allocate.argtypes = [ctypes.c_size_t]
    end = end_of_heap(0) or 0
    for size in PARTS:
        for _ in range(MOST_BYTES // size):
            place = allocate(size)
            if not place or place >= end:
                break
