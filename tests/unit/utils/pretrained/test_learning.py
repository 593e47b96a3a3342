"""Training on pairs, and the probe that tells what each state holds, on made-up numbers."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.download import blob_id, is_blob
from utils.pretrained import english, faults, tagging, training
from utils.published import ENGLISH
from utils.reference.encoder.bert import as_bert
from utils.reference.modules import TransformerEncoder

TAGS = ("NOUN", "VERB", "ADJ")


def line(number, word, tag):
    return f"{number}\t{word}\t{word}\t{tag}\t_\t_\t0\troot\t_\t_\n"


def treebank(path, sentences):
    text = "".join(
        "".join(line(n, f"{tag.lower()}{n}", tag) for n, tag in enumerate(tags, 1)) + "\n"
        for tags in sentences
    )
    path.write_text(text, encoding="utf-8")
    return blob_id(path)


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Ninety sentences of four words, whose tags the words tell, in the place of English-EWT."""
    random = torch.Generator().manual_seed(0)
    drawn = torch.randint(3, (90, 4), generator=random).tolist()
    sentences = [[TAGS[n] for n in row] for row in drawn]
    blobs = {
        split: treebank(tmp_path / f"en_ewt-ud-{split}.conllu", part)
        for split, part in {"train": sentences[:60], "test": sentences[60:]}.items()
    }
    files = {f"en_ewt-ud-{split}.conllu": is_blob(blob) for split, blob in blobs.items()}
    monkeypatch.setattr(english, "ENGLISH", replace(ENGLISH, files=files))
    monkeypatch.setattr(english, "english", english.english.__wrapped__)  # nothing is kept
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))


@pytest.mark.usefixtures("texts")
def test_the_probe_finds_the_state_that_holds_the_tags():
    noise = torch.Generator().manual_seed(1)

    def states(words):  # of two states, the second holds the tags
        tags = [[word.rstrip("1234").upper() == tag for tag in TAGS] for word in words]
        empty = torch.randn(len(words), 3, generator=noise)
        return torch.stack([empty, torch.tensor(tags).float()], 1)

    (first, second), *_ = english.probe_layers(states, (20,), (0, 1))["20"]
    assert second == 1.0
    assert first < 0.6


def tokens_of(words):
    """Ids of a sentence, with a beginning and an end; each word is two pieces."""
    ids, firsts = [1], []
    for word in words:
        firsts.append(len(ids))
        ids += [2 + 3 * TAGS.index(word.rstrip("1234").upper()) + n for n in (0, 1)]
    return [*ids, 11], firsts


@pytest.mark.usefixtures("texts")
def test_an_encoder_learns_to_tag_from_few_sentences_and_is_left_as_it_was(monkeypatch):
    monkeypatch.setitem(tagging.ROUNDS, 40, 20)
    monkeypatch.setattr(tagging, "RATE", 0.01)
    encoder = TransformerEncoder(12, 24, 2, 1, 32, dropout=0.0)
    before = [p.detach().clone() for p in encoder.parameters()]
    assert tagging.published_layers(encoder, tokens_of, 24, 40, seed=0) > 0.95
    assert all(map(torch.equal, before, encoder.parameters()))


def test_a_word_beyond_the_longest_sentence_is_left_out(monkeypatch):
    monkeypatch.setattr(tagging, "LONGEST", 4)
    cut = tagging.pieces([("noun1", "NOUN"), ("verb2", "VERB"), ("adj3", "ADJ")], tokens_of, TAGS)
    assert cut == ([1, 2, 3, 5], [1, 3], [0, 1])


def test_weights_in_float16_are_refused_with_the_reason():
    with pytest.raises(training.PrecisionError, match="0 / 0"):
        training.short_numbers(nn.Linear(2, 2).half())


def test_training_on_pairs_leaves_the_encoder_alone_and_lowers_the_loss():
    torch.manual_seed(0)
    encoder, target = nn.Linear(4, 4), torch.randn(4, 4)
    before = encoder.weight.detach().clone()

    def loss_of(student, pairs):
        x = torch.tensor([[float(len(a)), float(len(b)), 1.0, 0.0] for a, b in pairs])
        return F.mse_loss(student(x), x @ target)

    pairs = [("a" * (n % 5), "b" * (n % 3)) for n in range(40)]
    found = training.before_and_after(encoder, loss_of, pairs[:8], pairs[8:], steps=30)
    assert torch.equal(encoder.weight, before)
    assert found["after"] < found["before"]


def test_each_fault_changes_a_copy_alone_and_something_but_the_keys_bias_shows():
    torch.manual_seed(0)
    encoder = TransformerEncoder(30, 12, 3, 2, 20).eval()
    as_bert(encoder, 9)
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, std=0.5)
    tensors = {faults.SEGMENTS: torch.randn(2, 12)}
    ids = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])
    real = ids != 0
    before = [p.detach().clone() for p in encoder.parameters()]

    def seen(change, attended, averaged):
        broken = faults.broken(encoder, tensors, change)
        with torch.no_grad():
            states = broken.encode(broken.embed(ids), attended(real).unsqueeze(1))
        kept = averaged(real).unsqueeze(-1)
        return (states * kept).sum(1) / kept.sum(1)

    right = seen(lambda *_: None, lambda x: x, lambda x: x)
    for name, fault in faults.FAULTS.items():
        moved = (seen(*fault) - right).abs().max().item()
        assert moved < 1e-5 if name == "bias of the keys missing" else moved > 1e-6, name
    assert all(map(torch.equal, before, encoder.parameters()))
