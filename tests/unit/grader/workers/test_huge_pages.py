"""A fork server's memory, joined so that its forks are cheap."""

import ctypes
import mmap
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.workers import huge_pages

HUGE_NOW = """
from pathlib import Path
import mmap, re
from grader.workers import huge_pages
kept = mmap.mmap(-1, 4 * huge_pages.HUGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, len(kept), mmap.PAGESIZE):
    kept[page] = 7
joined = huge_pages.join_pages()
read = re.findall(r"AnonHugePages: +(\\d+)", Path("/proc/self/smaps").read_text())
print(joined, sum(map(int, read)), set(kept[:: mmap.PAGESIZE]))
"""


def in_huge_pages() -> tuple[int, int]:
    """Return what join_pages says in a process of its own, and the kernel's count, in KiB."""
    told = subprocess.run(
        [sys.executable, "-c", HUGE_NOW], capture_output=True, text=True, check=True
    ).stdout
    joined, counted, kept = told.split(maxsplit=2)
    assert kept.strip() == "{7}"  # no byte is lost
    return int(joined) // 1024, int(counted)


def kernel_can() -> bool:
    part = mmap.mmap(-1, 2 * huge_pages.HUGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    part.write(bytes([7]) * len(part))
    start = ctypes.addressof(ctypes.c_char.from_buffer(part))
    return huge_pages.joined(-(-start // huge_pages.HUGE) * huge_pages.HUGE, huge_pages.HUGE)


@pytest.mark.skipif(not kernel_can(), reason="this kernel joins no pages on demand")
def test_memory_of_ones_own_lies_in_huge_pages_afterwards() -> None:
    joined, counted = in_huge_pages()
    assert joined >= 3 * huge_pages.HUGE // 1024  # of four, less what is not aligned
    assert counted >= joined


def test_a_part_that_the_kernel_refuses_is_left_as_it_is() -> None:
    assert not huge_pages.joined(0, huge_pages.HUGE)  # nothing is mapped there


def test_without_a_list_of_memory_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(huge_pages, "MAPS", tmp_path / "absent")
    assert huge_pages.join_pages() == 0


def test_only_ones_own_writable_memory_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    maps = tmp_path / "maps"
    own = "7f0000100000-7f0000800000 rw-p 00000000 00:00 0 "
    others = re.sub("rw-p", "r-xp", own), f"{own.rstrip()}    /usr/lib/x.so", f"{own}  [stack]"
    maps.write_text("\n".join((own, *others, "")))
    monkeypatch.setattr(huge_pages, "MAPS", maps)
    assert list(huge_pages.own_memory()) == [(0x7F0000200000, 0x7F0000800000)]
