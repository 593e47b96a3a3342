"""The reversal task, its scores, and the encoder-decoder that lessons train on it."""

import pytest
import torch
from torch import Tensor

from utils.experiments.profiling import bytes_kept
from utils.experiments.reversal_task import (
    EOS,
    FIRST_SYMBOL,
    PAD,
    growing_batches,
    reversal_batch,
    sequence_accuracy,
    token_accuracy,
    vocabulary_size,
)
from utils.experiments.seq2seq import AdditiveAttention, Seq2Seq, train


def test_targets_are_sources_reversed_then_end_then_padding():
    batch = reversal_batch([3, 5, 1], seed=0)
    for source, target, length in zip(batch.source, batch.target, (3, 5, 1), strict=True):
        symbols = source.tolist()[:length]
        assert min(symbols) >= FIRST_SYMBOL
        assert source.tolist() == symbols + [PAD] * (5 - length)
        assert target.tolist() == [*reversed(symbols), EOS] + [PAD] * (5 - length)


def test_same_seed_gives_same_batch_and_another_seed_does_not():
    first, again, other = (reversal_batch([6] * 4, seed=seed).source for seed in (1, 1, 2))
    assert first.equal(again)
    assert not first.equal(other)


def test_every_symbol_is_drawn_and_none_beyond_the_vocabulary():
    source = reversal_batch([50] * 20, seed=3, n_symbols=5).source
    assert set(source.flatten().tolist()) == set(range(FIRST_SYMBOL, vocabulary_size(5)))


def test_a_length_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        reversal_batch([2, 0], seed=0)


def test_growing_batches_begin_short_and_end_at_full_length():
    lengths = [batch.source.shape[1] for batch in growing_batches(20, 40, 3, seed=0)]
    assert lengths == sorted(lengths)
    assert (len(lengths), lengths[0], lengths[32:]) == (40, 2, [20] * 8)


def test_accuracies_count_symbols_only():
    target = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD]])
    predicted = torch.tensor([[5, 6, 9, 9, 9], [8, 9, 9, 9, 9]])
    assert token_accuracy(predicted, target) == pytest.approx(3 / 4)
    assert sequence_accuracy(predicted, target) == pytest.approx(1 / 2)


def uniform(query: Tensor, keys: Tensor, *_: Tensor) -> Tensor:
    return keys.new_zeros(keys.shape[:2]) * query.sum()


def mean(scores: Tensor, values: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    weights = (scores + 1) * mask / mask.sum(1, keepdim=True)
    return (weights.unsqueeze(-1) * values).sum(1), weights


@pytest.mark.parametrize("attention", [None, AdditiveAttention(uniform, mean, 6)])
def test_a_model_writes_and_learns_with_and_without_attention(attention):
    torch.manual_seed(0)
    model = Seq2Seq(vocabulary_size(4), attention, d_model=6, d_embedding=5)
    batch = reversal_batch([3] * 8, seed=0, n_symbols=4)
    losses = train(model, [batch] * 30, steps=30)
    assert losses[-1] < losses[0]
    answer = model.answer(batch.source, 4)
    assert answer.tokens.shape == (8, 4)
    assert (None if attention is None else (8, 4, 3)) == (
        answer.weights if attention is None else tuple(answer.weights.shape)
    )


def test_writing_alone_agrees_with_teacher_forcing_on_what_was_written():
    torch.manual_seed(0)
    model = Seq2Seq(vocabulary_size(9), AdditiveAttention(uniform, mean, 6), d_model=6)
    source = reversal_batch([4] * 5, seed=0, n_symbols=9).source
    written = model.answer(source, 5).tokens
    assert model(source, written).argmax(-1).equal(written)


def test_bytes_kept_counts_shared_memory_once():
    x = torch.ones(7, 11, requires_grad=True)
    assert bytes_kept(lambda: x.exp().sum()) == 7 * 11 * 4
    assert bytes_kept(lambda t: t * t.view(7, 11), x) == 7 * 11 * 4
