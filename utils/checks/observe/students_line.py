"""Which of a student's own lines an error or a warning comes from."""

import dis
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
        if not is_ours(frame.filename) and frame.lineno is not None:
            line = frame.line or linecache.getline(frame.filename, frame.lineno)
    return line.strip()


def line_now() -> str:
    """Return the innermost line of an answer that is being observed, or nothing if none is."""
    frame = _frame_now()
    if frame is None:
        return ""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()


def sign_now() -> str:
    """Return the sign that this line of an answer writes by, such as "+=" or "[...] +=", if any."""
    frame = _frame_now()
    steps = list(dis.get_instructions(frame.f_code)) if frame is not None else []
    after = [s for s in steps if frame is not None and s.offset >= frame.f_lasti]
    if not after or after[0].opname != "BINARY_OP" or not after[0].argrepr.endswith("="):
        return ""
    stores = next((s.opname for s in after[1:] if s.opname != "SWAP"), "")
    return f"[...] {after[0].argrepr}" if stores == "STORE_SUBSCR" else after[0].argrepr


def _frame_now() -> FrameType | None:
    """Return the innermost frame of an answer that is being observed."""
    found: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != _OBSERVES:
        if found is None and not is_ours(frame.f_code.co_filename):
            found = frame
        frame = frame.f_back
    return found if frame is not None else None


def is_ours(filename: str) -> bool:
    """Return whether a file belongs to the course or to an installed package."""
    outside = (sys.prefix, sys.base_prefix)
    is_installed = filename.startswith(outside) or "site-packages" in filename
    return is_installed or is_of_the_course(filename)


def is_of_the_course(filename: str) -> bool:
    """Return whether a file is one of the course's own."""
    return filename.startswith(_COURSE)
