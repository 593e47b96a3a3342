"""A class of 200 hands in to the hub's exchange within five minutes, and is graded meanwhile.

Each student is an account of this machine, made and removed as root, and a process that does, as
that account, what the start of a server and Submit do; JupyterLab itself does not run. The grader
is another account, which grades again and again. Every eighth student hands in twice.

`python -m bench hub` keeps the figures; `python -m bench.hub --students 20 --seconds 30` runs a
smaller one.
"""

import argparse
import contextlib
import json
import os
import pwd
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from grader.authoring.lesson import Lesson, lessons
from grader.course.sample_class import CLASS, UNTOUCHED, submission
from hub.accounts import ensure_account, ensure_group
from tests.browser.jupyterlab import ROOT
from tests.course.hub_class import GRADER, PREFIX, HubClass, a_class, require_users
from utils.lab.exchange import Course, exchange_settings, prepare
from utils.lab.on_hub import NAME, renew

LESSON: Final = "02_attention"
N_STUDENTS, SECONDS = 200, 300.0
# What each kind of the sample class earns; the README shows the same table.
POINTS: Final = {"ada": 27, "ben": 22, "cleo": 26, "dan": 0, "eve": 25, "finn": 23.47}
KINDS: Final = tuple(POINTS)
TWICE: Final = 8  # each such student hands in the stubs first
DONE: Final = "all-handed-in"
# The last run must begin after the last hand-in.
GRADE: Final = (
    f"while :; do last=; [ -e {DONE} ] && last=1; python -m grader grade {LESSON} || exit; "
    '[ "$last" ] && exit; done'
)


def measure(n_students: int = N_STUDENTS, seconds: float = SECONDS) -> dict[str, Any]:
    """Run the five minutes; return what came of them.

    Raises:
        AssertionError: a student could not hand in, or grading failed as a whole.

    """
    names = [f"{PREFIX}s{number:03}" for number in range(n_students)]
    with a_class(require_users(), names) as made:
        done = made.prepare()
        assert done.returncode == 0, done.stderr
        to_make = make_accounts(names)
        warm_up(made)
        with grading(made):
            told = hand_in_over(made, names, seconds)
            (made.clone / DONE).touch()
        return look(made, names, told) | {
            "seconds to make an account": round(to_make / n_students, 3),
            "handed in within seconds": seconds,
        }


def make_accounts(names: list[str]) -> float:
    """Make the students' accounts as the hub does; return the seconds."""
    start = time.perf_counter()
    ensure_group()
    for name in names:
        ensure_account(name)
    return time.perf_counter() - start


def warm_up(made: HubClass) -> None:
    """Hand in once elsewhere, so that each student's process has all modules when it is forked."""
    with tempfile.TemporaryDirectory() as name:
        course = Course(Path(name))
        renew(made.settings.served, course.root)
        (course.root / "course.toml").unlink()
        start_and_hand_in(course, "warm-up", [notebook("ada", "warm-up")])


@contextlib.contextmanager
def grading(made: HubClass) -> Iterator[None]:
    """Grade again and again until all is handed in, and once more."""
    account = pwd.getpwnam(GRADER)
    with (made.folder / "grading.log").open("w") as log:
        process = subprocess.Popen(
            ["sh", "-c", GRADE],
            cwd=made.clone,
            user=account.pw_uid,
            group=account.pw_gid,
            extra_groups=[],
            env={"PATH": f"{made.clone}/.venv/bin:{os.defpath}", "HOME": account.pw_dir},
            stdout=log,
            stderr=log,
        )
    try:
        yield
        assert process.wait() == 0, (made.folder / "grading.log").read_text()[-2000:]
    finally:
        process.kill()
        process.wait()


def hand_in_over(made: HubClass, names: list[str], seconds: float) -> list[dict[str, Any]]:
    """Let each student hand in at a drawn moment; return what each process told."""
    draw = random.Random(0)
    moments = sorted((draw.random() * seconds, name) for name in names)
    reading, writing = os.pipe()
    start = time.monotonic()
    children = []
    for moment, name in moments:
        time.sleep(max(0.0, start + moment - time.monotonic()))
        children.append(fork(made, name, names.index(name), writing))
    ends = [os.waitpid(child, 0)[1] for child in children]
    os.close(writing)
    with os.fdopen(reading) as told:
        lines = [json.loads(line) for line in told]
    assert ends == [0] * len(names), f"{len(names) - ends.count(0)} could not hand in"
    return lines


