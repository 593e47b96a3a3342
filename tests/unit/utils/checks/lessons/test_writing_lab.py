"""Lab 06b: what its versions see, its oracles beside loops, what weak tests are told."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from utils.checks import check
from utils.checks.lessons.writing_lab.answers.cutting import next_tokens_oracle
from utils.checks.lessons.writing_lab.answers.model import LanguageModelOracle
from utils.checks.lessons.writing_lab.answers.writing import generate_oracle
from utils.checks.lessons.writing_lab.probes.encoders import OtherEncoder
from utils.checks.lessons.writing_lab.probes.versions import VERSIONS, Model, version
from utils.checks.lessons.writing_lab.probes.writing import Writer

T = 6
EARLIER, LATER = torch.ones(T, T, dtype=torch.bool).tril(-1), torch.ones(T, T).bool().triu()


def seen(model: Model) -> tuple[Tensor, Tensor]:
    """Whether another id at t changes logits at s: in its own text, and in the one beside it."""
    ids = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 7, 1, 8, 2, 8]])
    before, rows = model(ids), []
    for t in range(T):
        changed = ids.clone()
        changed[0, t] = 6
        rows.append((model(changed) - before).abs().amax(-1) > 1e-4)
    own, beside = torch.stack(rows, 1)
    return own, beside


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", VERSIONS)
def test_a_version_sees_what_its_name_says_and_no_more(name: str, again: bool) -> None:
    own, beside = seen(version(name, again))
    near = torch.ones(T, T).bool().triu(-2)  # two layers, each one too far
    wanted = {
        "right": LATER,
        "right, in float64": LATER,
        "transposed mask": ~LATER | torch.eye(T).bool(),
        "one too far": near,
        "mean over the batch": LATER,
    }.get(name, torch.ones(T, T).bool())
    assert torch.equal(own, wanted)
    assert torch.equal(beside, torch.eye(T).bool() | LATER) == (name == "mean over the batch")
    assert bool(beside.any()) == (name == "mean over the batch")


def test_a_version_that_comes_again_differs_from_itself_in_its_last_digits() -> None:
    ids = torch.tensor([[3, 1, 4, 1, 5, 9]])
    for name in VERSIONS.keys() - {"right, in float64"}:
        first, second = version(name)(ids), version(name, again=True)(ids)
        assert not torch.equal(first, second)
        torch.testing.assert_close(first, second, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "ids",
    [torch.ones(1, 2), torch.ones(3, dtype=torch.long), torch.tensor([[10]]), torch.tensor([[-1]]),
     torch.ones(1, 49, dtype=torch.long), torch.ones(0, 3, dtype=torch.long)],
)  # fmt: skip
def test_a_version_refuses_what_is_no_text(ids: Tensor) -> None:
    with pytest.raises((ValueError, IndexError)):
        version("right")(ids)


@given(st.integers(1, 40), st.integers(1, 9))
def test_windows_equal_a_loop_over_the_text(n: int, length: int) -> None:
    text = list(range(100, 100 + n))
    rows = [text[k : k + length + 1] for k in range(0, n, length)]
    rows = [row for row in rows if len(row) == length + 1]
    if not rows:
        with pytest.raises(ValueError, match="too short"):
            next_tokens_oracle(torch.tensor(text), length)
        return
    inputs, targets = next_tokens_oracle(torch.tensor(text), length)
    assert inputs.tolist() == [row[:-1] for row in rows]
    assert targets.tolist() == [row[1:] for row in rows]


def test_the_models_answer_at_a_place_is_that_of_the_text_up_to_there() -> None:
    torch.manual_seed(0)
    encoder = OtherEncoder(9, 6, 8)
    for parameter in encoder.parameters():
        nn.init.normal_(parameter)
    model, ids = LanguageModelOracle(encoder, 7), torch.randint(9, (2, 5))
    whole = model(ids)
    for length in range(1, 6):  # one layer: its last place needs no mask
        last = model.to_logits(encoder.encode(encoder.embed(ids[:, :length]))[:, -1])
        torch.testing.assert_close(last, whole[:, length - 1])


def test_writing_past_the_window_asks_for_the_last_ids_alone() -> None:
    torch.manual_seed(0)
    model = Writer(torch.randn(7, 7), torch.randn(20, 7)).train()
    text = generate_oracle(model, torch.tensor([1, 2, 3]), 6, 4)
    assert (len(text), model.most, model.training) == (9, 4, True)
    model.eval()
    for end in range(3, 9):
        assert text[end] == model(text[None, max(0, end - 4) : end])[0, -1].argmax()


def one_text(model: Model) -> None:
    ids = torch.tensor([[1, 2, 3, 4]])
    changed = torch.tensor([[1, 2, 3, 9]])
    assert torch.allclose(model(ids)[:, :3], model(changed)[:, :3], atol=1e-4)


def test_a_test_of_one_text_at_a_time_earns_five_parts_of_six_and_is_told_the_sixth() -> None:
    verdict = check.test_no_peeking.verdict(one_text, points=6.0)
    assert verdict.score == pytest.approx(5.0)
    assert verdict.mistake is not None
    assert verdict.mistake.name == "one_text_at_a_time"


class WithForward(LanguageModelOracle):
    def forward(self, ids: Tensor) -> Tensor:
        mask = torch.ones(1, ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        logits: Tensor = self.to_logits(self.encoder(ids, mask))
        return logits


def test_a_model_that_calls_the_whole_encoder_misses_the_demand_alone() -> None:
    verdict = check.LanguageModel.verdict(WithForward)
    assert verdict.idea_is_right
    assert [r.case.demand for r in verdict.results if not r.passed] == [
        "any encoder with embed and encode"
    ]
