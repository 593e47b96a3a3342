"""What is said beside a cause holds: chance, memory, effects, last digits, names of functions."""

import itertools
import random
import re
import time

import numpy as np
import pytest
import torch

from utils.checks import check
from utils.checks.authoring.determinism import settled
from utils.checks.compare.closeness import nearly
from utils.checks.explain.seen.errors_explained import usual_cause
from utils.checks.observation import AnswerError, Problem, ProblemKind
from utils.checks.registry import exercises

RANDOM = "something in your code is random"
KEPT = "something is kept from one call to the next"
KEEPER: list[int] = []


def told(answer, exercise="attend", **options):
    """Return all that is said of an answer."""
    verdict = getattr(check, exercise).verdict(answer, **options)
    named = [text for m in (verdict.mistake, verdict.second) if m for text in (m.message, m.hint)]
    return " ".join([*named, *verdict.symptoms])


def with_noise(draw):
    """Build an `attend` whose weights are off by what is drawn for each call."""

    def attend(scores, values, mask=None):
        weights = scores.exp() + draw()
        return torch.einsum("bs,bsd->bd", weights, values), weights

    return attend


@pytest.mark.parametrize(
    "draw",
    [lambda: float(torch.rand(1)), np.random.random, random.random],
)
def test_what_differs_with_the_random_numbers_alone_is_called_random(draw):
    assert RANDOM in told(with_noise(draw))


def test_what_is_kept_between_calls_is_not_called_random():
    def attend(scores, values, mask=None):
        KEEPER.append(1)
        weights = scores.exp() + len(KEEPER)
        return torch.einsum("bs,bsd->bd", weights, values), weights

    said = told(attend)
    assert RANDOM not in said
    assert KEPT in said


@pytest.mark.parametrize(
    "draw", [itertools.count(1.0).__next__, torch.Generator().seed, time.perf_counter_ns]
)
def test_what_no_experiment_tells_is_called_neither_random_nor_kept(draw):
    said = told(with_noise(lambda: torch.tensor(float(draw()) % 1e4)))
    assert f"{RANDOM}." not in said
    assert "different results." in said


def test_a_call_that_draws_and_keeps_is_not_refused_as_random():
    kept = itertools.count()
    with pytest.raises(AnswerError) as raised:
        settled(lambda: torch.rand(3) * 0 + next(kept))
    assert raised.value.kind == ProblemKind.KEPT
    with pytest.raises(AnswerError) as raised:
        settled(lambda: torch.rand(3))
    assert raised.value.kind == ProblemKind.CHANCE


@pytest.mark.parametrize("points", [None, 1.0])
def test_a_greedy_decoder_that_keeps_its_tokens_is_not_called_random(points):
    tokens = []

    def greedy_decode(step, state, bos, eos, max_len):
        torch.rand(1)
        token = bos
        for _ in range(max_len):
            logits, state = step(token, state)
            token = int(logits.argmax())
            if token == eos:
                break
            tokens.append(token)
        return list(tokens)

    said = told(greedy_decode, "greedy_decode", points=points)
    assert "random is at work" not in said
    assert "kept" in said or "remembers" in said


def test_steps_after_the_end_token_are_allowed():
    def greedy_decode(step, state, bos, eos, max_len):
        tokens, token = [], bos
        for _ in range(max_len):
            logits, state = step(token, state)
            tokens.append(token := int(logits.argmax()))
        return tokens[: tokens.index(eos)] if eos in tokens else tokens

    assert check.greedy_decode.verdict(greedy_decode).passed


def test_an_input_that_only_a_norm_hides_from_a_constant_has_an_effect():
    def attend(scores, values, mask=None):
        centred = values - values.mean(-1, keepdim=True)
        weights = scores.exp()
        return torch.einsum("bs,bsd->bd", weights, centred), weights

    assert "has no effect" not in told(attend)


