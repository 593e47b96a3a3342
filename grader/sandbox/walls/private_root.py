"""The task's own root folder: the interpreter's folders read-only, one folder to write in.

It is built in the task's mount namespace on a small file system in memory, which vanishes with
the task. What is not put there does not exist for the task: no /proc, no home, no other work.
"""

import ctypes
import os
import struct
from pathlib import Path
from typing import Final

from grader.sandbox.walls import syscalls
from grader.sandbox.walls.interpreter import View
from grader.sandbox.walls.limits import Limits

FOLDER: Final = Path("/box")
DEVICES: Final = (Path("/dev/null"), Path("/dev/zero"), Path("/dev/urandom"))
# The new root is built here because it always exists, and nobody would share it.
BUILT_AT: Final = Path("/proc")

NOSUID, NODEV, NOEXEC, BIND, ALL_BELOW, PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
DETACH, HERE, ATTRIBUTES_BELOW = 2, -100, 0x8000
READ_ONLY_ATTRIBUTES: Final = struct.pack("QQQQ", 1 | NOSUID | NODEV, 0, 0, 0)


def mount(source: object, target: object, kind: str, flags: int, options: str = "") -> None:
    """Make the mount call; raises OSError."""
    texts = [str(text).encode() for text in (source, target, kind, options)]
    start, end, form, data = map(ctypes.c_char_p, texts)
    syscalls.call("mount", start, end, form, flags, data)


def enter(view: View, owner: int, limits: Limits) -> None:
    """Make the new root, move into its folder, drop the old root; raises OSError.

    This needs a new mount namespace and the right to mount in it. `owner`: the user id that the
    task will have.
    """
    mount("none", "/", "", ALL_BELOW | PRIVATE)
    size = f"size={limits.folder_bytes},nr_inodes={limits.folder_entries},mode=755"
    mount("tmpfs", BUILT_AT, "tmpfs", NOSUID | NODEV | NOEXEC, size)
    for path in view.paths:
        show(path, read_only=True)
    for device in DEVICES:
        show(device, read_only=False)
    for link, path in view.links:
        repeat_link(link, path)
    folder = inside(FOLDER)
    folder.mkdir(mode=0o700)
    os.chown(folder, owner, owner)
    move_in()


def move_in() -> None:
    """Replace the old root with the new one and detach the old."""
    os.chdir(BUILT_AT)
    here = ctypes.c_char_p(b".")
    syscalls.call("pivot_root", here, here)
    syscalls.call("umount2", here, DETACH)
    os.chdir(FOLDER)


def inside(path: Path) -> Path:
    """Return where `path` of the new root is while that root is being built."""
    return BUILT_AT / path.relative_to("/")


def show(path: Path, read_only: bool) -> None:
    """Show a file or folder at the same place; its path has no symbolic links."""
    target = inside(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        target.mkdir(exist_ok=True)
    else:
        target.touch()
    mount(path, target, "", BIND | ALL_BELOW)
    if read_only:
        forbid_writing(target)


def repeat_link(link: Path, path: Path) -> None:
    """Make `link` lead to `path` as it does outside, unless it is already there."""
    if not os.path.lexists(inside(link)):
        inside(link).parent.mkdir(parents=True, exist_ok=True)
        inside(link).symlink_to(path)


def forbid_writing(target: Path) -> None:
    """Make the mounts at `target` and below read-only, without devices or set-uid."""
    place = ctypes.c_char_p(str(target).encode())
    attributes = ctypes.c_char_p(READ_ONLY_ATTRIBUTES)
    size = len(READ_ONLY_ATTRIBUTES)
    syscalls.call("mount_setattr", HERE, place, ATTRIBUTES_BELOW, attributes, size)
