"""How large folders, files and functions may be."""

import ast
import statistics
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from tests.unit.project.test_code_layout import MODULES, ROOT, name_of

PRODUCT = ("utils", "grader", "hub", "site", "bench")
MOST_FILES = 16  # of a folder, without its subfolders


def too_full(files: Iterable[str]) -> dict[str, int]:
    """Folders with more files than one sees at a glance -> how many."""
    counted = Counter(PurePosixPath(file).parent.as_posix() for file in files)
    return {folder: n for folder, n in counted.items() if n > MOST_FILES}


def files_of_the_product() -> list[str]:
    """What git tracks or would; generated files are ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PRODUCT]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [file for file in listed.split("\0") if (ROOT / file).is_file()]


def test_no_folder_of_the_product_holds_more_than_16_files():
    assert too_full(files_of_the_product()) == {}


def test_a_folder_that_is_too_full_is_found_and_its_subfolders_are_counted_apart():
    files = [f"grader/room/{n}.{kind}" for n in range(8) for kind in ("py", "toml")]
    assert too_full([*files, "grader/room/inner/one.py"]) == {}
    assert too_full([*files, "grader/room/one.html"]) == {"grader/room": 17}


def test_no_file_is_longer_than_400_lines():
    long = {str(p): n for p in MODULES if (n := len(p.read_text().splitlines())) > 400}
    assert long == {}


def lines_without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) else 0
    return node.end_lineno - node.lineno + 1 - docstring


def functions() -> list[tuple[str, int]]:
    return [
        (f"{name_of(path)}.{node.name}", lines_without_docstring(node))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def test_the_median_function_has_at_most_eight_lines():
    assert statistics.median(lines for _, lines in functions()) <= 8


def test_no_function_is_longer_than_60_lines():
    assert {name: lines for name, lines in functions() if lines > 60} == {}
