"""The class's names, read by the clone's owner: `python -m hub.roster` prints them for the hub.

Root does not open the gradebook itself: what it would make there would be root's.
"""

import json
import os
import sys
from pathlib import Path

from grader.course.course import GradingCourse
from grader.errors import CourseError
from grader.lms.members import members
from hub.owner import as_owner
from hub.settings import verify_name


def students_of(root: Path) -> list[str]:
    """Return the names of a clone's class, which are their names on the hub.

    Raises:
        CourseError: the roster cannot be read, or a name in it cannot be an account's.

    """
    found: list[str] = json.loads(as_owner(root, "-m", "hub.roster"))
    try:
        for name in found:
            verify_name(name)
    except CourseError as error:
        raise CourseError(
            f"The roster does not fit the hub: {error}. Students' ids are their names on the hub."
        ) from None
    return found


def main() -> None:
    """Print the names of the class whose clone this is."""
    os.umask(0o077)
    root = Path.cwd()
    try:
        print(json.dumps([student.id for student in members(GradingCourse(root, root))]))
    except CourseError as error:
        sys.exit(str(error))


if __name__ == "__main__":  # tests and tools import every module
    main()