def fork(made: HubClass, name: str, number: int, writing: int) -> int:
    """Start a student's process; return its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.write(writing, be_student(made, name, number))
        status = 0
    finally:
        os._exit(status)


def be_student(made: HubClass, name: str, number: int) -> bytes:
    """Become a student's account, start the course and hand in; return a line of times."""
    account = pwd.getpwnam(name)
    os.initgroups(name, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    os.environ["HOME"] = account.pw_dir
    course = Course(Path(account.pw_dir, NAME))
    begin = time.perf_counter()
    renew(made.settings.served, course.root)
    copied = time.perf_counter() - begin
    first = [notebook(UNTOUCHED, name)] if number % TWICE == 0 else []
    answers = [*first, notebook(KINDS[number % len(KINDS)], name)]
    took = start_and_hand_in(course, name, answers)
    line = {"name": name, "at": time.time(), "copied": copied, "took": took}
    return (json.dumps(line) + "\n").encode()


def start_and_hand_in(course: Course, name: str, answers: list[str]) -> float:
    """Do what a server's start and Submit do, for each answer; return the last one's seconds."""
    prepare(course)
    config = exchange_settings(course)
    config.CourseDirectory.student_id, config.CourseDirectory.assignment_id = name, LESSON
    for answer in answers:
        (course.learn / LESSON / f"{LESSON}.ipynb").write_text(answer, encoding="utf-8")
        begin = time.perf_counter()
        ExchangeFactory(config=config).Submit(
            coursedir=CourseDirectory(config=config),
            authenticator=Authenticator(config=config),
            config=config,
        ).start()
    return time.perf_counter() - begin


def notebook(kind: str, name: str) -> str:
    """Return the notebook of a kind with a student's name in it, by which it is known again."""
    lesson = next(each for each in _lessons() if each.name == LESSON)
    made = json.loads(submission(lesson, kind, CLASS[kind]))
    made["metadata"]["of"] = name
    return json.dumps(made)


def _lessons() -> list[Lesson]:
    return list(lessons(ROOT))


def look(made: HubClass, names: list[str], told: list[dict[str, Any]]) -> dict[str, Any]:
    """Compare every hand-in and score with what they should be; return that and the times."""
    ends = Counter(end_of(made, name, number) for number, name in enumerate(names))
    graded = [made.clone / "autograded" / x["name"] / LESSON / f"{LESSON}.ipynb" for x in told]
    waits = [f.stat().st_mtime - x["at"] for f, x in zip(graded, told, strict=True) if f.exists()]
    runs = (made.folder / "grading.log").read_text().count("Graded ")
    return {
        "students": len(names),
        "hand-ins": len(names) + len(names[::TWICE]),
        "what became of them": dict(ends),
        "seconds of Submit": spread([x["took"] for x in told]),
        "seconds to copy the course into a new home": spread([x["copied"] for x in told]),
        "seconds from handed in to graded": spread(waits),
        "runs of make grade": runs,
    }


def end_of(made: HubClass, name: str, number: int) -> str:
    """Return what became of a student's last hand-in, in words."""
    kind = KINDS[number % len(KINDS)]
    place = made.clone / "submitted" / name / LESSON / f"{LESSON}.ipynb"
    if not place.is_file() or place.read_text(encoding="utf-8") != notebook(kind, name):
        return "lost"
    table = (made.clone / "report/grades.txt").read_text(encoding="utf-8")
    row = re.search(rf"^{name}\b.* ([\d.]+) of 27(.*)$", table, re.MULTILINE)
    if row is None:
        return "not graded"
    if float(row[1]) == POINTS[kind]:
        return "graded as it should be"
    return f"graded otherwise: {row[1]} for {POINTS[kind]} {row[2].strip()}".strip()


def spread(values: list[float]) -> dict[str, float]:
    """Return the median, the 95th of 100 and the longest."""
    found = sorted(values)
    middle, most = statistics.median(found), found[int(len(found) * 0.95)]
    return {"median": round(middle, 3), "95%": round(most, 3), "longest": round(found[-1], 3)}


if __name__ == "__main__":  # tests and tools import every module
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=N_STUDENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.students, arguments.seconds), indent=1))
