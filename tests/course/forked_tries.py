"""Notebooks that are carried from, tried in forks of this process: torch is loaded in it already.

Not for all tests of a kind: that a new process finds all it needs is shown by one that starts it.
"""

import os
import signal
import sys
from pathlib import Path

from utils.notebook import carry


def run_in_fork(notebook: Path, name: str, answer: Path) -> bool:
    """Take the place of `carry._run_child`, here and in the forks that try what is built upon."""
    environment = carry._child_environment(carry._depth())
    if (child := os.fork()) == 0:
        _try(environment, [str(notebook), name, str(answer)])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGXCPU


def _try(environment: dict[str, str], words: list[str]) -> None:
    """Try a block in this process, which says nothing and ends with it."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        os.environ.update(environment)
        sys.argv = ["-c", *words]
        carry.try_block()
    finally:
        os._exit(0)
