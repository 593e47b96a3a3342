"""Scripts in forks of one process, which loaded what they all need: most of a script's time."""

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "from tests.forks import serve; serve()"


def run_scripts(setup: str, *scripts: Sequence[str]) -> list[subprocess.CompletedProcess[str]]:
    """Run scripts, each given with its arguments, that find all that the setup left."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", PROGRAM, setup, folder, json.dumps(scripts)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [_result(Path(folder), n, script) for n, script in enumerate(scripts)]


def _result(folder: Path, n: int, script: Sequence[str]) -> subprocess.CompletedProcess[str]:
    out, err, status = ((folder / f"{n}.{name}").read_text() for name in ("out", "err", "status"))
    return subprocess.CompletedProcess(script, int(status), out, err)


def serve() -> None:
    """Run the setup, then each script; sys.argv holds the setup, the folder and the scripts."""
    setup, folder, scripts = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    names = {"__name__": "__main__"}
    exec(setup, names)
    for n, script in enumerate(scripts):
        if (child := os.fork()) == 0:
            _be_script(folder / str(n), script, names)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        (folder / f"{n}.status").write_text(str(status))


def _be_script(place: Path, script: list[str], names: dict[str, object]) -> None:
    """Run a script in this process, which ends with it."""
    for name, descriptor in (("out", 1), ("err", 2)):
        os.dup2(os.open(place.with_suffix(f".{name}"), os.O_CREAT | os.O_WRONLY), descriptor)
    sys.argv = ["-c", *script[1:]]
    failed = 0
    try:
        exec(script[0], names)
    except BaseException:
        traceback.print_exc()
        failed = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(failed)
