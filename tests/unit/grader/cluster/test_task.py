"""The shell beside a worker, replaced by small programs that misbehave."""

import json
import threading
from types import SimpleNamespace

import pytest

from grader.cluster import task

ECHO = "import sys\nfor line in sys.stdin:\n  print('1');print('2');print('end');sys.stdout.flush()"
HANG = "import time\ntime.sleep(60)"
HALF = "import sys,time\nsys.stdin.readline();print('1');sys.stdout.flush();time.sleep(60)"
END = "import sys\nsys.stdin.readline();print('1')"
STUCK = "import signal\nsignal.pause()"


@pytest.fixture
def ask(monkeypatch, tmp_path):
    """Ask a worker whose shell is a program; the next program replaces a lost shell."""
    worker = SimpleNamespace(
        state=SimpleNamespace(nthreads=1), local_directory=str(tmp_path), address="tcp://w:1"
    )
    monkeypatch.setattr(task, "get_worker", lambda: worker)

    def ask(program, request=b"{}", patience=20.0):
        monkeypatch.setattr(task, "PROGRAM", ("-c", program))
        return json.loads(task.grade_batch(request, patience))

    yield ask
    while task._shells:
        task._shells.pop().close()


def test_what_the_shell_answers_is_handed_on_with_the_workers_address(ask):
    assert ask(ECHO) == {"worker": "tcp://w:1", "answers": [1, 2]}


def test_one_shell_serves_batch_after_batch(ask):
    ask(ECHO)
    shell = task._shells[0]
    assert ask(HANG)["answers"] == [1, 2]
    assert task._shells == [shell]


@pytest.mark.parametrize(
    ("program", "answers"),
    [
        (HANG, [{"lost": "it gave no sign for too long"}]),
        (HALF, [1, {"lost": "it gave no sign for too long"}]),
        (END, [1, {"lost": "it ended"}]),
    ],
    ids=["hangs", "hangs on the way", "ends on the way"],
)
def test_a_shell_that_fails_is_told_as_data_and_the_next_batch_has_a_new_one(ask, program, answers):
    assert ask(program, patience={HANG: 1.0, HALF: 12.0, END: 600.0}[program])["answers"] == answers
    assert ask(ECHO)["answers"] == [1, 2]


def test_a_shell_that_takes_no_batch_is_given_up(ask):
    assert ask(STUCK, b"x" * (1 << 20), 0.5)["answers"] == [
        {"lost": "it gave no sign for too long"}
    ]


def test_a_shell_that_cannot_be_started_is_told_as_data(ask, monkeypatch):
    monkeypatch.setattr(task.sys, "executable", "/nonexistent")
    assert ask(ECHO)["answers"] == [{"lost": "it ended"}]


def test_two_batches_at_once_have_the_shell_one_after_the_other(ask):
    found = []
    threads = [threading.Thread(target=lambda: found.append(ask(ECHO))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [answer["answers"] for answer in found] == [[1, 2]] * 2
    assert len(task._shells) == 1
