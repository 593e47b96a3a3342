"""The files that say what is installed agree, and what is installed is what they say."""

import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
# In pieces, so that this file does not hold what it looks for.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("download", "pytorch", "org"),
        ("anaconda", "org"),
        ("anaconda", "com"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("deb", "debian", "org"),
    )
]
INDEX_OPTIONS = ("--" + "index-url", "--extra-" + "index-url", "--find-" + "links")


def constraint_lines() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def pins() -> dict[str, str]:
    return dict(line.split("==") for line in constraint_lines())


def direct_requirements() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"].values()
    return [Requirement(text) for group in (PROJECT["dependencies"], *extras) for text in group]


def installed_requirements() -> dict[str, str]:
    """Every package that the course needs here, directly or not, and its installed version."""
    found: dict[str, str] = {}
    waiting = [(requirement, "") for requirement in direct_requirements()]
    seen = set()
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        if (name, frozenset(requirement.extras)) in seen:
            continue
        seen.add((name, frozenset(requirement.extras)))
        package = metadata.distribution(name)
        found[name] = package.version
        needs = [Requirement(text) for text in package.requires or []]
        waiting += [(need, wanted) for need in needs for wanted in ("", *requirement.extras)]
    return found


def tracked_files() -> list[Path]:
    """The files that git has or would take; without git (a bundle) there is nothing to look at."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_every_constraint_is_one_exact_version() -> None:
    for line in constraint_lines():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line), line


def test_constraints_are_sorted_and_name_each_package_once() -> None:
    names = [line.split("==")[0] for line in constraint_lines()]
    assert names == sorted(set(names))


def test_every_direct_dependency_is_pinned() -> None:
    missing = {canonicalize_name(need.name) for need in direct_requirements()} - pins().keys()
    assert missing == set()


def test_pyproject_leaves_versions_to_the_constraints() -> None:
    assert [str(need) for need in direct_requirements() if need.specifier] == []


def test_the_build_requirement_has_the_constraints_version() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert build == [f"setuptools=={pins()['setuptools']}"]


def test_cuda_packages_are_left_to_torch() -> None:
    assert [name for name in pins() if re.match("nvidia|cuda|triton", name)] == []
    assert pins()["torch"] == "2.13.0"


def test_every_installed_package_that_the_course_needs_has_its_pinned_version() -> None:
    cuda = re.compile("nvidia|cuda|triton")
    found = {
        name: version.split("+")[0]  # torch's CPU build is 2.13.0+cpu
        for name, version in installed_requirements().items()
        if not cuda.match(name)
    }
    assert found.items() - pins().items() == set()


def test_the_pinned_jsonschema_is_the_last_that_compiles_no_grammar_at_every_start() -> None:
    # From 4.25 on it takes rfc3987-syntax, whose import costs each process that reads a notebook a
    # second: nbformat imports it, and so do JupyterLab, nbgrader, the hub and the grader.
    assert SpecifierSet("<4.25").contains(pins()["jsonschema"])
    assert "rfc3987-syntax" not in pins()


def test_conda_users_get_the_same_constraints() -> None:
    (pip,) = [entry["pip"] for entry in ENVIRONMENT["dependencies"] if isinstance(entry, dict)]
    assert pip == ["-c constraints.txt", "-e ."]


@pytest.mark.parametrize("place", ["environment", "workflow", "ruff", "mypy"])
def test_every_python_named_lies_in_the_projects_range(place: str) -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    workflow = (ROOT / ".github/workflows/test.yml").read_text()
    named = {
        "environment": re.findall(r"python=(\S+)", " ".join(map(str, ENVIRONMENT["dependencies"]))),
        "workflow": re.findall(r"(?:python-version: \"|python)(3\.\d+)", workflow),
        "ruff": [tools["ruff"]["target-version"].replace("py3", "3.")],
        "mypy": [tools["mypy"]["python_version"]],
    }[place]
    assert named
    assert all(version in SpecifierSet(PROJECT["requires-python"]) for version in named)


def test_the_set_up_takes_the_projects_range_of_pythons() -> None:
    script = (ROOT / "setup.sh").read_text()
    tried = re.search(r"PYTHON:-([^}]*)}", script)
    assert tried is not None
    assert tried[1].split() == ["python3.11", "python3.12", "python3.13", "python3"]
    assert "(3, 11) <= sys.version_info < (3, 14)" in script
    assert SpecifierSet(PROJECT["requires-python"]) == SpecifierSet(">=3.11,<3.14")


def test_no_file_names_a_registry() -> None:
    unwanted = [*HOSTS, *INDEX_OPTIONS]
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in tracked_files()
        for word in unwanted
        if word.encode() in path.read_bytes()
    ]
    assert found == []


def test_git_ignores_no_source_file() -> None:
    folders = ("bench", "grader", "tests", "utils")
    sources = [str(path) for folder in folders for path in (ROOT / folder).rglob("*.py")]
    sources += map(str, (ROOT / "solutions").glob("*.py"))  # below, lesson 06 writes a script
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=ROOT,
        input="\n".join(sources),
        capture_output=True,
        text=True,
        check=False,  # 1 says that none is ignored
    )
    assert (ignored.stdout, ignored.returncode) == ("", 1)


def test_a_commit_is_held_to_the_stages_of_the_test_run() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in hooks] == ["local"]
    entries = {hook["id"]: hook["entry"] for hook in hooks[0]["hooks"]}
    assert entries.keys() == {"ruff-check", "ruff-format", "mypy", "build"}
    assert all(entry.startswith(".venv/bin/python -m ") for entry in entries.values())


def test_ci_and_the_workflow_run_the_same_script() -> None:
    steps = [step.get("run", "") for step in WORKFLOW["jobs"]["test"]["steps"]]
    assert "bash .ci/run" in steps
    assert "\nmake test ARGS=--all\n" in (ROOT / ".ci/run").read_text()
