"""Rules of the house that no linter knows."""

import ast
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("utils", "grader", "tests", "bench")
MODULES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
# What code in each folder may import of ours. Nothing imports the grader but itself and its tests.
MAY_IMPORT = {
    "utils": {"utils"},
    "grader": {"grader", "utils"},
    "solutions": {"utils"},
    "bench": {"bench", "grader", "utils", "tests"},
}
OURS = {"utils", "grader", "tests", "bench", "solutions", "notebooks"}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def imports_against_the_rule(path, folder):
    roots = {name.split(".")[0] for name in imported(path)} & OURS
    return roots - MAY_IMPORT[folder]


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_run_one_way(folder):
    wrong = {
        str(path.relative_to(ROOT)): found
        for path in (ROOT / folder).rglob("*.py")
        if (found := imports_against_the_rule(path, folder))
    }
    assert wrong == {}


def test_the_grader_takes_of_utils_checks_only_what_judging_needs():
    allowed = ("utils.checks", "utils.exchange", "utils")
    for path in (ROOT / "grader").rglob("*.py"):
        for name in imported(path):
            if name.split(".")[0] == "utils":
                assert name.startswith(allowed[:2]) or name == "utils", (path, name)


def test_the_isolation_layer_knows_nothing_of_the_course():
    for path in (ROOT / "grader" / "isolation").glob("*.py"):
        ours = [name for name in imported(path) if name.split(".")[0] in OURS]
        assert all(name.startswith("grader.isolation") for name in ours), (path, ours)


def test_probes_do_not_import_what_is_right_or_wrong():
    for path in (ROOT / "utils" / "checks").glob("*/probes.py"):
        assert not [name for name in imported(path) if "answers" in name], path


def test_an_import_against_the_rule_is_found(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("from grader.build import lesson\nimport torch\n")
    assert imports_against_the_rule(bad, "utils") == {"grader"}


def test_no_file_is_longer_than_400_lines():
    long = {str(p): n for p in MODULES if (n := len(p.read_text().splitlines())) > 400}
    assert long == {}


def test_the_median_function_has_at_most_ten_lines():
    functions = [
        node
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    assert statistics.median(n.end_lineno - n.lineno + 1 for n in functions) <= 10
