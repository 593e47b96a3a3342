"""Build the site: put its source together, run Sphinx on it, replace what was built before."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader.authoring.lesson import Lesson
from grader.errors import CourseError
from grader.website.hosted import Host
from grader.website.source import assemble

EMPTY_HEADER: Final = '<th class="head"><p></p></th>'
MATHJAX: Final = "tex-chtml.js"


def build_site(root: Path, lessons: Sequence[Lesson], host: Host, target: Path) -> None:
    """Build the site of the course at `root` into a folder, in place of what it held.

    A build that fails leaves the former site as it was.

    Raises:
        CourseError: a page is faulty; the message holds what Sphinx says.

    """
    with tempfile.TemporaryDirectory(prefix="site-") as name:
        source, built = Path(name) / "source", Path(name) / "html"
        source.mkdir()
        assemble(root, lessons, host, source)
        _sphinx(root, source, built)
        _lighten(built)
        _name_no_empty_column(built)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(built, target, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo"))


def _sphinx(root: Path, source: Path, built: Path) -> None:
    """Run Sphinx; a warning is a fault: a link that leads nowhere, a heading out of order."""
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-E"]
    found = subprocess.run(
        [*command, str(source), str(built)], cwd=root, capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise CourseError(f"The site could not be built:\n{found.stderr.strip()}")


def _lighten(built: Path) -> None:
    """Leave out what no page asks for, nine tenths of MathJax among it."""
    mathjax = built / "_static" / "mathjax"
    for path in sorted(mathjax.rglob("*"), reverse=True):
        if path.is_file() and path.name != MATHJAX and "fonts" not in path.parts:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    (built / ".nojekyll").touch()  # GitHub Pages leaves out folders like _static otherwise


def _name_no_empty_column(built: Path) -> None:
    """Make the empty corner of a table a plain cell: a header would be read out as nothing."""
    for page in sorted(built.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(EMPTY_HEADER, "<td></td>"), encoding="utf-8")
