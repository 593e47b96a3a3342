"""The oracles of lesson 03 entry by entry, and what its dropout case can tell apart."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from utils.checks import check
from utils.checks.combining import made
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.multi_head_attention.answers.counting import read_as_layers
from utils.checks.lessons.multi_head_attention.answers.fusing import fuse_oracle
from utils.checks.observe.observe import observe
from utils.checks.registry import exercises
from utils.reference.attention.heads import reference_merge, reference_split

SIZE = st.integers(1, 5)
NAMES = (
    "dropout changes the output in train mode",
    "share of weights dropped in train mode",
    "factor on the weights kept",
    "a dropped weight takes its whole value along",
)


@given(SIZE, SIZE, SIZE, SIZE)
def test_a_head_holds_its_slice_of_every_token(size, length, n_heads, d_head):
    x = Draw(sizes=(size, length, n_heads, d_head)).normal(size, length, n_heads * d_head)
    heads = reference_split(x, n_heads)
    for b in range(size):
        for t in range(length):
            row = [entry for h in range(n_heads) for entry in heads[b, h, t].tolist()]
            assert row == x[b, t].tolist()
    assert torch.equal(reference_merge(heads), x)


@given(SIZE, SIZE)
def test_fused_matrices_give_every_head_its_own_projection(n_heads, d_head):
    draw = Draw("float64", sizes=(n_heads, d_head))
    width = n_heads * d_head
    heads = [tuple(draw.normal(d_head, width) for _ in range(3)) for _ in range(n_heads)]
    x = draw.normal(1, 2, width)
    for kind, fused in enumerate(fuse_oracle(heads)):
        cut = reference_split(x @ fused.T, n_heads)
        for h in range(n_heads):
            torch.testing.assert_close(cut[:, h], x @ heads[h][kind].T)


@pytest.mark.parametrize(
    ("mistake", "seen"),
    [
        (None, [True, 0.7, 3.3, True]),
        ("no_dropout", [False, 0.0, 1.0, True]),
        ("kept_weights_not_scaled_up", [True, 0.7, 1.0, True]),
        ("dropout_on_the_context", [True, 0.7, 3.3, False]),
        ("dropout_before_a_softmax_apart", [True, 0.0, 1.0, True]),
    ],
)
def test_the_dropout_case_shows_what_was_dropped(mistake, seen):
    exercise = exercises()["MultiHeadAttention"]
    answers = {None: exercise.oracle} | {m.name: m.answer for m in exercise.mistakes}
    case = next(case for case in exercise.probe.cases if case.name == "dropout")
    values = observe(exercise.probe, case, made(answers[mistake])).values
    assert [values[name] for name in NAMES] == seen


class PlainHeads(nn.Module):
    """Heads in plain operations, with a mask that meets the scores as it comes."""

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} features for {n_heads} heads")
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def placed(self, mask):
        return mask

    def forward(self, query, key, value, mask=None):
        given = ((self.w_q, query), (self.w_k, key), (self.w_v, value))
        q, k, v = (w(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for w, x in given)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~self.placed(mask), -torch.inf)
        weights = scores.softmax(-1).nan_to_num(0.0)
        joined = (self.dropout(weights) @ v).transpose(1, 2).flatten(2)
        return self.w_o(joined), weights


class RightHeads(PlainHeads):
    def placed(self, mask):
        return mask[:, None]


class DropoutTwice(RightHeads):
    def forward(self, *args):
        output, weights = super().forward(*args)
        return self.dropout(output), weights


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (RightHeads, None),
        (PlainHeads, "mask_without_an_axis_for_heads"),
        (DropoutTwice, "dropout_twice"),
    ],
)
def test_heads_in_plain_operations_are_judged_by_what_they_do(answer, name):
    verdict = check.MultiHeadAttention.verdict(answer)
    assert verdict.passed == (name is None)
    assert (verdict.mistake and verdict.mistake.name) == name


class Inverting(RightHeads):
    def forward(self, query, key, value, mask=None):
        result = super().forward(query, key, value, mask)
        if mask is not None:
            mask.logical_not_()
        return result


def test_a_mask_that_is_inverted_by_a_call_is_told_as_that():
    verdict = check.MultiHeadAttention.verdict(Inverting)
    assert verdict.mistake.name == "changes_its_input"


def test_padding_cases_hold_a_last_sentence_that_is_shorter_than_the_batch():
    probe = exercises()["MultiHeadAttention"].probe
    for params in ({"B": 3, "T": 5, "H": 2, "Dh": 4}, {"B": 4, "T": 7, "H": 3, "Dh": 2}):
        mask = probe.inputs(mask="padding", **params)["mask"]
        assert 0 < mask[-1].sum() < params["T"]


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (2 * 4 * 512**2, ["no_bias", "doubled_with_the_heads"]),
        (2 * 3 * (512**2 + 512), ["doubled_with_the_heads", "no_output_projection"]),
        (16 * 3 * (512**2 + 512), ["multiplied_by_the_heads", "no_output_projection"]),
        (7 * 512 * 512 + 11 * 512, []),
    ],
)
def test_two_slips_in_a_count_are_both_named(said, names):
    verdict = check.predict_parameters_16_heads.verdict(said)
    assert sorted(m.name for m in (verdict.mistake, verdict.second) if m) == sorted(names)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (5 * 512**2 + 5 * 512, "5 matrices of 512 x 512 and 5 rows of 512"),
        (7 * 512 * 64, "7 matrices of 512 x 64 and nothing else"),
        (64 * 64 + 3 * 64, "1 matrix of 64 x 64 and 3 rows of 64"),
    ],
)
def test_a_count_that_no_slip_explains_is_read_as_matrices_and_rows(said, words):
    assert words in read_as_layers(said, 8)


@pytest.mark.parametrize("said", [2_000_000, 1_050_625, 0, -512, True, "512", 524288.0, None])
def test_a_number_by_feel_is_not_read(said):
    assert not read_as_layers(said, 8)


def test_a_student_reads_how_an_unexplained_count_is_made_up():
    verdict = check.predict_parameters_8_heads.verdict(7 * 512 * 512 + 3 * 512)
    assert verdict.mistake is None
    assert "7 matrices of 512 x 512 and 3 rows of 512" in " ".join(verdict.symptoms)
    assert check.predict_parameters_8_heads.verdict(2_000_000).symptoms == ()
