"""Scripts in forks of a process that loaded what they all need: most of a script's time."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Result = subprocess.CompletedProcess[str]
# Whole: where scripts run this module need not be importable.
PROGRAM = """
import atexit, gc, json, os, sys, threading, traceback
names = {"__name__": "__main__"}
gc.disable()  # to look through what is loaded takes a quarter of the time
exec(sys.argv[1], names)
gc.freeze()
gc.enable()

def be_script(script):
    status = 1
    try:
        exec(script, names)
        status = 0
    except SystemExit as ends:
        status = ends.code or 0
    except BaseException:
        traceback.print_exc()
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(status)  # to take down all that was loaded, as Python does, takes a second

for line in sys.stdin:
    place, environment, sys.argv, script = json.loads(line)
    if (child := os.fork()) == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{place}/{name}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
        os.environ.update(environment)
        be_script(script)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os._exit(0)
"""
GRADER = "from grader.cli import main; import sys; sys.exit(main())"
# Nothing of the course's own, which is another in each clone.
NEEDED_BY_GRADER = "import jupytext, matplotlib.pyplot, nbgrader.api, nbgrader.apps, torch"


class Forks:
    """A process that ran the setup, in a folder and an environment, and is copied for scripts."""

    def __init__(self, process: subprocess.Popen[str], place: str) -> None:
        self._process, self._place = process, place

    def run(self, script: str, *words: str, **more: str) -> Result:
        """Run a script, which finds all that the setup left, with its arguments and variables."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = json.dumps([self._place, more, ["-c", *words], script])
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        status = self._process.stdout.readline()
        assert status, "the setup failed"
        said = [(Path(self._place) / name).read_text() for name in ("out", "err")]
        return Result([script, *words], int(status), *said)


@contextmanager
def forks(
    setup: str, folder: Path = ROOT, environment: Mapping[str, str] | None = None
) -> Iterator[Forks]:
    """Start such a process, and end it."""
    with (
        tempfile.TemporaryDirectory() as place,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, setup],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        yield Forks(process, place)


def run_scripts(setup: str, *scripts: Sequence[str]) -> list[Result]:
    """Run scripts, each given with its arguments."""
    with forks(setup) as made:
        return [made.run(*script) for script in scripts]
