"""The class's names, read by the clone's owner: root does not open the gradebook.

What root would make there would be root's, and the owner could no longer grade.
"""

import json
from pathlib import Path

from grader.errors import CourseError
from hub.owner import as_owner
from hub.settings import verify_name


def students_of(root: Path) -> list[str]:
    """Return the names of a clone's class, which are their names on the hub.

    Raises:
        CourseError: the roster cannot be read, or a name in it cannot be an account's.

    """
    found: list[str] = json.loads(as_owner(root, "-m", "hub.class_list"))
    try:
        for name in found:
            verify_name(name)
    except CourseError as error:
        raise CourseError(
            f"The roster does not fit the hub: {error}. Students' ids are their names on the hub."
        ) from None
    return found
