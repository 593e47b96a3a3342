"""What one isolated task may use."""

from dataclasses import dataclass, fields

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True)
class Limits:
    """Upper bounds for one task; every number must be above zero.

    `memory_bytes` is address space beyond what the warm parent has mapped when it forks (libraries
    such as torch map far more than they use). `result_bytes` are kept at most; `question_bytes` may
    come besides in questions, of which nothing is kept once they are answered. `forks` says whether
    the task may start processes; it may always start threads, and `tasks` counts both. Limits on
    memory, CPU time and open files hold for each process, so with `forks` a task may use `tasks`
    times as much.
    """

    wall_seconds: float = 60.0
    cpu_seconds: int = 60
    memory_bytes: int = 2 * GIB
    tasks: int = 64
    open_files: int = 64
    file_bytes: int = 16 * MIB
    folder_bytes: int = 64 * MIB
    folder_entries: int = 4096
    result_bytes: int = 8 * MIB
    question_bytes: int = 256 * MIB
    messages: int = 4096
    forks: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for a limit that is not above zero."""
        for field in fields(self):
            if field.name != "forks" and getattr(self, field.name) <= 0:
                raise ValueError(f"the limit {field.name} must be above zero")
