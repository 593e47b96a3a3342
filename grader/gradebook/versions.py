"""Gradebooks that another nbgrader made: an earlier one's tables are renewed by nbgrader itself."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import nbgrader
from nbgrader.api import Gradebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Connection, inspect, select

from grader.errors import DAMAGED, CourseError, printable
from grader.gradebook.rows import VERSION

BEFORE_VERSIONS: Final = "grade_cell"  # a table of the first gradebooks, which name no version
_FOLLOWS: Final = re.compile(r"^down_revision = '(\w+)'", re.MULTILINE)


def verify_renewed(at: Connection) -> None:
    """Raise CourseError if an earlier nbgrader made the tables: nothing may be added to them here.

    nbgrader would add the tables that are new, empty, and leave the rest to its users.
    """
    there = set(inspect(at).get_table_names())
    named = VERSION.name in there
    versions = set(at.scalars(select(VERSION.c.version_num))) if named else set()
    if (versions and versions <= _earlier()) or (not named and BEFORE_VERSIONS in there):
        raise CourseError(
            f"The gradebook is of an earlier version than nbgrader {nbgrader.__version__} needs. "
            "Renew it with .venv/bin/nbgrader db upgrade, which keeps all scores (and of a file a "
            "copy beside it), then run the same command. Nothing was changed."
        )


def verify_known(gradebook: Gradebook) -> None:
    """Raise CourseError if a later nbgrader than this one wrote the gradebook."""
    versions = gradebook.db.scalars(select(VERSION.c.version_num)).all()
    fault = ""
    if len(versions) != 1:
        fault = (
            f"The gradebook is damaged: it names {len(versions) or 'no'} versions of itself. "
            f"{DAMAGED}, then run the same command."
        )
    elif not list((Path(ALEMBIC_DIR) / "versions").glob(f"{versions[0]}_*.py")):
        fault = (
            f"The gradebook is of a later version than nbgrader {nbgrader.__version__} knows "
            f"({printable(versions[0])}). Use the nbgrader that it was written with, or a copy "
            "of the gradebook from before, from gradebook-backups/."
        )
    if fault:
        gradebook.close()
        raise CourseError(fault)


@cache
def _earlier() -> frozenset[str]:
    """Return the versions that another one follows."""
    steps = (Path(ALEMBIC_DIR) / "versions").glob("*.py")
    return frozenset(v for step in steps for v in _FOLLOWS.findall(step.read_text("utf-8")))
