"""Disks, files and databases that refuse: told in sentences, wherever a command meets them."""

import errno
from typing import Final

from grader.errors import help_with

# What a process may have too little of -> what happened, and what helps before all else.
SCARCE: Final = {
    errno.ENOMEM: "The memory is used up. Close other programs",
    errno.EAGAIN: "No more processes can be started. Close others, or allow more (ulimit -u)",
    errno.EMFILE: "Too many files are open at once. Allow more of them (ulimit -n 1024)",
    errno.ENFILE: "Too many files are open on this machine. Close other programs",
}
AGAIN: Final = "then run the same command; what was finished before is kept."
NOT_READ: Final = (
    "The program that read this command's output (head, less, ...) ended, so the command stopped. "
    "Let it read to the end"
)


def explained(error: Exception) -> str:
    """Return what happened and what helps; "" if it is no such mishap (but a fault of ours)."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) in SCARCE:
        what = SCARCE[getattr(error, "errno", errno.ENOMEM)]
        return f"{what}. Grade fewer at once (--jobs 1), {AGAIN}"
    if isinstance(error, BrokenPipeError):
        return f"{NOT_READ}, {AGAIN}"
    if isinstance(error, OSError):
        return _of_a_file(error)
    if reason := _of_a_gradebook(error):
        return f"The gradebook refused ({reason}). {help_with(reason)}, {AGAIN}"
    return ""


def _of_a_gradebook(error: Exception) -> str:
    """Return what a database, or nbgrader in its name, refused; "" if neither did."""
    kind = type(error)
    if kind.__module__.startswith("sqlalchemy."):
        return str(getattr(error, "orig", None) or kind.__name__)
    if (kind.__module__, kind.__name__) == ("nbgrader.api", "InvalidEntry"):
        return str(error).partition("\n")[0].rpartition("Error) ")[2]
    return ""


def _of_a_file(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full{where}. Make room, {AGAIN}"
    what = f"{error.filename or 'A file or folder'} cannot be used: {error.strerror or error}."
    return f"{what} Check that it is what it should be and that you may read and write it, {AGAIN}"
