"""Fork servers that fail, as programs for a pool: what a broken machine would do."""

from pathlib import Path
from typing import Final

Program = tuple[str, str]

CANNOT_START: Final[Program] = ("-c", "raise SystemExit(1)")


def cannot_isolate(why: str) -> Program:
    """Return one on a machine without the walls."""
    return (
        "-c",
        "import grader.workers.forkserver as f\n"
        "def refuses(*_arguments, **_options):\n"
        f"    raise f.CannotIsolate({why!r})\n"
        "f.warm_up, f.Supervisor = lambda: None, refuses\n"
        "f.main([])",
    )


WATCHERS_DIE: Final[Program] = (  # as soon as they have a job
    "-c",
    "import grader.workers.forkserver as f, grader.workers.watcher as w\n"
    "f.warm_up, w.do_jobs = lambda: None, lambda _s, jobs, _r: next(iter(jobs))\n"
    "f.main(['no-isolation'])",
)


GIVES_UP: Final[Program] = (  # as one that can make no process, once a watcher has a job
    "-c",
    "import os, signal, socket\n"
    "from grader.sandbox.starting import receive\n"
    "from grader.workers.results import write_ready\n"
    "_, (jobs, results) = receive(socket.socket(fileno=os.dup(0)))\n"
    "has_job, tell = os.pipe()\n"
    "if (watcher := os.fork()) == 0:\n"
    "    write_ready(open(results, 'wb'))\n"
    "    os.write(tell, os.read(jobs, 1))\n"
    "    signal.pause()\n"
    "os.read(has_job, 1)\n"
    "os.close(0)\n"
    "os.kill(watcher, signal.SIGKILL)\n"
    "raise SystemExit(1)\n",
)


def stands_still_once(who: str, mark: Path) -> Program:
    """Return one whose watchers end each job at once; the first of a kind to begin is stopped.

    Args:
        who: "fork server" or "watcher".
        mark: a file that is there once it has been.

    """
    return (
        "-c",
        "import os, signal, socket\n"
        "from pathlib import Path\n"
        "from grader.sandbox import Ended, Ending\n"
        "from grader.sandbox.walls.processes import die_with_parent\n"
        "from grader.sandbox.starting import receive\n"
        "from grader.workers.results import TrialRun, write_ready, write_result\n"
        "done = Ended(Ending.FINISHED, 0, None, (), 0.0, 0.1, 0, '')\n"
        "def begin(who):\n"
        f"    if who == {who!r} and not Path({str(mark)!r}).exists():\n"
        f"        Path({str(mark)!r}).touch()\n"
        "        os.kill(os.getpid(), signal.SIGSTOP)\n"
        "begin('fork server')\n"
        "while True:\n"
        "    _, (jobs, results) = receive(socket.socket(fileno=os.dup(0)))\n"
        "    if os.fork() == 0:\n"
        "        die_with_parent()\n"
        "        with open(jobs, 'rb') as lines, open(results, 'wb') as told:\n"
        "            write_ready(told)\n"
        "            for _ in lines:\n"
        "                begin('watcher')\n"
        "                write_result(told, TrialRun(done, (), False))\n"
        "        os._exit(0)\n"
        "    os.close(jobs)\n"
        "    os.close(results)\n",
    )
