"""The grading engine of many machines, in the place of this machine's."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from grader.cluster.address import Local, Remote
from grader.cluster.connecting import connected
from grader.cluster.request import Terms
from grader.cluster.scheduler import Patience, Task
from grader.cluster.task import grade_batch
from grader.cluster.versions import ROOT, versions
from grader.cluster.window import Window
from grader.judging.engine import Grade
from grader.sandbox import Limits


@dataclass(frozen=True)
class Cluster:
    """Grade on Dask's workers.

    Attributes:
        where: the workers.
        limits: what each submission may use.
        isolate: whether it runs isolated.
        root: where this side's lessons are from.
        patience: how long is waited for what.
        task: what a worker runs for a batch.

    """

    where: Local | Remote
    limits: Limits = field(default_factory=Limits)
    isolate: bool = True
    root: Path = ROOT
    patience: Patience = field(default_factory=Patience)
    task: Task = grade_batch

    @contextmanager
    def opened(self, count: int, scratch: Path) -> Iterator[Grade]:
        """Connect to the workers.

        Raises:
            CourseError: no scheduler answers; while grading, it is gone or has no workers.

        """
        terms = Terms(versions(self.root), self.limits, self.isolate, self.patience.batch)
        with (
            tempfile.TemporaryDirectory(
                prefix="jobs-", dir=scratch, ignore_cleanup_errors=True
            ) as folder,
            connected(self.where, Path(folder), self.patience) as scheduler,
        ):
            window = Window(scheduler, terms, self.task, self.patience)
            yield partial(window.grade, count=count)
