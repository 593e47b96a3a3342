"""Read what the roster says, with nothing of the course loaded; and who somebody in it may be.

nbgrader's own programs load their steps while they are loaded themselves.
"""

import difflib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grader.course.safe_text import line

ROSTER: Final = Path("lms", "roster.json")  # what `roster` remembers, in the course's folder
ALIKE: Final = 0.8  # of two ids, one of which is probably mistyped
KEPT: Final = "work kept"  # of who left the class
REMOVED: Final = "work removed"
WORDS: Final = {
    "email": "e-mail address", "canvas_user_id": "Canvas user id", "sis_user_id": "SIS user id",
    "sis_login_id": "SIS login id", "moodle_id_number": "Moodle ID number",
    "github_username": "GitHub name",
}  # fmt: skip


def nearest(who: str, entries: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the roster's id that an unknown one may stand for, and why; "" if there is none."""
    own = folded(who)
    for entry in entries:
        if folded(entry["id"]) == own:
            return entry["id"], f"differs only by case from {line(entry['id'])}"
    for field, words in WORDS.items():
        for entry in entries:
            if own == folded(entry.get(field, "")):
                return entry["id"], f"the {words} of {line(entry['id'])}"
    names = {folded(name): entry["id"] for entry in entries for name in _names(entry)}
    alike = difflib.get_close_matches(own.partition("@")[0], names, n=1, cutoff=ALIKE)
    return (names[alike[0]], f"perhaps {line(names[alike[0]])}") if alike else ("", "")


def aliases(folder: Path) -> dict[str, str]:
    """Return the other ids under which students of the roster hand in -> the roster's."""
    return {str(name): str(x["id"]) for x in listed(folder / ROSTER) for name in x.get("also", ())}


def removed(folder: Path) -> set[str]:
    """Return who left, and whose work was to go with them."""
    return {str(entry["id"]) for entry in listed(folder / ROSTER) if entry.get("left") == REMOVED}


def listed(file: Path) -> list[dict[str, Any]]:
    """Return what the roster says; nothing of one that cannot be read, of which `roster` tells."""
    try:
        entries = [dict(student) for student in json.loads(file.read_bytes())]
        return [entry for entry in entries if entry["id"]]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def folded(name: str) -> str:
    """Return an id in small letters, an accented one written in one way."""
    return unicodedata.normalize("NFC", name).casefold()


def _names(entry: Mapping[str, Any]) -> list[str]:
    """Return what somebody may be called by mistake: an id or address up to its @, a name."""
    parts = [entry.get("first_name", ""), entry.get("last_name", "")]
    last, _, given = entry.get("name", "").partition(",")
    whole = [" ".join(parts), " ".join(parts[::-1]), f"{given} {last}", f"{last} {given}"]
    ids = [folded(entry.get(field, "")).partition("@")[0] for field in ("id", "email")]
    return [name for name in map(str.strip, [*ids, *whole]) if name]
