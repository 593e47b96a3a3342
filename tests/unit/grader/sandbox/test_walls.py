"""Each wall, shown by a task that tries to get past it, and by the same task without the wall."""

import asyncio
import contextlib
import ctypes
import errno
import importlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.sandbox import CannotIsolate, Channel, Ended, Limits, Supervisor, require
from grader.sandbox.supervisor import environment_block
from grader.sandbox.walls.interpreter import closed_to_others, view
from tests.unit.grader.odd_files import ORDINARY_USER
from tests.unit.grader.sandbox import attacks_from_inside as attacks

REPOSITORY = Path(__file__).parents[4]


def reason_against() -> str:
    """Why this machine cannot run these tests; "" if it can."""
    try:
        require(view([]).paths, Limits())
    except CannotIsolate as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(reason_against()), reason=reason_against())


@pytest.fixture(params=["all walls", "no namespaces", "no Landlock"])
def supervisor(request: pytest.FixtureRequest) -> Iterator[Supervisor]:
    """A supervisor as this machine allows, then as where the kernel grants less."""
    with Supervisor(Limits(wall_seconds=600)) as made:
        yield with_walls(request.param, made)


def with_walls(kind: str, made: Supervisor) -> Supervisor:
    if kind == "no namespaces":
        return attacks.without_namespaces(made)
    if kind == "no Landlock":
        if "mount" not in made.walls.namespaces:
            pytest.skip("without a private root folder, Landlock is needed")
        return attacks.without_landlock(made)
    return made


@pytest.fixture
def targets(tmp_path: Path) -> Iterator[attacks.Targets]:
    with attacks.targets_in(tmp_path) as made:
        yield made


def run(supervisor: Supervisor, task: Callable[[Channel], None]) -> Ended:
    number = supervisor.start(task)
    return supervisor.poll()[number]


def said(supervisor: Supervisor, question: Callable[[], object]) -> str:
    ended = run(supervisor, lambda channel: channel.send(str(question()).encode()))
    assert ended.status == "finished", ended
    return ended.messages[0].decode()


@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_an_attack_is_held(name: str, supervisor: Supervisor, targets: attacks.Targets) -> None:
    attack = attacks.ATTACKS[name]
    assert said(supervisor, lambda: attacks.outcome(attack, targets)).startswith("held")


HELD_ANYWAY = {
    "replaces_itself_by_a_program": "it leaves nobody to report",
    "goes_through_a_process_root": "needs rights over the parent",
    "reads_the_parents_environment": "needs rights over the parent",
    "reads_the_parents_memory": "needs rights over the parent",
    "signals_every_process": "needs rights over another process",
    "writes_among_the_packages": "needs rights over the packages",
    "becomes_root": "needs root",
    "opens_a_descriptor_of_the_parent": "descriptors are closed in every task",
    "opens_too_many_files": "limits hold in every task",
    "takes_too_much_memory": "limits hold in every task",
    "takes_too_much_shared_memory": "limits hold in every task",
    "writes_a_huge_file": "limits hold in every task",
    "starts_too_many_threads": "root's threads are not counted, an ordinary user's are",
    "raises_its_own_limits": "root may, an ordinary user may not",
}


@pytest.mark.parametrize("name", sorted(attacks.ATTACKS.keys() - HELD_ANYWAY.keys()))
def test_without_walls_the_same_attack_succeeds(name: str, targets: attacks.Targets) -> None:
    with Supervisor(isolate=False) as unguarded:
        assert attacks.run(name, targets, unguarded).startswith("got")


def test_dangerous_system_calls_are_refused_as_not_permitted(supervisor: Supervisor) -> None:
    def answer(name: str) -> str:
        try:
            attacks.bare_call(name)
        except OSError as error:
            return errno.errorcode[error.errno or 0]
        return "made"

    came = said(supervisor, lambda: json.dumps({name: answer(name) for name in attacks.CALLS}))
    assert json.loads(came) == dict.fromkeys(attacks.CALLS, "EPERM")


def test_changed_permissions_outside_change_nothing(
    supervisor: Supervisor, targets: attacks.Targets
) -> None:
    before = targets.secret.stat()

    def harm(_channel: Channel) -> None:
        with contextlib.suppress(OSError):
            targets.secret.chmod(0)
        with contextlib.suppress(OSError):
            os.utime(targets.secret, (1, 1))

    run(supervisor, harm)
    after = targets.secret.stat()
    assert (stat.S_IMODE(before.st_mode), before.st_mtime) == (
        stat.S_IMODE(after.st_mode),
        after.st_mtime,
    )


def open_to_others(folder: Path, *more: Path) -> None:
    """Let other users into a test's folders: pytest's own too, the system's stay as they are."""
    own = [above for above in folder.parents if above.name.startswith(("pytest-", "popen-"))]
    for each in (*own, folder, *more):
        each.chmod(0o755)


