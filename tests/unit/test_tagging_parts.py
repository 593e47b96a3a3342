"""The pieces that measurements train with, in place of a student's."""

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from bench.tagging_parts import (
    Tagger,
    bucket_batches,
    build_vocab,
    collate,
    tag_sentences,
    train_step,
)
from utils.blocks import TransformerEncoder


def tagger():
    torch.manual_seed(0)
    return Tagger(TransformerEncoder(11, 8, 2, 2, 12, dropout=0.0), 5, [4, 6]).eval()


def test_a_vocabulary_is_ordered_by_count_then_alphabet():
    words = [["b", "a"], ["c", "b"], ["a", "b", "d"]]
    assert list(build_vocab(words)) == ["<pad>", "<unk>", "b", "a", "c", "d"]
    assert build_vocab(words, 2) == {"<pad>": 0, "<unk>": 1, "b": 2, "a": 3}


def test_collated_sentences_are_padded_and_padding_has_no_tag():
    ids, lengths, tags = collate([([5, 6, 7], [1, 0, 2]), ([8], [3])])
    assert ids.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert lengths.tolist() == [3, 1]
    assert tags.tolist() == [[1, 0, 2], [3, -100, -100]]


def test_batches_hold_every_sentence_once_within_the_budget_and_waste_little():
    lengths = [(n * 7919) % 40 + 1 for n in range(400)]
    groups = bucket_batches(lengths, 256, torch.Generator().manual_seed(1))
    assert sorted(index for group in groups for index in group) == list(range(400))
    padded = [max(lengths[i] for i in group) * len(group) for group in groups]
    assert max(padded) <= 256
    assert 1 - sum(lengths) / sum(padded) < 0.15
    assert bucket_batches([300, 2], 256) in ([[0], [1]], [[1], [0]])
    assert groups != bucket_batches(lengths, 256, torch.Generator().manual_seed(2))


def test_padding_changes_nothing_and_every_feature_counts():
    model = tagger()
    ids, features = torch.tensor([[2, 3, 4]]), torch.tensor([[[1, 5], [2, 3], [3, 2]]])
    padded = model(torch.tensor([[2, 3, 4, 0]]), nn.functional.pad(features, (0, 0, 0, 1)))
    logits = model(ids, features)
    torch.testing.assert_close(padded[:, :3], logits)
    for column in range(2):
        other = features.clone()
        other[0, 1, column] = 1
        assert not torch.allclose(model(ids, other), logits)


def test_steps_lower_the_loss_and_move_the_scheduler():
    model = Tagger(TransformerEncoder(11, 8, 2, 1, 12, dropout=0.0), 5)
    optimizer = torch.optim.Adam(model.parameters(), 1.0)
    scheduler = LambdaLR(optimizer, lambda _: 0.01)
    batch = collate([([5, 6, 7], [1, 0, 2]), ([8], [3])])
    losses = [
        train_step(model, batch, optimizer, scheduler, torch.device("cpu")) for _ in range(60)
    ]
    assert losses[-1] < losses[0] / 2
    assert scheduler.last_epoch == 60


def test_tags_are_named_and_do_not_depend_on_the_batch():
    torch.manual_seed(0)
    model = Tagger(TransformerEncoder(11, 8, 2, 1, 12, dropout=0.3), 5).train()
    vocab = {word: index for index, word in enumerate(["<pad>", "<unk>", *"abcdefghi"])}
    sentences = [list("abc"), [], list("ihgfedcb"), ["new"]]
    names = ["N", "V", "A", "P", "X"]
    together = tag_sentences(model, sentences, vocab, names)
    assert model.training
    assert [len(tags) for tags in together] == [3, 0, 8, 1]
    assert together == [tag_sentences(model, [words], vocab, names)[0] for words in sentences]
    with torch.no_grad():
        best = model.eval()(torch.tensor([[2, 3, 4]])).argmax(-1)[0]
    assert together[0] == [names[tag] for tag in best]
    assert tag_sentences(model, [], vocab, names) == []


@pytest.mark.parametrize("size", [1, 2, 3])
def test_batch_size_changes_no_tag(size):
    model = tagger()
    model.features = nn.ModuleList()
    vocab = {word: index for index, word in enumerate(["<pad>", "<unk>", *"abcdefghi"])}
    sentences = [list("abc"), list("ihgfedcb"), ["d"]]
    wanted = tag_sentences(model, sentences, vocab, "NVAPX")
    assert tag_sentences(model, sentences, vocab, "NVAPX", size) == wanted
