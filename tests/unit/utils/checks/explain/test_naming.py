"""Which known mistake is named: the first failing case, all that pass, and enough of the rest."""

import pytest
import torch
from torch import nn

from utils.checks import check
from utils.checks.compare.compare import same_results
from utils.checks.exercise import Case, Exercise, Mistake, Probe
from utils.checks.judge import judge
from utils.checks.observation import Observation, Problem, ProblemKind
from utils.checks.observe import expected
from utils.checks.observe.observe import observe_all

RIGHT = [10.0, 20.0, 30.0, 40.0, 50.0]


@pytest.fixture(autouse=True)
def nothing_seen_before(monkeypatch):
    """The exercises below share an id, and what was seen of one is kept by id."""
    monkeypatch.setattr(expected, "_OWN", {})


def by_place(values):
    """An answer that gives the value at each place; a string is raised, what can be called is."""

    def answer(place):
        if isinstance(values[place], str):
            raise RuntimeError(values[place])
        return values[place]() if callable(values[place]) else values[place]

    return answer


def named(answer, **mistakes):
    """The name that an answer of five numbers gets; RIGHT are the right ones."""
    cases = tuple(Case(f"place {n}", {"place": n}) for n in range(len(RIGHT)))
    probe = Probe(
        "five_numbers", dict, lambda f, i: {"number": f(i["place"])}, cases, gradient=False
    )
    bank = tuple(Mistake(name, "says", "hint", by_place(v)) for name, v in mistakes.items())
    exercise = Exercise(probe, by_place(RIGHT), bank)
    verdict = judge(exercise, cases, observe_all(probe, cases, by_place(answer)))
    return verdict.mistake.name if verdict.mistake else None


def sizes(size):
    """What stops an answer with torch's own words on sizes."""
    return lambda: torch.zeros(2) + torch.zeros(size)


@pytest.mark.parametrize(("mistake", "name"), [
    ([sizes(4), 2.0, 30.0, 40.0, 50.0], "known"),  # the same numbers where there are any
    ([sizes(4), 3.0, 30.0, 40.0, 50.0], None),  # other numbers
    ([1.0, 2.0, 30.0, 40.0, 50.0], None),  # it stops nowhere
    ([sizes(4), 2.0, 3.0, 40.0, 50.0], None),  # it is wrong where the answer is right
])  # fmt: skip
def test_an_answer_that_stops_is_known_by_its_numbers_where_it_gives_any(mistake, name):
    assert named([sizes(3), 2.0, 30.0, 40.0, 50.0], known=mistake) == name


def test_where_every_number_is_right_an_error_says_nothing():
    stops, also = ([sizes(size), 20.0, 30.0, 40.0, 50.0] for size in (3, 4))
    assert named(stops, known=also) is None


def test_the_matrix_the_wrong_way_round_is_named_though_the_keys_meet_it_first():
    verdict = check.multiplicative_scores.verdict(
        lambda query, keys, w: (keys @ w @ query.unsqueeze(-1)).squeeze(-1)
    )
    assert verdict.mistake.name == "matrix_transposed"


def test_what_agrees_everywhere_is_named():
    assert named([1.0, 2.0, 30.0, 40.0, 50.0], shrunk=[1.0, 2.0, 30.0, 40.0, 50.0]) == "shrunk"


def test_a_wrong_entry_of_a_list_is_explained_by_no_mistake_that_has_the_list_otherwise():
    cases = tuple(Case(f"place {n}", {"place": n}) for n in range(3))

    def call(answer, inputs):
        return {"entries": [answer(inputs["place"]), 7], "beside": True}

    probe = Probe("two_results", dict, call, cases, gradient=False)
    mistake = Mistake("elsewhere", "says", "hint", by_place([10.0, 20.0, 3.0]))
    exercise = Exercise(probe, by_place(RIGHT), (mistake,))
    verdict = judge(exercise, cases, observe_all(probe, cases, by_place([1.0, 2.0, 30.0])))
    assert verdict.first_failure.finding.where == "entries[0]"
    assert verdict.mistake is None


def test_what_explains_one_of_four_failing_cases_is_not_named():
    assert named([1.0, 2.0, 3.0, 4.0, 50.0], shrunk=[1.0, 7.0, 7.0, 7.0, 50.0]) is None


def test_what_explains_two_of_five_failing_cases_is_named():
    assert named([1.0, 2.0, 3.0, 4.0, 5.0], shrunk=[1.0, 2.0, 7.0, 7.0, 7.0]) == "shrunk"


def test_what_explains_only_one_of_two_failing_cases_is_not_named():
    assert named([1.0, 2.0, 30.0, 40.0, 50.0], shrunk=[1.0, 7.0, 30.0, 40.0, 50.0]) is None


def test_what_is_wrong_where_the_answer_is_right_is_not_named():
    assert named([1.0, 2.0, 30.0, 40.0, 50.0], shrunk=[1.0, 2.0, 3.0, 40.0, 50.0]) is None


def test_of_two_that_fit_the_one_that_explains_more_is_named():
    answer = [1.0, 2.0, 3.0, 40.0, 50.0]
    less, more = [1.0, 2.0, 7.0, 40.0, 50.0], [1.0, 2.0, 3.0, 40.0, 50.0]
    assert named(answer, less=less, more=more) == "more"


def test_what_explains_the_first_failing_case_goes_before_what_explains_more_of_the_others():
    answer = [1.0, 2.0, 3.0, 4.0, 50.0]
    late, early = [7.0, 2.0, 3.0, 4.0, 50.0], [1.0, 2.0, 7.0, 7.0, 50.0]
    assert named(answer, late=late, early=early) == "early"


