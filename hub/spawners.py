"""Where a student's server runs: in a unit of systemd, or as a process under limits of its own."""

import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Integer

from hub.accounts import end_processes, ensure_account

NICENESS: Final = 5  # students' processes yield to the hub and to grading
SYSTEMD: Final = Path("/run/systemd/system")  # it is there where systemd runs the machine


def has_systemd() -> bool:
    """Return whether systemd runs this machine, and so can limit what a server uses."""
    return SYSTEMD.is_dir()


def make_account(spawner: Any) -> None:
    """Make the account that a server is to run as, right before it starts."""
    ensure_account(spawner.user.name)


def end_account(spawner: Any) -> None:
    """End what a server's account still runs, when the server has stopped."""
    end_processes(spawner.user.name)


class LimitedSpawner(LocalProcessSpawner):
    """A process of the student's account, with what the kernel limits without systemd.

    The memory is each process's: a student with four notebooks may use it four times. Processor
    time is not limited: busy students share it evenly, after the hub and grading.
    """

    process_limit = Integer(512, help="Processes and threads of one student.", config=True)

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        """Return what a new process does before it becomes the student's server."""
        become = super().make_preexec_fn(name)
        memory, processes = self.mem_limit, self.process_limit

        def prepare() -> None:
            limits = {resource.RLIMIT_NPROC: processes, resource.RLIMIT_CORE: 0}
            if memory:
                limits[resource.RLIMIT_DATA] = memory
            for limit, value in limits.items():
                resource.setrlimit(limit, (value, value))
            os.nice(NICENESS)
            become()

        return prepare
