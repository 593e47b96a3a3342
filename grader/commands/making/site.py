"""`python -m grader site`: build the course's public web site, offline."""

import argparse
import os
import time
from importlib.util import find_spec
from pathlib import Path

from grader.authoring.files import find_root
from grader.authoring.lesson import lessons
from grader.errors import CourseError
from grader.website.hosted import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--repository",
        default=os.environ.get("GITHUB_REPOSITORY", ""),
        help="owner/name on GitHub; without it pages have no links that open a lesson elsewhere",
    )
    parser.add_argument("--branch", default="main", help="the branch with the course; main")
    parser.add_argument("--hub", default="", help="the address of a JupyterHub with nbgitpuller")
    parser.add_argument("--pdf", action="store_true", help="also print each lesson, with Chromium")
    parser.epilog = "Writes site/_build; open its index.html, or publish the folder as it is."


def run(arguments: argparse.Namespace) -> int:
    """Build the site and say where it is."""
    if find_spec("sphinx") is None:
        raise CourseError("The site needs more packages. Run make site, which installs them.")
    from grader.website.build import build_site  # noqa: PLC0415  # its packages may be missing
    from grader.website.printing import print_lessons  # noqa: PLC0415

    start = time.perf_counter()
    root = find_root(Path.cwd())
    host = Host(arguments.repository, arguments.branch, arguments.hub)
    chosen = lessons(root)
    folder = root / "site" / "_build"
    build_site(root, chosen, host, folder)
    if arguments.pdf:
        print(f"{print_lessons(folder, [lesson.name for lesson in chosen])}: lessons as PDF")
    print(f"{folder / 'index.html'}: built in {time.perf_counter() - start:.0f} s")
    return 0
