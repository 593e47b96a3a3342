"""Open a gradebook, on a server too: its tables are made once, whoever comes first."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any, Final

from nbgrader.api import Course, Gradebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Connection, Engine, TextClause, create_engine, insert, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from grader.errors import CourseError
from grader.gradebook.address import is_on_server
from grader.gradebook.refusals import NO_DRIVER, refusal
from grader.gradebook.rows import VERSION, make_tables
from grader.gradebook.versions import verify_renewed

MAKING: Final = 0x6E_62_67_01  # of the advisory lock under which tables are made
LOCKED: Final = text("SELECT pg_advisory_xact_lock(:key)")
BEGUN: Final = text("BEGIN IMMEDIATE")  # a file's lock; Python begins none before it makes a table
COURSE: Final = "default_course"  # nbgrader's name for the only course of a gradebook
COUNTING: Final = text("ANALYZE")  # for plans that fit the rows there are now
WAIT: Final = 10  # seconds for an answer of the server, unless the address has another limit


def open_gradebook(url: str) -> Gradebook:
    """Open nbgrader's gradebook; make its tables if they are not there yet.

    nbgrader makes them without a lock: of several processes at once, all but one fail. And it
    starts alembic as a program to be told the tables' version, which takes longer than all else.

    Raises:
        CourseError: the server refuses, its driver is not installed, or an earlier nbgrader made
            the gradebook.
        SQLAlchemyError: a SQLite file cannot be opened.

    """
    on_server = is_on_server(url)
    with told(url) if on_server else nullcontext():
        with _opened(url) as at:
            if on_server:
                _make_tables(at, LOCKED, {"key": MAKING})
            elif not inspect(at).get_table_names():
                _make_tables(at, BEGUN)
            verify_renewed(at)
        return Gradebook(url)


def connected(url: str, **options: Any) -> Engine:
    """Return an engine for a database; on a server, with a limit on how long it is waited for.

    Raises:
        CourseError: the server's driver is not installed.

    """
    if is_on_server(url):
        options["connect_args"] = {"connect_timeout": WAIT} | options.get("connect_args", {})
    try:
        return create_engine(url, **options)
    except ImportError:
        raise CourseError(NO_DRIVER) from None


@contextmanager
def told(url: str) -> Iterator[None]:
    """Turn what a database refuses into a sentence.

    Raises:
        CourseError: with what happened, and what helps.

    """
    try:
        yield
    except SQLAlchemyError as error:
        raise CourseError(refusal(error, url)) from None


@contextmanager
def connection(url: str, **options: Any) -> Iterator[Connection]:
    """Yield a connection, told in a sentence if there is none; nothing of it stays open."""
    with told(url), _opened(url, **options) as opened:
        yield opened


@contextmanager
def _opened(url: str, **options: Any) -> Iterator[Connection]:
    engine = connected(url, **options)
    try:
        with engine.connect() as opened:
            yield opened
    finally:
        engine.dispose()


def has_tables(at: Connection) -> bool:
    """Return whether a database holds a gradebook, whole."""
    return bool(inspect(at).has_table("alembic_version"))


def _make_tables(at: Connection, lock: TextClause, *keys: dict[str, int]) -> None:
    """Make all tables in one transaction, so that there are all or none, and one process does."""
    if has_tables(at):
        return
    at.rollback()  # what asking began
    at.execute(lock, *keys)
    if not has_tables(at):
        make_tables(at)
        at.execute(insert(VERSION), {"version_num": newest_version()})
        at.execute(insert(Course.__table__), {"id": COURSE})
        at.commit()


@cache
def newest_version() -> str:
    """Return the version of the tables that this nbgrader makes."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415 (only a new gradebook needs it)

    return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())
