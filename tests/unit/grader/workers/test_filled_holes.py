"""Holes in a fork server's memory, filled so that its forks write to few pages."""

import subprocess
import sys

import pytest

from grader.sandbox.syscalls import libc

# Objects and parts of the heap are let go all over the memory; where new ones then lie is counted.
LEAVES_HOLES = """
import ctypes, sys
from grader.workers import filled_holes
heap = filled_holes.libc()
heap.malloc.restype, heap.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
heap.free.argtypes = [ctypes.c_void_p]
objects = [bytes(100) for _ in range(200_000)]
parts = [heap.malloc(900) for _ in range(20_000)]
del objects[::40]
for part in parts[::40]:
    heap.free(part)
if sys.argv[1] == "fill":
    filled_holes.fill_holes()
new = [[id(x) for x in [bytes(100) for _ in range(400)]], [heap.malloc(900) for _ in range(400)]]
print(*(len({place >> 12 for place in places}) for places in new))
"""


def pages(how: str) -> list[int]:
    """In how many pages 400 new objects, and 400 new parts of the heap, come to lie."""
    command = [sys.executable, "-c", LEAVES_HOLES, how]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(count) for count in done.stdout.split()]


def test_new_objects_lie_together_once_holes_are_filled():
    assert pages("fill")[0] < 50 < pages("leave")[0]


@pytest.mark.skipif(not hasattr(libc(), "mallopt"), reason="another C library's heap")
def test_new_parts_of_the_heap_lie_together_once_holes_are_filled():
    assert pages("fill")[1] < 150 < pages("leave")[1]
