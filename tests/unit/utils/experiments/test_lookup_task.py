"""The two-look-ups task and the topic task: what they ask is what they answer."""

import pytest
import torch
from torch import nn

from utils.experiments import lookup_task, topic_task
from utils.experiments.buggy import FaultyAttention
from utils.reference.modules import MultiHeadAttention


class Always(nn.Module):
    """An attention that gives nothing but zeros."""

    def forward(self, query, key, value, mask=None):
        return torch.zeros_like(query), torch.zeros(len(query), 1, query.shape[1], key.shape[1])


class Oracle(nn.Module):
    """A model that reads the answers off the batch."""

    def __init__(self, places):
        super().__init__()
        self.places = places

    def forward(self, batch):
        wrong = (batch.answer + 1) % lookup_task.N_SYMBOLS
        said = torch.where(torch.tensor(self.places), batch.answer, wrong)
        return nn.functional.one_hot(said, lookup_task.N_SYMBOLS).float(), None


def test_answers_are_what_lies_in_the_drawers_asked_for():
    batch = lookup_task.lookup_batch(7, seed=3)
    for table, asked, answer in zip(batch.table, batch.asked, batch.answer, strict=True):
        for question, reply in zip(asked.tolist(), answer.tolist(), strict=True):
            assert reply == [table[drawer].item() for drawer in question]


def test_the_two_drawers_of_a_question_differ():
    asked = lookup_task.lookup_batch(200, seed=0).asked
    assert (asked[..., 0] != asked[..., 1]).all()
    assert asked.min() == 0
    assert asked.max() == lookup_task.N_DRAWERS - 1


def test_a_seed_decides_the_batch_and_a_generator_goes_on():
    generator = torch.Generator().manual_seed(5)
    first, second = (lookup_task.lookup_batch(4, generator).table for _ in range(2))
    assert torch.equal(first, lookup_task.lookup_batch(4, seed=5).table)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(
    ("places", "wanted"),
    [
        ([True, True], (1.0, 1.0, 1.0)),
        ([True, False], (1.0, 0.0, 0.0)),
        ([False, True], (0.0, 1.0, 0.0)),
    ],
)
def test_accuracy_counts_first_second_and_both(places, wanted):
    assert (
        lookup_task.lookup_accuracy(Oracle(places), lookup_task.lookup_batch(5, seed=1)) == wanted
    )


@pytest.mark.parametrize("hidden", [0, 9])
def test_the_model_gives_logits_for_two_symbols_of_each_question(hidden):
    model = lookup_task.LookupModel(Always(), d_model=10, hidden=hidden)
    logits, weights = model(lookup_task.lookup_batch(3, seed=0))
    assert logits.shape == (3, lookup_task.QUESTIONS, 2, lookup_task.N_SYMBOLS)
    assert weights.shape == (3, 1, lookup_task.QUESTIONS, lookup_task.N_DRAWERS)


def test_training_changes_the_model_and_the_same_seed_gives_the_same_model():
    models = []
    for _ in range(2):
        torch.manual_seed(0)
        models.append(lookup_task.LookupModel(nn.MultiheadAttention(8, 1, batch_first=True), 8))
    before = [p.detach().clone() for p in models[0].parameters()]
    for model in models:
        lookup_task.train_lookups(model, seed=1, steps=3)
    after = list(models[0].parameters())
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(after, models[1].parameters(), strict=True))


def test_a_tag_depends_on_the_topic_for_ambiguous_words_only():
    batch = topic_task.topic_batch(300, seed=2)
    topic = batch.ids[:, :1].expand_as(batch.ids)
    for ambiguous, per_word in ((False, 1), (True, topic_task.N_TOPICS)):
        chosen = (batch.ambiguous == ambiguous) & (batch.tags != topic_task.NO_TAG)
        chosen[:, 0] = False
        seen = {}
        for word, tag in zip(batch.ids[chosen].tolist(), batch.tags[chosen].tolist(), strict=True):
            seen.setdefault(word, set()).add(tag)
        assert {len(tags) for tags in seen.values()} == {per_word}
        pairs = {}
        for key in zip(batch.ids[chosen].tolist(), topic[chosen].tolist(),
                       batch.tags[chosen].tolist(), strict=True):  # fmt: skip
            pairs.setdefault(key[:2], set()).add(key[2])
        assert {len(tags) for tags in pairs.values()} == {1}


def test_padding_has_no_tag_and_is_never_ambiguous():
    batch = topic_task.topic_batch(50, seed=1)
    padding = batch.ids == topic_task.PAD
    assert torch.equal(padding, batch.tags == topic_task.NO_TAG)
    assert not batch.ambiguous[padding].any()
    assert ((~padding).sum(1) >= topic_task.SHORTEST).all()


@pytest.mark.parametrize("fault", ["heads", "axis", "mask"])
def test_padding_changes_what_a_faulty_attention_gives(fault):
    torch.manual_seed(0)
    tagger = topic_task.TopicTagger(FaultyAttention(MultiHeadAttention(32, 4), 4, fault))
    assert topic_task.change_by_padding(tagger, topic_task.topic_batch(6, seed=0)) > 0.01


def test_padding_changes_nothing_where_attention_gives_nothing():
    torch.manual_seed(0)
    tagger = topic_task.TopicTagger(Always())
    assert topic_task.change_by_padding(tagger, topic_task.topic_batch(6, seed=0)) < 1e-5
    everything, ambiguous = topic_task.tagging_accuracy(tagger, topic_task.topic_batch(6, seed=0))
    assert 0 <= ambiguous <= 1
    assert 0 <= everything <= 1


def test_training_the_tagger_lowers_its_loss():
    torch.manual_seed(0)
    tagger = topic_task.TopicTagger(FaultyAttention(MultiHeadAttention(32, 4), 4, "mask"))
    held_out = topic_task.topic_batch(100, seed=9)
    before = topic_task.tagging_accuracy(tagger, held_out)[0]
    topic_task.train_tagger(tagger, seed=0, steps=30)
    assert topic_task.tagging_accuracy(tagger, held_out)[0] > before + 0.2
