"""Fork servers that fail, as programs for a pool: what a broken machine would do."""

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
