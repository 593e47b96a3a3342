"""Landlock: the kernel's list of files that a process and its children may still open.

It needs no privilege and no namespace. Versions of its interface ("ABI") add rights: 1 files,
2 moving between folders, 3 truncating, 4 TCP, 5 device controls, 6 signals and abstract sockets,
7 silence in the audit log. Source: the kernel's documentation, userspace-api/landlock.
"""

import ctypes
import functools
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from grader.sandbox.walls import syscalls

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
FOLDER_ONLY = ((1 << 14) - 1) & ~(EXECUTE | WRITE_FILE | READ_FILE)  # READ_DIR up to REFER
SPECIAL = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11  # making devices, sockets and named pipes
ALL_BY_ABI = (0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1)
TCP, SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals
PATH_BENEATH, VERSION, QUIET = 1, 1, 1


@functools.cache
def abi() -> int:
    """Return the version of Landlock's interface here; 0 if there is none."""
    try:
        return syscalls.call("landlock_create_ruleset", None, 0, VERSION)
    except OSError:
        return 0


def all_rights() -> int:
    """Return every file right that this kernel can withhold."""
    return ALL_BY_ABI[min(abi(), len(ALL_BY_ABI) - 1)]


def ruleset(
    readable: Iterable[Path],
    devices: Iterable[Path],
    folders: Iterable[Path],
) -> int:
    """Return a descriptor of rules: read `readable`, read and write `devices` and in `folders`.

    TCP, abstract sockets and signals to outside processes are withheld too where the kernel can.
    Raises OSError, also if a path is missing.
    """
    attributes = struct.pack(
        "QQQ", all_rights(), TCP if abi() >= 4 else 0, SCOPES if abi() >= 6 else 0
    )
    size = 24 if abi() >= 6 else 16 if abi() >= 4 else 8
    rules = syscalls.call("landlock_create_ruleset", ctypes.c_char_p(attributes), size, 0)
    for path in readable:
        allow(rules, path, READ_FILE | READ_DIR)
    for path in devices:
        allow(rules, path, READ_FILE | WRITE_FILE)
    for path in folders:
        allow(rules, path, all_rights() & ~(EXECUTE | SPECIAL))
    return rules


def allow(rules: int, path: Path, rights: int) -> None:
    """Add a rule that grants `rights` at `path` and below it."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        usable = rights & all_rights() & (-1 if path.is_dir() else ~FOLDER_ONLY)
        rule = struct.pack("=Qi", usable, descriptor)
        syscalls.call("landlock_add_rule", rules, PATH_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(descriptor)


def restrict(rules: int) -> None:
    """Hold this process and its future children to `rules`; needs no_new_privs."""
    syscalls.call("landlock_restrict_self", rules, QUIET if abi() >= 7 else 0)
    os.close(rules)
