"""From data to a page: templates that escape everything, and how numbers and times are written."""

import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.course.safe_text import lines
from grader.course.wording import plural
from grader.pages.pictures import drawn

FOLDER: Final = Path(__file__).resolve().parent


def render(template: str, **data: Any) -> str:
    """Fill a template of this package."""
    return _environment().get_template(template).render(**data)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number, "marked": marked, "plural": plural, "drawn": drawn
    }  # fmt: skip
    return environment


def _harmless(value: Any) -> Any:
    """Show in a text from outside what would turn the direction of writing, or be unseen."""
    return lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def maker() -> str:
    """Identify what makes the pages: the code and templates of this package."""
    paths = [path for path in sorted(FOLDER.rglob("*")) if path.suffix in (".py", ".html", ".css")]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def number(value: float) -> str:
    """Write points with at most two decimals and none too many."""
    return f"{round(value, 2):g}"


def marked(text: str) -> Markup:
    """Escape a text, and mark up what stands between backticks as code."""
    whole = escape(lines(text))
    parts = str(whole).split("`")
    if len(parts) % 2 == 0:  # one backtick has no partner
        return whole
    return Markup(
        "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
    )


def zone(name: str) -> ZoneInfo:
    """Return a time zone by name; UTC if this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def moment(when: datetime, where: ZoneInfo) -> str:
    """Write a time that the gradebook keeps in UTC, in a time zone."""
    local = when.replace(tzinfo=UTC).astimezone(where)
    return f"{local.day} {local:%B %Y, %H:%M} ({where.key})"