@pytest.mark.parametrize(
    ("wanted", "got", "near"),
    [
        ([2000.0, 1.0, 0.0], [2001.0, 1.0, 0.0], False),
        ([2000.0, 1.0, 0.0], [2000.0, 1.0, 1.0], False),
        ([-3e5, 7.0], [-3e5 + 1, 7.0], False),
        ([1.0, 2.0, 0.0], [1.0005, 2.0, 0.0], True),
        ([1e-6, 3e-6], [1.0005e-6, 3e-6], True),
        ([1e-6, 3e-6], [2e-6, 3e-6], False),
    ],
)
def test_only_what_differs_in_its_last_digits_is_said_to(wanted, got, near):
    assert nearly(*(np.array(x, dtype=np.float32) for x in (wanted, got))) == near


def test_what_is_nearly_right_at_one_size_alone_is_not_called_right_but_for_its_digits():
    def sinusoidal_encoding(max_len, d_model):
        angles = torch.arange(max_len)[:, None] / 1e4 ** (torch.arange(0, d_model, 2) / d_model)
        table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
        return table + (1e-4 if max_len < 5 else 1.0)

    assert "last digits" not in told(sinusoidal_encoding, "sinusoidal_encoding")


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "float16", "float64"])
@pytest.mark.parametrize("points", [None, 1.0])
def test_a_mask_of_numbers_of_any_type_is_told_to_hold_true_and_false(kind, points):
    def padding_mask(lengths, size=None):
        size = int(lengths.max()) if size is None else size
        return (torch.arange(size) < lengths[:, None])[:, None].to(getattr(torch, kind))

    def causal_mask(size):
        return torch.ones(1, size, size).tril().to(getattr(torch, kind))

    for answer in (padding_mask, causal_mask):
        said = told(answer, answer.__name__, points=points)
        assert "True and False" in said
        assert "A comparison gives a boolean tensor" in said
        assert "use the input's" not in said


def test_an_additive_mask_is_not_said_to_have_the_right_entries():
    def causal_mask(size):
        return torch.full((1, size, size), -torch.inf).triu(1)

    assert "entries are right" not in told(causal_mask, "causal_mask")


@pytest.mark.parametrize(
    "use", [lambda pair: pair.clone(), lambda pair: pair + torch.ones(1), lambda pair: pair @ pair]
)
def test_a_state_that_is_a_pair_is_not_said_to_come_from_a_function(use):
    try:
        use((torch.ones(1), torch.ones(1)))
    except Exception as error:
        problem = Problem(ProblemKind.EXCEPTION, f"{type(error).__name__}: {error}")
    assert "hand it on as it is" in usual_cause(problem)


@pytest.mark.parametrize("name", ["max", "min", "sort", "topk", "median", "kthvalue"])
def test_the_function_that_gave_values_and_indices_is_named(name):
    x = torch.rand(3, 3)
    pair = getattr(x, name)(1) if name in ("topk", "kthvalue") else getattr(x, name)(dim=1)
    try:
        torch.exp(pair)
    except TypeError as error:
        told = usual_cause(Problem(ProblemKind.EXCEPTION, f"TypeError: {error}"))
    assert told.startswith(f"`{name}` gives two tensors")


# How a tensor gets its form, and how often a step is taken, can be written in a dozen ways.
WAYS = re.compile(r"\b(?:view|reshape|range|loops?|tril|triu|enumerate|cat)\b|\[b, :n\]")
PLAIN = re.compile(r"is a view\b|its range\b|range (?:from|\()|(?:to a|the) range")
# Where one of them is advised, or where the error that torch raised names it.
ADVISED = re.compile(
    r"as `for _ in range|range takes a step|^range\(start|cat and stack take|cat joins|"
    r"`reshape` copies where|A loop that calls make_layer|A loop over nothing|a loop over layers|"
    r"`view` cannot (?:join|regroup)|left to reshape"
)


@pytest.mark.parametrize("exercise", sorted(exercises()))
def test_no_cause_speaks_of_a_step_that_an_answer_need_not_have(exercise):
    for mistake in exercises()[exercise].mistakes:
        for sentence in re.split(r"(?<=[.?:;]) ", f"{mistake.message} {mistake.hint}"):
            bare = PLAIN.sub("", sentence)
            assert not WAYS.search(bare) or ADVISED.search(sentence), (mistake.name, sentence)
