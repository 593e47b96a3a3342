"""Limits by this machine's own pace, so that no outcome depends on how fast or busy it is."""

import json
from dataclasses import replace

from grader.authoring.lesson import Lesson
from grader.authoring.notebook import source_notebook
from grader.judging.pipeline import grade_all
from grader.reading.prepared import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool

AMPLE = Limits(wall_seconds=3600, cpu_seconds=3600)
TIMES = 40  # one step may take a quarter of all: ten times as long as a right submission whole


def paced(lesson: Lesson, limits: Limits) -> Limits:
    """Return limits with the time that a right submission needs here and now, forty times over.

    Where that is less than `limits` give, theirs stay.
    """
    with Pool(1, AMPLE) as pool:
        right = Item(json.dumps(source_notebook(lesson)).encode(), lesson)
        outcome = next(iter(grade_all([right], pool)))[1]
    assert outcome.status == "graded"
    seconds = max(limits.wall_seconds, TIMES * outcome.seconds)
    return replace(limits, wall_seconds=seconds, cpu_seconds=max(limits.cpu_seconds, int(seconds)))
