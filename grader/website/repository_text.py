"""Files of the repository as pages, with links that lead somewhere."""

import re
from pathlib import Path, PurePosixPath
from typing import Final

from grader.errors import CourseError
from grader.website.hosted import Host

LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
# Files that have a page of their own.
PAGES: Final = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "docs/grading.md": "grading.md",
    "docs/instructors.md": "instructors.md",
    "docs/measured.md": "measured.md",
    "docs/statements.md": "statements.md",
    "docs/teaching.md": "teaching.md",
    "slides": "slides.md",
}


def repository_page(root: Path, file: str, host: Host) -> str:
    """Return a file's text as a page.

    Raises:
        CourseError: the file links to what is not there.

    """
    text = (root / file).read_text(encoding="utf-8")
    return LINK.sub(lambda match: _link(match, root, file, host), text)


def _link(match: re.Match[str], root: Path, file: str, host: Host) -> str:
    """Return a link as the site needs it: to a page, to the repository, or only its words."""
    picture, words, target, anchor = match[1], match[2], match[3], match[4] or ""
    if not target or ":" in target:
        return match[0]
    path = _resolved(file, target)
    if not (root / path).exists():
        raise CourseError(f"{file} links to {target}, which is not there.")
    if picture:
        return f"![{words}](_static/{PurePosixPath(path).name})"
    if path in PAGES:
        return f"[{words}]({PAGES[path]}{anchor})"
    return f"[{words}]({host.file(path)}{anchor})" if host.repository else words


def _resolved(file: str, target: str) -> str:
    """Return a relative link's target, from the repository's root."""
    parts: list[str] = []
    for part in (PurePosixPath(file).parent / target).parts:
        if part == "..":
            parts[-1:] = []
        else:
            parts.append(part)
    return "/".join(parts)