def test_a_number_that_is_0_is_explained_by_too_many_mistakes_to_count():
    assert named([0.0, 0.0, 3.0, 4.0, 50.0], lost=[0.0, 0.0, 7.0, 7.0, 50.0]) is None
    assert named([0.0, 0.0, 0.0, 0.0, 50.0], lost=[0.0, 0.0, 0.0, 0.0, 50.0]) == "lost"


def test_right_results_without_a_gradient_tell_of_no_mistake_in_others():
    cases = tuple(Case(f"case {n}", {"n": n}) for n in range(4))
    probe = Probe(
        "rows",
        lambda n: {"x": torch.arange(2.0) * (n > 1) + n, "n": n},
        lambda f, i: {"row": f(i["x"], i["n"])},
        cases,
    )
    cut = Mistake("cut", "says", "hint", lambda x, n: x.detach() if n > 1 else x - 1)
    exercise = Exercise(probe, lambda x, n: x * 1.0, (cut,))
    answer = lambda x, n: x.detach() if n > 1 else x + 5  # noqa: E731
    verdict = judge(exercise, cases, observe_all(probe, cases, answer))
    assert verdict.mistake is None or verdict.mistake.name != "cut"


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_that_fit_as_well_the_one_that_is_nearer_to_what_is_shown_is_named(order):
    sizes = (4, 1, 1, 3)
    cases = tuple(Case(f"case {n}", {"n": n}) for n in range(len(sizes)))
    probe = Probe(
        "rows",
        lambda n: {"x": torch.arange(10.0 * n + 1, 10.0 * n + 1 + sizes[n])},
        lambda f, i: {"row": f(i["x"])},
        cases,
        gradient=False,
    )
    far, near = (
        Mistake(name, "says", "hint", f)
        for name, f in (("far", lambda x: x.flip(0) + 0.5), ("near", lambda x: x + 0.5))
    )
    exercise = Exercise(probe, lambda x: x, (far, near)[::order])

    def last_off(x):
        return torch.cat([x[:-1] + 0.5, x[-1:] + (0.5 if len(x) == 1 else 9.0)])

    verdict = judge(exercise, cases, observe_all(probe, cases, last_off))
    assert verdict.mistake.name == "near"


def test_where_numbers_differ_a_later_case_can_tell():
    assert named([1.0, 2.0, 3.0, 40.0, 50.0], late=[7.0, 2.0, 3.0, 40.0, 50.0]) == "late"


def test_an_exception_that_is_shown_must_be_explained():
    late = [7.0, 2.0, 3.0, 40.0, 50.0]
    assert named(["it broke", 2.0, 3.0, 40.0, 50.0], late=late) is None
    same = ["it broke", 2.0, 3.0, 40.0, 50.0]
    assert named(["it broke", 2.0, 3.0, 40.0, 50.0], late=late, same=same) == "same"


@pytest.mark.parametrize("came_back", [True, False], ids=["a stub", "nothing"])
def test_where_nothing_is_written_no_mistake_is_tried(came_back):
    tried = []

    def stub(_place):
        raise NotImplementedError("five_numbers is not written yet")

    cases = tuple(Case(f"place {n}", {"place": n}) for n in range(len(RIGHT)))
    probe = Probe("five_numbers", dict, lambda f, i: {"number": f(i["place"])}, cases)
    mistakes = tuple(Mistake(name, "says", "hint", tried.append) for name in ("one", "two"))
    seen = observe_all(probe, cases, stub) if came_back else [None] * len(cases)
    verdict = judge(Exercise(probe, by_place(RIGHT), mistakes), cases, seen)
    assert (verdict.is_stub, verdict.mistake, verdict.score) == (came_back, None, 0)
    assert tried == []


def test_two_mistakes_at_once_are_named_one_after_the_other():
    def name_of(scale):
        def under_an_inverted_mask(q, k, v, mask=None):
            scores = q @ k.mT * scale(q)
            if mask is None:
                mask = torch.zeros_like(scores, dtype=torch.bool)
            weights = scores.masked_fill(mask, -torch.inf).softmax(-1).nan_to_num()
            return weights @ v, weights

        return check.scaled_dot_product_attention.verdict(under_an_inverted_mask).mistake.name

    assert name_of(lambda q: 1.0) == "no_scaling"
    assert name_of(lambda q: q.shape[-1] ** -0.5) == "mask_inverted"


class OfRoot(nn.Module):
    """Epsilon outside the root: as in the bank, computed in other steps."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return self.weight * centred / (self.spread(centred) + self.eps) + self.bias

    def spread(self, centred):
        return (centred**2).mean(-1, keepdim=True).sqrt()


class OfStandardDeviation(OfRoot):
    """In the first failing case this one cannot be told from a division by the variance."""

    def spread(self, centred):
        return centred.std(-1, keepdim=True, correction=0)


@pytest.mark.parametrize("form", [OfRoot, OfStandardDeviation])
def test_epsilon_outside_the_root_is_named_however_it_is_computed(form):
    assert check.LayerNorm.verdict(form).mistake.name == "epsilon_outside_the_root"


def test_errors_that_a_student_raises_are_alike_whatever_their_words():
    def seen(kind, message, line=""):
        return Observation(problem=Problem(ProblemKind.EXCEPTION, f"{kind}: {message}", line))

    by_hand = seen("ValueError", "7 > 4", "raise ValueError(f'{T} > {n}')")
    assert same_results(by_hand, seen("ValueError", "too long"), 1e-5)
    assert not same_results(by_hand, seen("RuntimeError", "too long"), 1e-5)
    assert not same_results(seen("ValueError", "7 > 4"), seen("ValueError", "too long"), 1e-5)