@pytest.mark.parametrize("kind", ["all walls", "no namespaces", "no Landlock"])
def test_what_is_named_readable_can_be_read_and_not_written(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "data.txt").write_text("numbers")
    (tmp_path / "link").symlink_to("folder")

    def question() -> str:
        text = (tmp_path / "link" / "data.txt").read_text()
        with contextlib.suppress(OSError):
            (tmp_path / "link" / "new.txt").write_text("mine")
        return text

    open_to_others(tmp_path)
    with Supervisor(readable=[tmp_path / "link"]) as supervisor:
        assert said(with_walls(kind, supervisor), question) == "numbers"
    assert [path.name for path in folder.iterdir()] == ["data.txt"]


def test_the_private_folder_is_empty_writable_and_home(supervisor: Supervisor) -> None:
    def question() -> object:
        Path("made").mkdir()
        Path("made", "file").write_text("text")
        shutil.copy(Path("made", "file"), "copy")
        own = Path.cwd()
        places = {os.environ["HOME"], os.environ["TMPDIR"], tempfile.gettempdir()}
        return Path("copy").read_text(), places == {str(own)}, sorted(map(str, Path().iterdir()))

    assert said(supervisor, question) == str(("text", True, ["copy", "made"]))


def test_environment_and_arguments_of_the_parent_are_gone_from_memory(
    supervisor: Supervisor,
) -> None:
    block = environment_block()
    assert block
    assert any(ctypes.string_at(block[0], block[1] - block[0]))

    def question() -> object:
        left = any(ctypes.string_at(block[0], block[1] - block[0]))
        return left, "PYTEST_CURRENT_TEST" in os.environ, sys.argv

    assert said(supervisor, question) == str((False, False, [""]))


def test_standard_streams_lead_nowhere_and_errors_come_back(supervisor: Supervisor) -> None:
    def task(channel: Channel) -> None:
        print("to nobody")
        print("x" * 9000 + "the end", file=sys.stderr)
        channel.send(sys.stdin.read().encode())

    ended = run(supervisor, task)
    assert ended.messages == (b"",)
    assert ended.stderr.endswith("the end\n")
    assert len(ended.stderr) <= 4096


def test_asyncio_and_threads_work(supervisor: Supervisor) -> None:
    def question() -> object:
        asyncio.run(asyncio.sleep(0.001))
        with ThreadPoolExecutor(3) as pool:
            return list(pool.map(lambda n: n * n, range(5)))

    assert said(supervisor, question) == "[0, 1, 4, 9, 16]"


def test_a_late_import_works(supervisor: Supervisor) -> None:
    as_nobody = supervisor.walls.drop_root and "mount" not in supervisor.walls.namespaces
    if as_nobody and closed_to_others(supervisor.view.paths):
        pytest.skip("this Python lies in a folder that only root may enter")
    assert "wave" not in sys.modules
    assert said(supervisor, lambda: importlib.import_module("wave").__name__) == "wave"


def test_torch_multiplies_differentiates_and_saves(supervisor: Supervisor) -> None:
    torch = pytest.importorskip("torch")
    torch.ones(2, 2) @ torch.ones(2, 2)
    file = io.BytesIO()
    torch.save(torch.ones(2), file)  # what saving loads late is loaded now, wherever it lies
    file.seek(0)
    torch.load(file)

    def question() -> object:
        torch.set_num_threads(2)
        left = torch.arange(6.0).reshape(2, 3).requires_grad_()
        (left @ torch.ones(3, 4)).sum().backward()
        big = torch.ones(300, 400) @ torch.ones(400, 500)
        torch.save(left, "left.pt")
        same = torch.equal(torch.load("left.pt"), left)
        return left.grad.tolist(), float(big[7, 9]), same

    assert said(supervisor, question) == str(([[4.0] * 3] * 2, 400.0, True))


def test_all_attacks_are_held_for_an_ordinary_user(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("the other tests run as an ordinary user here")
    python = python_for_all()
    finished = subprocess.run(
        [python, REPOSITORY / "tests/unit/grader/sandbox/attacks_from_inside.py"],
        env={"PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        user=ORDINARY_USER,
        group=ORDINARY_USER,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    for came in json.loads(finished.stdout):
        assert came.keys() == attacks.ATTACKS.keys()
        assert {name: text for name, text in came.items() if not text.startswith("held")} == {}


def python_for_all() -> str:
    """An interpreter that every user may start; skips the test if there is none."""
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        path = Path(name)
        if path.exists() and not closed_to_others([path.resolve(), REPOSITORY]):
            asked = [name, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
            if subprocess.run(asked, check=False).returncode == 0:
                return name
    pytest.skip("no interpreter of Python 3.11 that an ordinary user may start")
