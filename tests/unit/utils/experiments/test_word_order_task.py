"""The task that needs word order, and the tagger that positions are tried on."""

import pytest
import torch
from torch import nn

from utils.experiments.buggy import encoding_without_minus
from utils.experiments.word_order_task import (
    BACK,
    LENGTH,
    MEASURE_EVERY,
    N_TAGS,
    NO_TAG,
    VOCABULARY,
    OrderTagger,
    accuracy,
    hits,
    look_back_sentences,
    redraw,
    train,
)


class CountedPositions(nn.Module):
    """Adds a one-hot row for each position: the plainest positions there are."""

    def forward(self, x):
        return x + 3 * torch.eye(x.shape[-1])[: x.shape[1]]


class RightTagger(OrderTagger):
    """Knows the answer up to position 9."""

    def forward(self, ids):
        scores = nn.functional.one_hot(ids.roll(BACK, 1) % N_TAGS, N_TAGS).float()
        scores[:, 10:] = -scores[:, 10:]
        return scores


def new_tagger(positions=None, seed=0, rotate=None):
    torch.manual_seed(seed)
    words = nn.Embedding(VOCABULARY, 24)
    return OrderTagger(words, 24, positions, rotate)


def test_a_tag_is_the_group_of_the_word_two_places_before():
    batch = look_back_sentences(3, 7, seed=1)
    for words, tags in zip(batch.words.tolist(), batch.tags.tolist(), strict=True):
        assert tags == [NO_TAG, NO_TAG] + [word % N_TAGS for word in words[:-2]]


def test_words_are_neither_padding_nor_unknown_and_all_occur():
    words = look_back_sentences(40, 20, seed=2).words
    assert sorted(set(words.flatten().tolist())) == list(range(2, VOCABULARY))


def test_the_same_seed_gives_the_same_sentences_and_a_generator_goes_on():
    assert torch.equal(look_back_sentences(2, 9, 5).words, look_back_sentences(2, 9, 5).words)
    generator = torch.Generator().manual_seed(5)
    first, second = (look_back_sentences(2, 9, generator).words for _ in range(2))
    assert not torch.equal(first, second)


def test_sentences_without_any_tag_are_refused():
    with pytest.raises(ValueError, match="more than 2 words, not 2"):
        look_back_sentences(1, 2, seed=0)


def test_without_positions_permuted_words_give_permuted_scores():
    tagger, order = new_tagger(), torch.tensor([3, 0, 4, 1, 2])
    ids = look_back_sentences(2, 5, seed=3).words
    torch.testing.assert_close(tagger(ids[:, order]), tagger(ids)[:, order])
    weights = tagger.attention(ids)
    torch.testing.assert_close(tagger.attention(ids[:, order]), weights[:, order][:, :, order])
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5))


def test_attention_equals_torchs_own():
    tagger = new_tagger(CountedPositions())
    ids = look_back_sentences(2, 6, seed=4).words
    x = tagger.positions(tagger.words(ids))
    q, k, v = tagger.queries_keys_values(x).chunk(3, -1)
    context = nn.functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(tagger(ids), tagger.guess(tagger.norm(x + tagger.mix(context))))


def test_queries_and_keys_are_rotated_and_values_are_not():
    seen = []
    tagger = new_tagger(rotate=lambda x: seen.append(x.shape) or -x)
    ids = look_back_sentences(2, 5, seed=3).words
    plain = new_tagger()
    torch.testing.assert_close(tagger(ids), plain(ids))  # both turned round: the product stays
    assert seen == [(2, 1, 5, 24)] * 2


def test_training_with_positions_solves_the_task_and_without_does_not():
    with_order, without = new_tagger(CountedPositions()), new_tagger()
    redraw(with_order.words, 0.2)
    curve = train(with_order, seed=1, steps=7 * MEASURE_EVERY)
    train(without, seed=1, steps=2 * MEASURE_EVERY)
    assert len(curve) == 7
    assert accuracy(with_order, LENGTH) > 0.9
    assert accuracy(without, LENGTH) < 0.5


def test_positions_left_out_are_not_learned():
    tagger = new_tagger(CountedPositions())
    redraw(tagger.words, 0.2)
    train(tagger, seed=1, steps=140, left_out=[BACK + 3])
    found = hits(tagger, LENGTH)
    assert found[3] < 0.6
    assert found.sum() - found[3] > 0.9 * (LENGTH - BACK - 1)


def test_the_curve_is_measured_as_often_and_at_the_rate_asked_for():
    still, moving = new_tagger(CountedPositions()), new_tagger(CountedPositions())
    assert len(train(still, seed=1, steps=6, every=2, rate=0.0)) == 3
    train(moving, seed=1, steps=6)
    assert torch.equal(still.guess.weight, new_tagger(CountedPositions()).guess.weight)
    assert not torch.equal(still.guess.weight, moving.guess.weight)


def test_hits_are_counted_place_by_place():
    tagger = RightTagger(nn.Embedding(VOCABULARY, 24), 24)
    assert hits(tagger, 13).tolist() == [1.0] * 8 + [0.0] * 3
    assert accuracy(tagger, 10) == 1.0


def test_a_redrawn_table_has_the_spread_asked_for_and_a_clear_padding_row():
    words = nn.Embedding(500, 40)
    redraw(words, 0.25)
    assert words.weight.std().item() == pytest.approx(0.25, rel=0.05)
    assert not words.weight[0].any()
    assert words.weight.requires_grad


def test_the_encoding_without_minus_has_growing_frequencies():
    table = encoding_without_minus(3, 4)
    wanted = torch.tensor([1.0, 1.0, 100.0, 100.0])  # 10000^(0/4), 10000^(2/4)
    torch.testing.assert_close(table[1, ::2], wanted[::2].sin())
    torch.testing.assert_close(table[2, 1::2], (2 * wanted[::2]).cos())
