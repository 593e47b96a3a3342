"""One head switched off at a time."""

import pytest
import torch
from torch import Tensor, nn

from utils.training.silence import silenced

N_HEADS, WIDTH = 3, 4


class Attention(nn.Module):
    """Only what is switched off: heads side by side go through w_o."""

    def __init__(self) -> None:
        super().__init__()
        self.w_o = nn.Linear(N_HEADS * WIDTH, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.w_o(x)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.ModuleDict({"self_attention": Attention()}) for _ in "ab")

    def forward(self, x: Tensor) -> list[Tensor]:
        return [layer["self_attention"](x) for layer in self.layers]


@pytest.fixture
def model() -> Model:
    torch.manual_seed(0)
    return Model()


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("head", range(N_HEADS))
def test_one_head_of_one_layer_adds_nothing(model: Model, layer: int, head: int) -> None:
    x = torch.randn(2, 7, N_HEADS * WIDTH)
    columns = slice(head * WIDTH, (head + 1) * WIDTH)
    w_o = model.layers[layer]["self_attention"].w_o
    missing = x[..., columns] @ w_o.weight[:, columns].T
    before = model(x)
    with silenced(model, layer, [head], N_HEADS):
        inside = model(x)
    torch.testing.assert_close(before[layer] - inside[layer], missing)
    torch.testing.assert_close(inside[1 - layer], before[1 - layer])


def test_without_any_head_only_the_bias_is_left(model: Model) -> None:
    with silenced(model, 1, range(N_HEADS), N_HEADS):
        said = model(torch.randn(2, 7, N_HEADS * WIDTH))[1]
    bias = model.layers[1]["self_attention"].w_o.bias
    torch.testing.assert_close(said, bias.expand_as(said))


def test_afterwards_and_after_an_error_all_heads_speak_and_the_input_is_whole(model: Model) -> None:
    x = torch.randn(2, 7, N_HEADS * WIDTH)
    kept, before = x.clone(), model(x)
    with pytest.raises(KeyError), silenced(model, 0, [1], N_HEADS):
        model(x)
        raise KeyError
    assert torch.equal(x, kept)
    assert all(map(torch.equal, model(x), before))


@pytest.mark.parametrize(("layer", "head"), [(2, 0), (0, 3), (0, -1)])
def test_a_layer_or_head_that_is_not_there_is_refused(model: Model, layer: int, head: int) -> None:
    with pytest.raises(IndexError), silenced(model, layer, [head], N_HEADS):
        pass
