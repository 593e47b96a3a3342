"""Lesson 06's oracles against plain loops and torch, and what its probes can tell apart."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from grader.authoring.lesson import lessons
from grader.workers.protocol import Message, decode, encode
from tests.course.lesson_runs import ROOT
from tests.course.right_forms import training as forms
from utils.checks import check
from utils.checks.exercise import Case, hidden_case
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.training import probes
from utils.checks.lessons.training.answers.buckets import buckets_oracle
from utils.checks.lessons.training.answers.collating import collate_oracle
from utils.checks.lessons.training.answers.data import vocab_oracle
from utils.checks.lessons.training.answers.model import TaggerOracle
from utils.checks.lessons.training.answers.rate import rate_oracle
from utils.checks.lessons.training.answers.right_share import accuracy_oracle
from utils.checks.lessons.training.answers.scores import loss_oracle
from utils.checks.lessons.training.answers.steps import step_oracle
from utils.checks.lessons.training.answers.tagging import tagging_oracle
from utils.checks.lessons.training.bucket_facts import FEWEST_TURNS, _alike, _sorting, _turns
from utils.checks.lessons.training.probes.watched import Model, Optimizer, Scheduler, TaggingModel
from utils.checks.observe.observe import observe
from utils.checks.registry import exercises
from utils.reference import modules
from utils.reference.tagging import reference_collate, reference_token_loss

(LESSON,) = lessons(ROOT, ["06_training"])
IDS = list(probes.PROBES)
WORDS = st.lists(st.lists(st.sampled_from("abcABčž"), max_size=6), max_size=5)
LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=4)


def cases_of(name: str) -> list[Case]:
    hidden = next(e.hidden for e in LESSON.exercises if e.id == name)
    return [*exercises()[name].probe.cases, *map(hidden_case, hidden)]


def scored(lengths, n_tags):
    """Logits (B, T, C) in float64, and tags with -100 at padding."""
    draw = Draw("float64", lengths=lengths, n_tags=n_tags)
    pairs = [(draw.integers(9, n).tolist(), draw.integers(n_tags, n).tolist()) for n in lengths]
    tags = reference_collate(pairs)[2]
    return draw.normal(*tags.shape, n_tags), tags


def real_words(logits, tags):
    rows = zip(logits.flatten(0, 1).tolist(), tags.flatten().tolist(), strict=True)
    return [(row, tag) for row, tag in rows if tag != -100]


@given(WORDS, st.integers(1, 3))
def test_a_vocabulary_is_in_order_and_holds_what_is_frequent_enough(sentences, min_count):
    vocab = vocab_oracle(sentences, min_count)
    text = [word for sentence in sentences for word in sentence]
    words = sorted(vocab, key=vocab.get)
    assert words[:2] == ["<pad>", "<unk>"]
    assert sorted(vocab.values()) == list(range(len(vocab)))
    assert set(words[2:]) == {word for word in text if text.count(word) >= min_count}
    for one, other in itertools.pairwise(words[2:]):
        assert (text.count(one), other) > (text.count(other), one)


@given(LENGTHS)
def test_collate_and_its_stand_in_pad_alike(lengths):
    draw = Draw(lengths=lengths)
    batch = [(draw.integers(50, n).tolist(), draw.integers(9, n).tolist()) for n in lengths]
    for ours, theirs in zip(collate_oracle(batch), reference_collate(batch), strict=True):
        assert ours.dtype == torch.int64
        assert torch.equal(ours, theirs)


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 60))
def test_batches_hold_every_sentence_once_within_the_budget(lengths, max_tokens):
    generator = torch.Generator().manual_seed(3)
    batches = buckets_oracle(lengths, max_tokens, generator)
    assert sorted(n for batch in batches for n in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[n] for n in batch) <= max_tokens


@given(LENGTHS, st.integers(2, 5))
def test_the_loss_and_its_stand_in_equal_loops(lengths, n_tags):
    logits, tags = scored(lengths, n_tags)
    losses = [
        math.log(sum(math.exp(x) for x in row)) - row[tag] for row, tag in real_words(logits, tags)
    ]
    wanted = sum(losses) / len(losses) if losses else 0.0
    for loss in (loss_oracle, reference_token_loss):
        assert loss(logits, tags).item() == pytest.approx(wanted)


@given(LENGTHS, st.integers(2, 5))
def test_accuracy_counts_the_real_words_that_are_right(lengths, n_tags):
    logits, tags = scored(lengths, n_tags)
    hits = [max(row) == row[tag] for row, tag in real_words(logits, tags)]
    assert accuracy_oracle(logits, tags) == pytest.approx(sum(hits) / max(len(hits), 1))


@given(st.integers(1, 9999), st.integers(1, 2048), st.integers(1, 5000))
def test_the_rate_equals_the_formula(step, d_model, warmup):
    wanted = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    assert rate_oracle(step, d_model, warmup) == pytest.approx(wanted)


def stepped(optimizer_of, clip, leftover=0.0):
    """Loss, table and weight after two steps of the oracle, whatever the optimiser is made of."""
    draw = Draw(stepped=True)
    model = Model(draw.normal(9, 4), draw.normal(3, 4, scale=5.0), draw.normal(3)).begin()
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, leftover)
    optimizer, scheduler = optimizer_of(model)
    batch = reference_collate([([2, 5, 8], [0, 2, 1]), ([3], [2])])
    device = torch.device("cpu")
    losses = [step_oracle(model, batch, optimizer, scheduler, device, clip) for _ in range(2)]
    return losses, model.table.detach(), model.weight.detach()


def by_torch(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    return optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.25)


def by_hand(model):
    optimizer = Optimizer(model)
    return optimizer, Scheduler(optimizer, by=4)


@pytest.mark.parametrize("clip", [0.1, 100.0])
def test_the_probes_plain_optimiser_and_scheduler_step_as_torchs_do(clip):
    torch.testing.assert_close(stepped(by_hand, clip), stepped(by_torch, clip))


def test_a_step_of_the_oracle_cuts_long_gradients_and_forgets_old_ones():
    long, short = stepped(by_hand, 100.0), stepped(by_hand, 0.1)
    assert not torch.equal(long[1], short[1])
    torch.testing.assert_close(stepped(by_hand, 0.1, leftover=5.0), short)


def test_the_taggers_oracle_gives_the_same_alone_as_in_a_padded_batch():
    torch.manual_seed(1)
    encoder = modules.TransformerEncoder(20, 8, 2, 2, 16, 12, dropout=0.0)
    tagger, student = TaggerOracle(encoder, 5, (7,)), forms.TaggerByEmbed(encoder, 5, (7,))
    student.load_state_dict(tagger.state_dict())
    ids = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
    features = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]]).unsqueeze(-1)
    together = student(ids, features)
    torch.testing.assert_close(together[1:, :2], student(ids[1:, :2], features[1:, :2]))
    torch.testing.assert_close(tagger(ids, features)[1, :2], together[1, :2])


def test_the_taggers_oracle_reads_padding_where_a_given_mask_allows_it():
    torch.manual_seed(2)
    encoder = modules.TransformerEncoder(20, 8, 2, 2, 16, 12, dropout=0.0).eval()
    tagger, ids = TaggerOracle(encoder, 5), torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
    anywhere = torch.ones(1, 4, 4, dtype=torch.bool)
    wanted = tagger.output(encoder(ids, anywhere))
    torch.testing.assert_close(tagger(ids, mask=anywhere), wanted)
    assert not torch.allclose(tagger(ids)[1, :2], wanted[1, :2])


@pytest.mark.parametrize(
    ("batches", "past"),
    [
        ([[0, 1], [2]], False),
        ([[0, 2], [1]], "by its padding"),
        ([[0, 1], [2, 3]], "even by its words alone"),
        ([[3]], False),
    ],
)
def test_a_batch_past_the_budget_is_told_with_what_takes_it_there(batches, past):
    exercise = exercises()["bucket_batches"]
    case = Case("four", {"lengths": [2, 3, 5, 30], "max_tokens": 7})
    seen = observe(exercise.probe, case, lambda *_: batches).values
    found = exercise.facts(exercise.probe.inputs(**case.params), seen)
    assert found["a batch is past max_tokens"] == past


@given(st.lists(st.text("abx ", max_size=6), max_size=7), st.integers(1, 4))
def test_a_sentences_tags_are_the_same_alone_and_in_any_batch(text, batch_size):
    draw = Draw(tagging=True)
    model = TaggingModel(draw.normal(4, 5), draw.normal(7, 5)).eval()
    vocab, tags = {"<pad>": 0, "<unk>": 1, "a": 2, "b": 3}, list("VWXYZ")
    sentences = [line.split() for line in text]
    together = tagging_oracle(model, sentences, vocab, tags, batch_size)
    alone = [tagging_oracle(model, [words], vocab, tags)[0] for words in sentences]
    assert together == alone
    assert [len(row) for row in together] == [len(words) for words in sentences]


def seeded_observation(exercise, case):
    """One that is drawn without a generator is the same each time, too."""
    torch.manual_seed(0)
    return observe(exercise.probe, case, exercise.oracle, trusted=True)


@pytest.mark.parametrize("name", IDS)
def test_what_is_seen_crosses_to_another_process_and_cases_do(name):
    exercise = exercises()[name]
    for number, case in enumerate(cases_of(name)):
        sent = replace(case, params=json.loads(json.dumps(dict(case.params))))
        here, there = (seeded_observation(exercise, c) for c in (case, sent))
        message = encode(Message(name, number, here))
        assert encode(Message(name, number, there)) == message
        assert encode(decode(message)) == message
        assert b'"other"' not in message


@pytest.mark.parametrize("name", IDS)
def test_posing_a_case_leaves_its_parameters_as_they_are(name):
    exercise = exercises()[name]
    for case in cases_of(name):
        before = repr(case.params)
        inputs = exercise.probe.inputs(**case.params)
        for value in inputs.values():
            if isinstance(value, list):
                value.append("changed by a student")
        assert repr(case.params) == before


def test_a_gpu_is_only_pretended_where_a_case_asks_for_it():
    probe = exercises()["train_step"].probe
    facts = {}

    def note(model, batch, optimizer, scheduler, device, clip=1.0):
        facts["moved"] = batch[0].to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            facts["half"] = torch.is_autocast_enabled("cuda")
        return step_oracle(model, batch, optimizer, scheduler, device, clip)

    for case in probe.cases:
        assert observe(probe, case, note).problem is None
        assert facts["half"] == case.name.endswith("on a GPU")
        assert facts["moved"].device.type == "cpu"
    assert torch.cuda.amp.common.amp_definitely_not_available() != torch.cuda.is_available()


def test_the_right_pieces_together_overfit_eight_sentences():
    text = ["a b c", "c b a", "b b", "a", "c a c a", "b a", "a c", "c c b"]
    sentences = [line.split() for line in text]
    # Each word is tagged with the word before it, so the answer is in the context.
    truth = [["<", *words[:-1]] for words in sentences]
    names, vocab = ["<", "a", "b", "c"], forms.vocab_by_two_sorts(sentences)
    torch.manual_seed(0)
    encoder = modules.TransformerEncoder(len(vocab), 16, 2, 1, 32, 8, dropout=0.1)
    encoder.embedding.weight.data /= 4  # as large as positions, which matter here
    tagger = forms.TaggerByEmbed(encoder, len(names))
    optimizer = torch.optim.Adam(tagger.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0)
    pairs = [
        ([vocab[word] for word in words], [names.index(tag) for tag in tags])
        for words, tags in zip(sentences, truth, strict=True)
    ]
    generator = torch.Generator().manual_seed(0)
    for _ in range(60):
        for chosen in forms.buckets_longest_first([len(s) for s in sentences], 8, generator):
            batch = forms.collate_by_lists([pairs[n] for n in chosen])
            forms.step_for_a_gpu_apart(tagger, batch, optimizer, scheduler, torch.device("cpu"))
    assert forms.tag_by_length(tagger, sentences, vocab, names, 3) == truth


def stepping(mask):
    """Return a right train_step that gives the model a mask made from the ids."""

    def train_step(model, batch, optimizer, scheduler, device, clip=1.0):
        ids, _, tags = (part.to(device) for part in batch)
        model.train()
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            loss = reference_token_loss(model(ids, mask=mask(ids)), tags)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        scheduler.step()
        return loss.item()

    return train_step


def test_a_mask_of_the_padding_given_while_training_passes():
    for mask in (
        lambda ids: (ids != 0).unsqueeze(1),
        lambda ids: (ids != 0).unsqueeze(1) & (ids != 0).unsqueeze(2),
        lambda ids: None,
    ):
        assert check.train_step.verdict(stepping(mask)).passed


def test_a_mask_given_while_training_that_is_inverted_or_open_is_refused():
    for mask in (
        lambda ids: (ids == 0).unsqueeze(1),
        lambda ids: torch.ones(len(ids), 1, ids.shape[1], dtype=torch.bool),
    ):
        assert not check.train_step.verdict(stepping(mask)).passed


def test_sentences_that_are_read_again_and_again_are_refused():
    def tag(model, sentences, vocab, tags, batch_size=32):
        again = exercises()["tag_sentences"].oracle
        for start in range(1, len(sentences)):
            again(model, sentences[start:], vocab, tags, batch_size)
        return again(model, sentences, vocab, tags, batch_size)

    verdict = check.tag_sentences.verdict(tag)
    failed = [r.case.name for r in verdict.results if not r.passed]
    assert failed == ["two at a time"]


def test_sentences_drawn_with_replacement_are_not_one_list_that_was_cleared():
    def drawn_until_full(lengths, max_tokens, generator=None):
        found, todo = [], sum(lengths)
        while todo > 0:
            batch, longest = [], 0
            while not batch or longest * (len(batch) + 1) <= max_tokens:
                index = int(torch.randint(len(lengths), (1,), generator=generator))
                longest = max(longest, lengths[index])
                batch.append(index)
                todo -= lengths[index]
            found.append(batch)
        return found

    verdict = check.bucket_batches.verdict(drawn_until_full)
    assert verdict.mistake is None or verdict.mistake.name != "one_list_cleared"
    assert "a sentence is there twice" in " ".join([*verdict.symptoms, str(verdict.mistake)])


def test_orders_drawn_at_random_have_far_more_turns_than_is_asked_and_sorted_ones_none():
    lengths = torch.arange(48)
    shares = []
    for seed in range(300):
        generator = torch.Generator().manual_seed(seed)
        orders = [lengths[torch.randperm(48, generator=generator)].tolist() for _ in range(3)]
        assert _sorting(orders) == "in no order of length"
        shares.append(sum(map(_turns, orders)) / 144)
    mean, spread = np.mean(shares), np.std(shares)
    assert mean - 7 * spread > FEWEST_TURNS  # below 1e-11 for a normal distribution
    up, down = list(range(48)), list(range(48))[::-1]
    assert _sorting([up, down, up]) == "in order of length"
    assert _sorting([up, up[9:] + up[:9], up]).endswith("begun in the middle")


def test_orders_drawn_apart_are_not_alike_and_those_of_neighbours_exchanged_are():
    lengths, drawn = torch.arange(48), torch.Generator().manual_seed(0)
    for _ in range(300):
        orders = [lengths[torch.randperm(48, generator=drawn)].tolist() for _ in range(3)]
        assert not _alike(orders)
    exchanged = lengths.view(-1, 2).flip(1).flatten().tolist()
    assert _alike([lengths.tolist(), exchanged])
    assert _alike([exchanged, lengths.tolist()[::-1]])  # falling is as much in order as rising
    assert not _alike([[7] * 48, [7] * 48])  # equal lengths have no order


def test_torchs_random_state_is_as_it_was_after_batches_drawn_without_a_generator():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    assert check.bucket_batches.verdict(buckets_oracle).passed
    assert torch.equal(torch.get_rng_state(), before)
