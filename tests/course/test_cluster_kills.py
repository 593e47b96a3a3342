"""Twenty random kills among three workers and all that runs below them, while a class is graded."""

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from grader.cluster.address import Remote
from grader.cluster.engine import Cluster
from grader.judging.pipeline import grade_all
from grader.reading.prepared import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from tests.course.clusters import (
    LESSON,
    broken_cluster,
    descendants,
    need_isolation,
    submissions,
)
from tests.course.lesson_runs import all_lessons
from tests.fork_server import one_fork_server

N_KILLS = 20
AT_ONCE = 3  # so few are counted on that each submission is a batch


class Killer:
    """Kills what comes by chance, and never twice without a result in between."""

    def __init__(self, nannies: list[psutil.Process]) -> None:
        self.nannies, self.kills, self.draw = nannies, 0, random.Random(17)

    def kill(self) -> None:
        below = [p for nanny in self.nannies for p in descendants(nanny)]
        if self.kills < N_KILLS and below:
            with suppress(psutil.NoSuchProcess):  # it ended meanwhile, which is no kill
                self.draw.choice(below).kill()
                self.kills += 1


def test_twenty_random_kills_lose_no_submission_and_double_none(tmp_path: Path):
    need_isolation()
    lesson = all_lessons()[LESSON]
    kinds = list(submissions().values())
    with one_fork_server(), Pool(1, Limits()) as pool:
        graded = dict(grade_all([Item(data, lesson) for data in kinds], pool))
    wanted = [graded[n].scores for n in range(len(kinds))]
    sent: list[int] = []

    with broken_cluster(tmp_path, 3) as cluster:
        killer = Killer(cluster.workers)

        def items() -> Iterator[Item]:
            while killer.kills < N_KILLS or len(sent) % len(kinds):
                sent.append(len(sent))
                yield Item(kinds[sent[-1] % len(kinds)], lesson)

        taken: list[int] = []
        with Cluster(Remote(cluster.address)).opened(AT_ONCE, tmp_path) as grade:
            for position, outcome in grade(items()):
                assert outcome.status == "graded", outcome.notes
                assert outcome.scores == wanted[position % len(kinds)]
                taken.append(position)
                killer.kill()
    assert killer.kills == N_KILLS
    assert sorted(taken) == sent
