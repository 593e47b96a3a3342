"""Dropout at another rate than the one that was given."""

import random

import pytest
import torch
from torch import nn

from utils.checks import check
from utils.checks.authoring.calling import AnswerError
from utils.checks.authoring.determinism import settled


def ones():
    return torch.ones(50)


@pytest.mark.parametrize("dropout", [nn.Dropout(0.0), nn.Dropout(1.0), nn.Dropout().eval()])
def test_what_does_not_depend_on_chance_is_called_and_given_back(dropout):
    assert torch.equal(settled(lambda: dropout(ones())), dropout(ones()))


def test_numbers_may_be_drawn_where_they_change_nothing():
    result = settled(lambda: (ones() * (torch.rand(50) >= 0.0), None))
    assert torch.equal(result[0], ones())


def test_a_result_that_is_nan_both_times_is_settled():
    settled(lambda: torch.rand(3) * torch.nan)


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: (x, x), lambda x: [(x, None)]])
def test_what_differs_from_call_to_call_is_refused(wrap):
    with pytest.raises(AnswerError, match="the same input and dropout=0 should give the same"):
        settled(lambda: wrap(nn.Dropout()(ones())))


class Positions(nn.Module):
    """LearnedPositionalEncoding with a rate, and a start, of its own."""

    rate = None
    start = staticmethod(torch.zeros)

    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__()
        self.weight = nn.Parameter(self.start(max_len, d_model))
        self.dropout = nn.Dropout(dropout if self.rate is None else self.rate)

    def forward(self, x):
        if x.shape[1] > len(self.weight):
            raise ValueError("too long")
        return self.dropout(x + self.weight[: x.shape[1]])


def named(**choices):
    verdict = check.LearnedPositionalEncoding.verdict(type("Own", (Positions,), choices))
    return verdict.mistake.name if verdict.mistake else verdict.passed


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_rate_of_ones_own_is_named_whatever_it_is(rate):
    # The usual default, 0.1, may also be told as one that acts where no rate is given.
    assert named(rate=rate) in {"dropout_rate_not_used", "dropout_by_default"}


STARTS = {
    "normal": (torch.randn, True),
    "xavier": (lambda *shape: nn.init.xavier_uniform_(torch.empty(*shape)), True),
    "embedding": (lambda *shape: nn.Embedding(*shape).weight.detach(), True),
    "empty": (torch.empty, "starts_without_numbers"),
    "empty_like": (lambda *shape: torch.empty_like(torch.ones(shape)), "starts_without_numbers"),
    "large": (lambda *shape: 1000 * torch.randn(*shape), "starts_too_large"),
}


@pytest.mark.parametrize("start", STARTS)
def test_a_learned_table_starts_small_and_with_numbers(start):
    draw, wanted = STARTS[start]
    assert named(start=staticmethod(draw)) == wanted
    assert not torch.are_deterministic_algorithms_enabled()


def test_tokens_that_are_drawn_are_not_settled_though_two_may_be_alike():
    torch.manual_seed(0)
    alike = [[1, 2], [1, 2], [2, 1], [1, 2], [1, 2]]

    def drawn():
        torch.rand(1)
        return alike.pop()

    with pytest.raises(AnswerError, match="they differ"):
        settled(drawn, None, again=4)


def test_words_that_pythons_own_dice_choose_are_refused_and_what_was_called_is_not_called_again():
    calls = []

    def draw():
        calls.append("first")
        return [random.choice("abcdefgh") for _ in range(20)]

    def anew():
        return [random.choice("abcdefgh") for _ in range(20)]

    with pytest.raises(AnswerError, match="should give the same"):
        settled(draw, None, anew=anew)
    assert calls == ["first"]


def test_tags_drawn_at_random_are_named():
    def drawn(model, sentences, vocab, tags, batch_size=32):
        return [[random.choice(tags) for _ in sentence] for sentence in sentences]

    assert check.tag_sentences.verdict(drawn).mistake.name == "random_results"


def test_a_layer_that_counts_its_calls_is_told_that_they_differ():
    class Counting(Positions):
        calls = 0

        def forward(self, x):
            self.calls += not self.training
            return super().forward(x) + (self.calls - 1) * (not self.training)

    verdict = check.LearnedPositionalEncoding.verdict(Counting)
    assert verdict.mistake.name in {"calls_differ", "remembers_an_earlier_call"}
