"""Files of the repository as pages: the part that is wanted, with links that lead somewhere."""

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
    "slides": "slides.md",
}


def repository_page(root: Path, file: str, heading: str, host: Host) -> str:
    """Return a file's text, or the section below a heading, as a page.

    Raises:
        CourseError: the file lacks the heading, or links to what is not there.

    """
    text = (root / file).read_text(encoding="utf-8")
    if heading:
        text = _section(text, heading, file)
    return LINK.sub(lambda match: _link(match, root, file, host), text)


def _section(text: str, heading: str, file: str) -> str:
    """Return a section with its heading as the page's title."""
    level = heading.split(maxsplit=1)[0]
    found = re.search(
        rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", text, re.DOTALL | re.MULTILINE
    )
    if found is None:
        raise CourseError(f"{file} has no heading '{heading}', which a page of the site shows.")
    return f"# {heading.removeprefix(level).strip()}\n{found[1]}"


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
