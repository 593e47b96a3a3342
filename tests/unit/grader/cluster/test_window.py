"""What the client does about each way in which a batch comes back, or does not: no Dask here."""

import json
from collections import Counter
from dataclasses import dataclass, field

import pytest

from grader.cluster.batches import MOST_LOSSES
from grader.cluster.outcome_data import write_outcome
from grader.cluster.request import Terms
from grader.cluster.scheduler import Landed, Patience
from grader.cluster.window import AHEAD, Window
from grader.errors import CourseError
from grader.judging.outcome import LOST, Status, without_run
from grader.reading.prepared import Item
from grader.sandbox import Limits
from tests.course.lesson_runs import all_lessons

LESSON = all_lessons()["00_start_here"]
OURS = {"torch": "2", "course": "abc"}
GRADED = without_run(LESSON, Status.GRADED, "")
BROKEN = without_run(LESSON, Status.GRADER_ERROR, "ours")
ENDED = without_run(LESSON, Status.GRADER_ERROR, LOST)
NEVER = object()


@dataclass
class FakeFuture:
    key: str
    worker: str
    items: list[str]
    bound: bool = False
    released: bool = False

    def release(self):
        self.released = True


@dataclass
class FakeScheduler:
    """Workers that do with a batch what `does` says: (worker, items) -> answers, None or NEVER."""

    does: object
    threads: dict[str, int] = field(default_factory=lambda: {"a": 1, "b": 1})
    sent: list[FakeFuture] = field(default_factory=list)
    most: int = 0

    def await_workers(self):
        return self.threads

    def send(self, task, key, given, workers):
        items = [i["data"] for i in json.loads(given[0])["items"]]
        names = sorted(workers or self.threads)
        worker = names[len(self.sent) % len(names)]
        self.sent.append(FakeFuture(key, worker, items, bool(workers)))
        return self.sent[-1]

    def landed(self, futures):
        self.most = max(self.most, len(futures))
        for future in list(futures):
            if future.worker not in self.threads:  # Dask moves what may go elsewhere
                future.worker = future.worker if future.bound else next(iter(self.threads))
            told = self.does(future.worker, future.items)
            if told is None:
                yield Landed(future.key, None, is_blamed=True)
            elif told is not NEVER:
                answer = {"worker": future.worker, "answers": told}
                yield Landed(future.key, json.dumps(answer).encode())


def outcomes(items, outcome=GRADED):
    return [{"position": n, "outcome": write_outcome(outcome)} for n in range(len(items))]


def graded(does, count=40, **patience):
    scheduler = does if isinstance(does, FakeScheduler) else FakeScheduler(does)
    terms = Terms(OURS, Limits(), isolate=True, seconds=1)
    window = Window(scheduler, terms, None, Patience(**patience))
    items = (Item(b"%d" % number, LESSON) for number in range(count))
    found = list(window.grade(items, count))
    assert Counter(position for position, _ in found) == Counter(range(count))
    assert all(future.released for future in scheduler.sent)
    return dict(found), scheduler


def test_every_submission_comes_back_once_in_a_bounded_number_of_batches():
    found, scheduler = graded(lambda worker, items: outcomes(items), count=400)
    assert set(found.values()) == {GRADED}
    assert scheduler.most == AHEAD * 2 + 1
    assert len({future.key for future in scheduler.sent}) == len(scheduler.sent)


class Once:
    """Does something else the first time that it sees a batch of this worker."""

    def __init__(self, first, worker=None):
        self.first, self.worker, self.seen = first, worker, 0

    def __call__(self, worker, items):
        if self.seen == 0 and worker in (self.worker or worker):
            self.seen = 1
            return self.first(items)
        return outcomes(items)


FAULTS = {
    "its workers were killed": lambda items: None,
    "the process beside the worker ended at once": lambda items: [{"lost": "it ended"}],
    "it ended on the way": lambda items: [*outcomes(items)[:3], {"lost": "it ended"}],
    "its time was over on the way": lambda items: outcomes(items)[:3],
    "nothing was answered": lambda items: [],
    "the answer is none": lambda items: [{"position": 99, "outcome": {}}],
    "all comes twice": lambda items: outcomes(items) * 2,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_batch_that_went_wrong_once_is_graded_all_the_same(fault):
    found, _ = graded(Once(fault))
    assert set(found.values()) == {GRADED}


def test_a_submission_that_loses_its_workers_always_is_given_up_alone_and_loudly():
    def does(_worker, items):
        return None if "NQ==" in items else outcomes(items)  # "5"

    found, scheduler = graded(does)
    assert [n for n, outcome in found.items() if outcome.score is None] == [5]
    assert found[5].status == Status.GRADER_ERROR
    assert "lost again and again" in found[5].notes[0]
    assert sum("NQ==" in future.items for future in scheduler.sent) == MOST_LOSSES


def test_a_batch_that_never_comes_back_is_sent_again():
    calls = Counter()

    def does(_worker, items):
        calls[items[0]] += 1
        return NEVER if items[0] == "MA==" and calls["MA=="] < 4 else outcomes(items)

    found, _ = graded(does, batch=0.0, silence=-60.0, look=0.0)  # any flight is too long
    assert set(found.values()) == {GRADED}


def test_a_worker_of_another_version_gets_nothing_more_and_both_versions_are_told(capsys):
    def does(worker, items):
        return [{"refused": OURS | {"torch": "1"}}] if worker == "a" else outcomes(items)

    found, scheduler = graded(does, count=400)
    assert set(found.values()) == {GRADED}
    assert sum(future.worker == "a" for future in scheduler.sent) <= AHEAD * 2 + 1
    assert capsys.readouterr().err.count("a is not used: torch is 1 there and 2 here.") == 1


def test_a_worker_that_fails_gets_nothing_more_and_costs_no_submission_a_loss(capsys):
    def does(worker, items):
        return [{"failed": "OSError: disk full"}] if worker == "a" else outcomes(items)

    found, _ = graded(does)
    assert set(found.values()) == {GRADED}
    assert "a is not used: OSError: disk full." in capsys.readouterr().err


def test_when_no_worker_can_grade_the_run_ends_with_the_reasons():
    with pytest.raises(CourseError, match=r"no worker that can grade.*no isolation"):
        graded(lambda worker, items: [{"failed": "no isolation"}])


@pytest.mark.parametrize("doubtful", [BROKEN, ENDED], ids=["grader error", "ended its workers"])
def test_a_doubtful_outcome_is_confirmed_by_another_worker_or_corrected(doubtful):
    def does(worker, items):
        return outcomes(items, doubtful if worker == "a" else GRADED)

    found, scheduler = graded(does)
    assert set(found.values()) == {GRADED}
    assert sum(len(future.items) for future in scheduler.sent) < 2 * 40


def test_an_outcome_that_two_workers_agree_on_stands():
    found, scheduler = graded(lambda worker, items: outcomes(items, BROKEN))
    assert {outcome.status for outcome in found.values()} == {Status.GRADER_ERROR}
    assert sum(len(future.items) for future in scheduler.sent) == 2 * 40


def test_a_batch_bound_to_workers_that_are_gone_goes_to_others():
    scheduler = FakeScheduler(None)

    def does(worker, items):
        if worker == "a":
            return [{"failed": "no disk"}]
        if worker == "b" and any(future.bound for future in scheduler.sent):
            scheduler.threads = {"c": 1}
        return outcomes(items) if worker in scheduler.threads else NEVER

    scheduler.does = does
    found, _ = graded(scheduler, look=0.0)
    assert set(found.values()) == {GRADED}
