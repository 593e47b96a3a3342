"""Tries of notebooks for `carry`, forked from one process that has imported what each would.

A process that `carry` starts itself takes two seconds, most of them to import torch, and lessons
that build on one another start five for one block. `python -m tests.course.forked_tries PATH`
serves at a socket; a try that tries another notebook itself asks there as well.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from utils.notebook import carry

ADDRESS = "COURSE_FORKED_TRIES"
QUIET = subprocess.DEVNULL


class Try:
    """A forked try, with what `carry` asks of a process that it started."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        env: Mapping[str, str],
        start_new_session: bool,
        **streams: int,
    ) -> None:
        assert words[:4] == [sys.executable, "-P", "-c", carry.TRY]
        assert streams == dict.fromkeys(("stdin", "stdout", "stderr"), QUIET)
        self.returncode: int | None = None
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(os.environ[ADDRESS])
        self._answers = self._server.makefile("r")
        asked = (list(words[4:]), dict(env), str(Path.cwd()), start_new_session)
        self._server.sendall(json.dumps(asked).encode() + b"\n")
        self.pid = int(self._answers.readline())

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._server.settimeout(timeout)
            try:
                self.returncode = int(self._answers.readline())
            except TimeoutError:
                raise subprocess.TimeoutExpired(carry.TRY, timeout or 0) from None
            self._answers.close()
            self._server.close()
        return self.returncode

    def poll(self) -> int | None:
        return self.returncode

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def asking() -> Any:
    """Let `carry` in this process ask for forked tries."""
    own = SimpleNamespace(Popen=Try, DEVNULL=QUIET, TimeoutExpired=subprocess.TimeoutExpired)
    return mock.patch.object(carry, "subprocess", own)


@contextlib.contextmanager
def forked_tries() -> Iterator[None]:
    """Let `carry` fork its tries from a server, which lives as long."""
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="tries-") as folder, _served(Path(folder) / "socket"):
        yield


@contextlib.contextmanager
def _served(path: Path) -> Iterator[None]:
    env = carry._child_environment(0) | {ADDRESS: str(path)}
    words = [sys.executable, "-P", "-m", "tests.course.forked_tries", str(path)]
    with (
        subprocess.Popen(words, env=env) as server,
        mock.patch.dict(os.environ, {ADDRESS: str(path)}),
        asking(),
    ):
        try:
            while not path.exists():
                assert server.poll() is None, "the server of tries ended"
                time.sleep(0.02)
            yield
        finally:
            server.terminate()


def serve(path: str) -> None:
    """Import what tries import, then fork an attendant for each that is asked for."""
    import utils.plots  # noqa: F401, PLC0415 (tests that ask need none of this)
    from utils.checks.registry import exercises  # noqa: PLC0415

    exercises()
    with asking(), socket.socket(socket.AF_UNIX) as server:
        server.bind(path + ".new")
        server.listen()
        Path(path + ".new").rename(path)
        signal.signal(signal.SIGCHLD, _reap)
        while True:
            asked, _ = server.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                server.close()
                _attend(asked)
                os._exit(0)
            asked.close()


def _reap(_signal: int, _frame: object) -> None:
    """Take leave of attendants that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _attend(asked: socket.socket) -> None:
    """Fork one try, tell its number, and how it ended."""
    with asked, asked.makefile("r") as questions:
        words, env, folder, in_own_session = json.loads(questions.readline())
        pid = os.fork()
        if pid == 0:
            asked.close()
            _try(words, env, folder, in_own_session=in_own_session)
        asked.sendall(f"{pid}\n".encode())
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            asked.sendall(f"{status}\n".encode())


def _try(words: list[str], env: dict[str, str], folder: str, *, in_own_session: bool) -> None:
    """Do what a process of `carry` does, and end."""
    code = 1
    try:
        if in_own_session:
            os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(folder)
        sys.argv = ["-c", *words]
        carry.try_block()
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
