"""Verdicts of a student's own test: given on proxies, kept where they were earned."""

import inspect
import json
from collections.abc import Callable

import pytest
import torch

from grader.sandbox import Ended
from grader.workers.job_files import counted
from grader.workers.protocol import Message, WireError, decode, encode
from grader.workers.results import TrialRun, as_one
from grader.workers.trial_proxy import Proxy
from grader.workers.trials import TRIAL_RUNS, Server
from utils.checks.lessons.attention.answers.testing import good_test
from utils.checks.lessons.attention.probes import PROBES
from utils.checks.lessons.encoder.answers.testing import good_test as good_test_of_padding
from utils.checks.observation import Observation
from utils.checks.registry import probes

TEST = "test_attention"
CASES = [dict(c.params) for c in PROBES[TEST].cases]
STEP = {"source": "", "exercise": TEST, "cases": CASES}
RIGHT = ["accepts"] * 2 + ["rejects"] * 4
SMALL = torch.ones(1, 1, 1)
RIGHT_FIRST = b"9"  # a seed with which a right version comes first in the first trial run
RIGHT_FIRST_TWICE = b"20"  # in the second trial run, too


def verdict(trial: int, says: str) -> bytes:
    return json.dumps({"exercise": TEST, "case": trial, "values": [["your test", says]]}).encode()


def served(seed: bytes = RIGHT_FIRST, run: int = 0, step: dict = STEP) -> Server:
    steps, cases = counted([step])
    server = Server(steps, run)
    server.draw(seed, cases)
    return server


def proxy(server: Server, trial: int) -> Proxy:
    return Proxy(TEST, trial, server.reply)


@pytest.fixture
def server() -> Server:
    return served()


def trials(server: Server) -> range:
    return range(server.steps[0]["count"])


def say(server: Server, says: Callable[[int], str], asks: Callable[[int], bool]) -> list[dict]:
    """The verdicts on versions, of one verdict on each trial, given in turn."""
    for trial in trials(server):
        if asks(trial):
            proxy(server, trial)(SMALL, SMALL, SMALL)
        assert server.reply(verdict(trial, says(trial))) is None
    return [json.loads(message) for message in server.verdicts()]


def try_out(test: Callable[[Callable], None], server: Server) -> tuple[bytes, ...]:
    """The verdicts on versions that a test gives, as the isolated process would send them."""
    for trial in trials(server):
        says = "accepts"
        try:
            test(proxy(server, trial))
        except AssertionError:
            says = "rejects"
        server.reply(verdict(trial, says))
    return tuple(server.verdicts())


def ended(*messages: bytes, status: str = "finished") -> Ended:
    return Ended(status, 0, None, messages, 1.0, 2.0, 3, "")


def in_all_runs(new_test: Callable[[], Callable], seed: bytes) -> list[str]:
    """What a test is taken to say of each version that it gave a verdict on."""
    found = [try_out(new_test(), served(seed, number)) for number in range(TRIAL_RUNS)]
    whole = as_one([TrialRun(ended(), verdicts, more=False) for verdicts in found])
    return [json.loads(message)["values"][0][1] for message in whole.messages]


def like_the_first() -> Callable[[Callable], None]:
    """A test that knows nothing: right is what answers as the first version did."""
    first: list[torch.Tensor] = []

    def test(attention: Callable) -> None:
        draw = torch.Generator().manual_seed(0)
        q, k, v = (torch.randn(1, 2, 4, generator=draw) for _ in range(3))
        answers = [*attention(q, k, v), *attention(q, k, v, torch.tensor([[[True, False]]]))]
        first.append(torch.cat([answer.flatten() for answer in answers]))
        assert torch.allclose(first[0], first[-1], atol=1e-4)

    return test


