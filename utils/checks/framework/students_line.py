"""Which of a student's own lines an error or a warning comes from."""

import linecache
import sys
import traceback
from pathlib import Path
from types import FrameType

_COURSE = str(Path(__file__).resolve().parents[2])
_OBSERVES = str(Path(__file__).with_name("observe.py"))


def line_of(error: BaseException) -> str:
    """Return the innermost line that belongs neither to the course nor to an installed package."""
    line = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if not _is_ours(frame.filename) and frame.lineno is not None:
            line = frame.line or linecache.getline(frame.filename, frame.lineno)
    return line.strip()


def line_now() -> str:
    """Return the innermost line of an answer that is being observed, or nothing if none is."""
    line = ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != _OBSERVES:
        if not line and not _is_ours(frame.f_code.co_filename):
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        frame = frame.f_back
    return line if frame is not None else ""


def _is_ours(filename: str) -> bool:
    outside = (_COURSE, sys.prefix, sys.base_prefix)
    return filename.startswith(outside) or "site-packages" in filename
