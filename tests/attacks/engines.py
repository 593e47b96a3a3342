"""The grader's settings that attacks are held under, and one run of all attacks in each.

`python -m tests.attacks.engines SETTING...` grades the attacks of each, with right submissions
among them, and prints the results as JSON. A process of its own lets a run belong to another
user. All settings of one user share it: most of the time goes into explaining wrong answers, and
they are the same ones under each.
"""

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from grader.judging.outcome import Outcome
from grader.judging.pipeline import grade_all
from grader.reading.prepared import Item
from grader.sandbox import CannotIsolate, Ended, Limits
from grader.sandbox.walls.interpreter import closed_to_others
from grader.workers.pool import FORK_SERVER, Job, Pool
from tests.attacks.afresh import HONEST as HONEST_AFRESH
from tests.attacks.again import AGAIN
from tests.attacks.attack import LESSON, Attack
from tests.attacks.later import HONEST, ROADS
from tests.attacks.lent import LENT, PARTS
from tests.attacks.malformed import HARMLESS, MALFORMED, PAGES
from tests.attacks.patching import LYING, PATCHING
from tests.attacks.reaching_out import BOMBS, EARLY, FORGING, LOOTING
from tests.attacks.shortcuts import SHORTCUTS
from tests.attacks.waiting import WAITING
from tests.course.lesson_runs import all_lessons
from tests.paced import paced
from tests.tiers import OTHER_SETTINGS, left_out
from tests.unit.grader.odd_files import ORDINARY_USER

ROOT = Path(__file__).resolve().parents[2]
ATTACKS: list[Attack] = [
    *PATCHING, *LYING, *FORGING, *LOOTING, *BOMBS, *EARLY, *MALFORMED, *PAGES, *HARMLESS, *SHORTCUTS,
    *LENT, *PARTS, *WAITING, *ROADS, *HONEST, *HONEST_AFRESH, *AGAIN,
]  # fmt: skip
# These work on the notebook's own process or on the reading of a notebook, where the walls and the
# number of workers change nothing: they are held under the first setting alone.
INWARD: list[Attack] = [
    *PATCHING, *LYING, *MALFORMED, *PAGES, *SHORTCUTS, *LENT, *PARTS, *WAITING,
    *ROADS, *HONEST, *HONEST_AFRESH, *AGAIN,
]  # fmt: skip
BYSTANDER = Attack("a right answer among attackers", "", right=True, score=1.0)
LEAST = Limits(wall_seconds=30, cpu_seconds=24, memory_bytes=1 << 30)  # few attacks use all of it
SPENT = 0.75  # of the time, where nothing is to be learnt from watching all of it burn


class Hurried(Pool):
    """A pool for which some submissions, named by their keys, have spent most of their time."""

    burning: Collection[int] = ()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Ended | None]]:
        spent = SPENT * self._limits.wall_seconds
        return super().run(
            replace(job, spent=spent) if job.key in self.burning else job for job in jobs
        )


@dataclass(frozen=True)
class Setting:
    """How the grader is run.

    Attributes:
        jobs: submissions graded at once.
        without: a wall that the machine is taken not to offer ("namespaces", "Landlock").
        ordinary: grade as an ordinary user; else as whoever runs the tests.
    """

    jobs: int = 2
    without: str = ""
    ordinary: bool = False


EVERY_SETTING = {
    "two at once": Setting(),
    "one at a time": Setting(jobs=1),
    "without Landlock": Setting(without="Landlock"),
    "an ordinary user": Setting(ordinary=True),
    "an ordinary user, without namespaces": Setting(ordinary=True, without="namespaces"),
}
# A quick run tries the first alone.
SETTINGS = dict(list(EVERY_SETTING.items())[: 1 if OTHER_SETTINGS in left_out() else None])


def held_under(setting: str) -> list[Attack]:
    """The attacks that a setting is tried with: all under the first, else those it can matter to."""
    if setting == next(iter(SETTINGS)):
        return ATTACKS
    inward = {attack.name for attack in INWARD}
    return [attack for attack in ATTACKS if attack.name not in inward]


@dataclass(frozen=True)
class Result:
    """What came out for one submission: points as exercise -> (earned, most)."""

    status: str
    score: float
    points: dict[str, tuple[float, float]]
    notes: Sequence[str]


class NotHere(Exception):
    """A setting cannot be had on this machine."""


def results(name: str) -> list[Result]:
    """What came out of a setting's attacks: a right answer first and last.

    Raises:
        NotHere: says what is missing.
    """
    found = _run_all(ordinary=SETTINGS[name].ordinary)[name]
    if isinstance(found, str):
        raise NotHere(found)
    return [Result(**item) for item in found]


@cache
def _run_all(*, ordinary: bool) -> dict[str, list[dict[str, Any]] | str]:
    """Run all settings of one user: the results of each, or what the machine lacks for it."""
    other_user = ordinary and os.geteuid() == 0
    names = [name for name, setting in SETTINGS.items() if setting.ordinary == ordinary]
    try:
        python = python_for_all() if other_user else sys.executable
    except NotHere as error:
        return dict.fromkeys(names, str(error))
    finished = subprocess.run(
        [python, "-m", "tests.attacks.engines", *names],
        cwd=ROOT,
        env=_environment() if other_user else None,
        user=ORDINARY_USER if other_user else None,
        group=ORDINARY_USER if other_user else None,
        extra_groups=[] if other_user else None,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    found: dict[str, list[dict[str, Any]] | str] = json.loads(finished.stdout)
    return found


def python_for_all() -> str:
    """An interpreter of this one's version that every user may start.

    Raises:
        NotHere: there is none, or the packages or the project lie where only their owner may go.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    places = (Path(sys.executable).parent, Path("/usr/bin"), Path("/usr/local/bin"))
    for path in (place / f"python{version}" for place in places):
        if path.exists() and not closed_to_others([path.resolve(), ROOT, *_packages()]):
            return str(path)
    raise NotHere("interpreter, packages or project lie where an ordinary user may not go")


def _packages() -> list[Path]:
    return [Path(entry) for entry in sys.path if Path(entry).name.endswith("-packages")]


def _environment() -> dict[str, str]:
    places = os.pathsep.join(map(str, [ROOT, *_packages()]))
    return {"PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}


def main(names: Sequence[str]) -> None:
    """Grade the attacks of each setting and print the results, or what the machine lacks."""
    found: dict[str, list[dict[str, Any]] | str] = {}
    for name in names:
        try:
            found[name] = [asdict(_plain(outcome)) for outcome in _graded(name)]
        except CannotIsolate as error:
            found[name] = str(error).splitlines()[-1]
    print(json.dumps(found))


def _graded(name: str) -> list[Outcome]:
    """Grade a setting's attacks, in the order in which they are held."""
    setting, lessons = SETTINGS[name], all_lessons()
    fewer = ("-m", "tests.attacks.fewer_walls", setting.without)
    chosen = [BYSTANDER, *held_under(name), BYSTANDER]
    limits = paced(lessons[LESSON], LEAST)
    with Hurried(setting.jobs, limits, program=fewer if setting.without else FORK_SERVER) as pool:
        pool.burning = [key for key, attack in enumerate(chosen) if attack.burns]
        items = [Item(attack.submission(), lessons[attack.lesson]) for attack in chosen]
        graded = dict(grade_all(items, pool))
    return [graded[key] for key in range(len(chosen))]


def _plain(outcome: Outcome) -> Result:
    points = {result.exercise: (result.score, result.points) for result in outcome.results}
    return Result(outcome.status, outcome.score or 0.0, points, outcome.notes)


if __name__ == "__main__":
    main(sys.argv[1:])