def test_right_versions_together_come_as_often_as_each_broken_one(server):
    places = [server._places[TEST, trial] for trial in trials(server)]
    assert sorted(places) == [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert len(trials(server)) == len(places)


def test_the_order_is_unknown_until_it_is_drawn_and_the_seed_decides_it():
    assert Server(counted([STEP])[0])._places == {}
    assert served()._places == served()._places != served(run=1)._places


def test_the_same_verdict_on_all_trials_of_a_version_is_one_verdict_on_it(server):
    told = say(server, lambda _: "accepts", asks=lambda _: True)
    assert [message["case"] for message in told] == list(range(len(CASES)))


def test_a_verdict_on_a_version_that_was_never_asked_counts_for_nothing(server):
    assert say(server, lambda _: "accepts", asks=lambda _: False) == []


def test_a_verdict_before_the_question_counts_for_nothing(server):
    for trial in trials(server):
        server.reply(verdict(trial, "accepts"))
    assert say(server, lambda _: "accepts", asks=lambda _: False) == []


def test_verdicts_that_differ_between_the_trials_of_a_version_count_for_nothing(server):
    odd = next(trial for (_, trial), place in server._places.items() if place == 3)
    told = say(server, lambda t: "accepts" if t == odd else "rejects", asks=lambda _: True)
    assert [message["case"] for message in told] == [0, 1, 2, 4, 5]


@pytest.mark.parametrize("other", [1, 9])
def test_a_version_that_is_not_on_trial_answers_no_call(server, other):
    with pytest.raises(ValueError, match="not on trial now"):
        proxy(server, other)(SMALL, SMALL, SMALL)


def test_a_version_whose_verdict_has_come_answers_no_more_calls(server):
    server.reply(verdict(0, "accepts"))
    with pytest.raises(ValueError, match="not on trial now"):
        proxy(server, 0)(SMALL, SMALL, SMALL)
    assert len(proxy(server, 1)(SMALL, SMALL, SMALL)) == 2


def test_a_verdict_stands_once_it_is_given_whatever_is_sent_later(server):
    told = say(server, lambda _: "accepts", asks=lambda _: True)
    for trial in trials(server):
        server.reply(verdict(trial, "rejects"))
    assert [json.loads(message) for message in server.verdicts()] == told


@pytest.mark.parametrize(
    "shapes",
    [
        [(64, 1, 64, 1), (1, 64, 64, 1), (1, 64, 64, 1), (16, 1, 1, 1)],
        [(64, 1, 8, 1), (1, 64, 8, 1), (1, 64, 8, 1)],
        [(1, 400, 1), (1, 400, 1), (1, 400, 1)],
        [(1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1, 1, 1)],
        [(1, 1, 40_000), (1, 1, 40_000), (1, 1, 40_000)],
    ],
)
def test_tensors_that_become_large_when_broadcast_together_are_refused(server, shapes):
    with pytest.raises(ValueError, match=r"a test may pass|these tensors together"):
        proxy(server, 0)(*map(torch.zeros, shapes))


def test_calls_whose_computing_took_too_long_together_are_refused(server, monkeypatch):
    monkeypatch.setattr("grader.workers.trials.MOST_SECONDS", 0.0)
    proxy(server, 0)(SMALL, SMALL, SMALL)
    with pytest.raises(ValueError, match="too many calls"):
        proxy(server, 0)(SMALL, SMALL, SMALL)


def test_a_test_whose_calls_run_out_is_told_so_of_versions_that_it_could_not_decide(monkeypatch):
    monkeypatch.setattr("grader.workers.trials.MOST_CALLS", 5)
    server = served()
    for trial in trials(server):
        try:
            proxy(server, trial)(SMALL, SMALL, SMALL)
            server.reply(verdict(trial, f"accepts in trial {trial}"))
        except ValueError:
            server.reply(verdict(trial, "fails"))
    told = [json.loads(message).get("problem") for message in server.verdicts()]
    assert any(told)
    assert all("too many calls" in message for _, message, _ in filter(None, told))


def test_a_version_tells_its_name_as_a_function_does(server):
    assert proxy(server, 0).__name__ == proxy(server, 1).__name__ == "version"


@pytest.mark.parametrize("shape", [(2, 4, 10, 16), (4, 8, 10, 64)])
def test_tensors_of_the_sizes_that_lessons_use_are_answered(server, shape):
    q = torch.zeros(shape)
    output, weights = proxy(server, 0)(q, q, v=q, mask=torch.ones(1, 10, 10, dtype=torch.bool))
    assert (output.shape, weights.shape) == (shape, (*shape[:2], 10, 10))


def test_a_test_that_is_right_is_taken_at_its_word_in_all_runs():
    assert in_all_runs(lambda: good_test, RIGHT_FIRST) == RIGHT


def test_equal_to_the_first_wins_no_points_although_the_first_was_right_once():
    alone = [json.loads(v)["values"][0][1] for v in try_out(like_the_first(), served())]
    assert alone == RIGHT
    assert in_all_runs(like_the_first, RIGHT_FIRST)[:2] != RIGHT[:2]


def test_other_messages_of_later_sittings_are_dropped_and_a_bad_end_is_told():
    runs = [
        TrialRun(ended(b"a", status="crashed"), (b"x", b"y"), more=True),
        TrialRun(ended(b"b"), (b"y", b"z"), more=False),
    ]
    whole = as_one(runs)
    assert (whole.status, whole.messages, whole.wall_seconds) == ("crashed", (b"a", b"y"), 4.0)
    assert as_one([*runs, None]) is None


@pytest.mark.parametrize(
    "forged",
    [b'{"case": 3, "values": [], "exercise": "test_attention"}',
     b' {"exercise": "test_attention", "case": 3}',
     b'{"exercise":"test_attention","case":3,"values":[]}'],
)  # fmt: skip
def test_a_verdict_written_in_another_way_does_not_slip_through(server, forged):
    assert server.reply(forged) is None
    assert (server.rest, list(server.verdicts())) == ([], [])


def test_a_message_that_says_another_exercise_than_its_head_reaches_no_judge():
    """The watcher knows by the head what is open; JSON keeps what it says last."""
    server = Server([{"source": "", "exercise": "attend", "cases": 4}])
    whole = encode(Message("test_attention", 0, Observation()))
    twice = b'{"exercise": "attend", "case": 3, ' + whole[1:]
    server.reply(twice)
    assert (decode(whole).exercise, server.rest) == ("test_attention", [twice])
    with pytest.raises(WireError):
        decode(twice)


def test_a_verdict_is_about_its_test_whatever_its_message_says_later(server):
    for trial in range(len(server._places)):
        Proxy(TEST, trial, server.reply)(SMALL, SMALL, SMALL)
        head = f'{{"exercise": "{TEST}", "case": {trial}, "values": [], '
        server.reply((head + '"exercise": "attend"}').encode())
    told = [json.loads(raw)["exercise"] for raw in server.verdicts()]
    assert told == [TEST] * len(CASES)


def test_nothing_is_said_of_a_test_that_is_not_tried():
    """One that ended its process is left out the next time, and has no trials then."""
    server = served(step=STEP | {"cases": [], "ended": "crashed"})
    for place in range(len(CASES)):
        assert server.reply(verdict(place, f"{RIGHT[place]} this version")) is None
    assert (server.rest, list(server.verdicts())) == ([], [])


MESSAGE = b'{"exercise": "attend", "case": 3}'


def test_other_messages_pass_as_they_are():
    server = Server([{"source": "", "exercise": "attend", "cases": 4}])
    for message in (MESSAGE, b'{"event": {}}'):
        assert server.reply(message) is None
    assert server.rest == [MESSAGE, b'{"event": {}}']


def test_what_begins_like_no_message_is_dropped():
    server = Server([{"source": "", "exercise": "attend", "cases": 4}])
    deep = b'{"values": ' + b"[" * 5000 + b"]" * 5000 + b", " + MESSAGE[1:]
    for message in (deep, b"no JSON", b"{}"):
        assert server.reply(message) is None
    assert server.rest == []


NEXT = "causal_mask"  # of the same lesson
MASKED = json.dumps({"exercise": NEXT, "case": 0}).encode()


def beside_another(run: int = 0) -> Server:
    """A server of the test and of an exercise after it."""
    steps, cases = counted([STEP, {"source": "", "exercise": NEXT, "cases": [{"T": 3}]}])
    server = Server(steps, run)
    server.draw(RIGHT_FIRST, cases)
    return server


def test_once_a_version_has_answered_no_other_exercise_counts():
    before, after = beside_another(), beside_another()
    before.reply(MASKED)
    proxy(after, 0)(SMALL, SMALL, SMALL)
    after.reply(MASKED)
    assert (before.rest, after.rest) == ([MASKED], [])


def test_a_call_that_no_version_answers_closes_nothing():
    server = beside_another()
    with pytest.raises(ValueError, match="not on trial"):
        proxy(server, 1)(SMALL, SMALL, SMALL)
    server.reply(MASKED)
    assert server.rest == [MASKED]


def test_versions_that_fail_on_the_same_call_say_so_in_the_same_words(server):
    flat = torch.zeros(3)
    said = set()
    for trial in trials(server):
        with pytest.raises(ValueError, match="the function failed") as told:
            proxy(server, trial)(flat, SMALL, torch.zeros(7, 2))
        said.add(str(told.value))
        server.reply(verdict(trial, "accepts"))
    assert len(said) == 1


@pytest.mark.parametrize(
    "odd",
    [
        (SMALL, SMALL, torch.ones(1, 3, 1)),
        (SMALL, SMALL, SMALL, SMALL),
        (SMALL,) * 3 + (1,),
        (torch.ones(0, 2, 1).bool(),) * 3 + (torch.ones(2, 2).bool(),),
        (torch.ones(1, 0, 1),) * 3 + (torch.ones(1, 1, 3).bool(),),
        (torch.ones(1, 2, 0), torch.ones(1, 2, 0), torch.ones(1, 2, 1)),
    ],
)
def test_no_version_answers_what_tells_broken_ones_without_a_number(server, odd):
    """Values of another length, a mask of numbers, vectors of no entries or no numbers."""
    for trial in trials(server):
        with pytest.raises(ValueError, match="the function failed"):
            proxy(server, trial)(*odd)
        server.reply(verdict(trial, "accepts"))


def test_a_version_that_returns_one_tensor_gives_the_test_one_tensor():
    cases = [dict(c.params) for c in probes()["test_padding"].cases]
    server = served(step={"source": "", "exercise": "test_padding", "cases": cases})
    found = Proxy("test_padding", 0, server.reply)(torch.tensor([[3, 4, 0], [1, 2, 5]]))
    assert found.shape[:2] == (2, 3)


@pytest.mark.parametrize("seed", [b"1", b"5", b"11"])
def test_a_good_test_of_padding_is_right_about_every_version_in_any_order(seed):
    cases = [dict(c.params) for c in probes()["test_padding"].cases]
    server = served(seed, step={"source": "", "exercise": "test_padding", "cases": cases})
    for trial in trials(server):
        says = "accepts"
        try:
            good_test_of_padding(Proxy("test_padding", trial, server.reply))
        except AssertionError:
            says = "rejects"
        said = {"exercise": "test_padding", "case": trial, "values": [["your test", says]]}
        server.reply(json.dumps(said).encode())
    found = [json.loads(message)["values"][0][1] for message in server.verdicts()]
    assert found == RIGHT


def kind_of(server: Server, exercise: str, trial: int) -> int:
    """The place of the version on trial; right ones are of one kind."""
    return max(1, server._places[exercise, trial])


@pytest.mark.parametrize("seed", [b"1", b"5", b"11"])
def test_of_every_kind_of_encoder_one_is_another_at_padding_in_any_order(seed):
    cases = [dict(c.params) for c in probes()["test_padding"].cases]
    server = served(seed, step={"source": "", "exercise": "test_padding", "cases": cases})
    ids, others = torch.tensor([[3, 4, 0], [1, 2, 5]]), []
    for trial in trials(server):
        found = Proxy("test_padding", trial, server.reply)(ids)
        others += [kind_of(server, "test_padding", trial)] * bool((found[ids == 0] == 3).all())
        server.reply(json.dumps({"exercise": "test_padding", "case": trial}).encode())
    assert sorted(others) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", [b"1", b"5", b"11"])
def test_of_every_kind_of_attention_one_takes_query_by_query_in_any_order(seed):
    """What that does to the last digits and to the time says nothing, then."""
    server = served(seed)
    inner = {
        trial: inspect.getclosurevars(version).nonlocals["function"].__name__
        for (_, trial), version in server._versions.items()
    }
    slow = [kind_of(server, TEST, trial) for trial, name in inner.items() if name == "by_rows"]
    assert sorted(slow) == [1, 2, 3, 4, 5]
