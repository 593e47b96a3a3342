"""`setup.sh` and the hub's proxy, with a made-up npm."""

import shutil
from pathlib import Path

import pytest

from tests.unit.project.test_setup import GOOD, ROOT, Machine

NODE = '#!/bin/sh\necho "node $*" >> "$CALLS"\n'
TOO_OLD = "#!/bin/sh\nexit 1\n"
NPM = '#!/bin/sh\necho "npm $*" >> "$CALLS"\n'
OFFLINE = "#!/bin/sh\nexit 1\n"
NEEDED = "needs Node 20 or later with npm"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path, {"python3.12": GOOD})
    shutil.copytree(ROOT / "hub/proxy", made.checkout / "hub/proxy")
    (made.bin / "cp").symlink_to(str(shutil.which("cp")))
    return made


def npm_calls(machine: Machine) -> list[str]:
    return [line for line in machine.calls.read_text().splitlines() if line.startswith("npm")]


def test_the_hub_gets_its_proxy_once(machine: Machine) -> None:
    machine.put("node", NODE)
    machine.put("npm", NPM)
    assert machine.set_up("hub").returncode == 0
    (call,) = npm_calls(machine)
    assert call.startswith("npm ci")
    assert machine.set_up("hub").returncode == 0
    assert npm_calls(machine) == []


def test_other_versions_of_the_proxy_are_installed(machine: Machine) -> None:
    machine.put("node", NODE)
    machine.put("npm", NPM)
    machine.set_up("hub")
    (machine.checkout / "hub/proxy/package-lock.json").write_text("{}")
    machine.set_up("hub")
    assert len(npm_calls(machine)) == 1


@pytest.mark.parametrize("node", [None, TOO_OLD])
def test_a_machine_without_a_node_that_fits_gets_no_hub_and_is_told_why(
    machine: Machine, node: str | None
) -> None:
    machine.put("npm", NPM)
    if node:
        machine.put("node", node)
    done = machine.set_up("hub")
    assert done.returncode == 1
    assert NEEDED in done.stderr


def test_the_tests_are_set_up_without_node_too(machine: Machine) -> None:
    done = machine.set_up("test")
    assert done.returncode == 0
    assert NEEDED in done.stderr


def test_a_proxy_that_cannot_be_installed_is_tried_again_next_time(machine: Machine) -> None:
    machine.put("node", NODE)
    machine.put("npm", OFFLINE)
    done = machine.set_up("hub")
    assert done.returncode == 1
    assert "npm could not install the hub's proxy" in done.stderr
    machine.put("npm", NPM)
    assert machine.set_up("hub").returncode == 0


def test_students_need_no_node(machine: Machine) -> None:
    assert machine.set_up("lab").stderr == ""
