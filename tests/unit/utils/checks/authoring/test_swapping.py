"""Modules that are called with tensors that are not their own."""

import warnings

import pytest
import torch
from torch import nn
from torch.func import functional_call

from utils.checks.authoring.swapping import call_with, found_at, parameters_at, use_with
from utils.checks.observation import AnswerError


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        with torch.no_grad():
            self.weight *= 2
        return x * self.weight


class Replacing(Growing):
    def forward(self, x):
        self.weight = self.weight * 2
        return x * self.weight


class Shared(nn.Module):
    """One linear layer under three names, one of them a property."""

    def __init__(self):
        super().__init__()
        self.kept = nn.ModuleList([nn.Linear(2, 3)])
        self.layer = self.kept[0]

    @property
    def mine(self):
        return self.kept[0]

    def forward(self, x):
        return self.kept[0](x) + self.layer(x) + self.mine(x)


def test_a_given_parameter_can_be_changed_in_place_as_an_own_one_can():
    module, given = Growing(), torch.full((3,), 5.0, requires_grad=True)
    assert call_with(module, {"weight": given}, torch.ones(3)).tolist() == [10.0] * 3
    assert module.weight.tolist() == [1.0] * 3
    assert module(torch.ones(3)).tolist() == [2.0] * 3


@pytest.mark.parametrize("give", [True, False])
def test_another_tensor_is_no_parameter_wherever_the_old_one_comes_from(give):
    module = Replacing()
    with pytest.raises(TypeError, match="cannot assign"):
        call_with(module, {"weight": torch.ones(3)} if give else {}, torch.ones(3))


def test_afterwards_attributes_are_set_as_before():
    before = nn.Module.__setattr__
    call_with(Growing(), {}, torch.ones(3))
    assert nn.Module.__setattr__ is before


@pytest.mark.parametrize("path", ["layer", "mine", "kept.0"])
def test_a_part_with_several_names_is_given_by_any_of_them_and_used_under_all(path):
    module, weight = Shared(), torch.randn(3, 2)
    bias, x = torch.randn(3), torch.randn(4, 2)
    seen = call_with(module, {f"{path}.weight": weight, f"{path}.bias": bias}, x)
    torch.testing.assert_close(seen, 3 * (x @ weight.T + bias))


def test_a_part_with_several_names_is_as_it_was_afterwards_also_after_an_error():
    module = Shared()
    before = dict(module.named_parameters())
    call_with(module, {"layer.weight": torch.zeros(3, 2)}, torch.ones(2))
    with pytest.raises(RuntimeError):
        call_with(module, {"layer.weight": torch.zeros(3, 2)}, torch.ones(5))
    after = dict(module.named_parameters())
    assert before.keys() == after.keys()
    assert all(after[name] is parameter for name, parameter in before.items())


def test_results_and_gradients_of_a_plain_module_are_those_of_torchs_own_call():
    module, x = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), torch.randn(5, 3)
    given = {n: torch.randn_like(p).requires_grad_() for n, p in module.named_parameters()}
    pairs = []
    for call in (lambda: call_with(module, given, x), lambda: functional_call(module, given, x)):
        result = call()
        pairs.append([result, *torch.autograd.grad(result.square().sum(), list(given.values()))])
    for mine, torchs in zip(*pairs, strict=True):
        torch.testing.assert_close(mine, torchs)


def test_two_paths_to_one_parameter_are_told_as_shared_weights():
    module = nn.ModuleDict({"one": nn.Linear(2, 2), "other": nn.Linear(2, 2)})
    module["other"].weight = module["one"].weight
    both = {"one.weight": torch.ones(2, 2), "other.weight": torch.zeros(2, 2)}
    with pytest.raises(AnswerError, match=r"self\.one\.weight and self\.other\.weight are one"):
        use_with(module, both, lambda own: own)


@pytest.mark.parametrize("path", ["nothing", "nothing.weight", "layer.nothing", "kept.5.weight"])
def test_a_path_that_leads_nowhere_is_told(path):
    with pytest.raises(AnswerError, match="It should have a parameter"):
        call_with(Shared(), {path: torch.ones(3)}, torch.ones(2))


def test_a_tensor_that_torch_does_not_know_of_is_no_parameter():
    module = Shared()
    module.plain = torch.ones(3)
    with pytest.raises(AnswerError, match=r"a parameter self\.plain"):
        call_with(module, {"plain": torch.ones(3)}, torch.ones(2))


def test_another_shape_is_told():
    with pytest.raises(AnswerError, match=r"has shape \(3, 2\); it should be \(2, 3\)"):
        call_with(Shared(), {"layer.weight": torch.ones(2, 3)}, torch.ones(2))


def old_weight_norm(part):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nn.utils.weight_norm(part)


@pytest.mark.parametrize(
    "computed", [old_weight_norm, nn.utils.parametrizations.weight_norm], ids=["hook", "property"]
)
def test_a_weight_that_torch_computes_is_given_whole_and_is_as_it_was_afterwards(computed):
    part, x = computed(nn.Linear(2, 3, bias=False)), torch.randn(4, 2)
    own, weight = part(x), torch.randn(3, 2, requires_grad=True)
    seen = call_with(part, {"weight": weight}, x)
    torch.testing.assert_close(seen, x @ weight.T)
    assert torch.autograd.grad(seen.sum(), weight)[0].any()
    torch.testing.assert_close(part(x), own)


def test_numbers_in_a_sequence_with_words_for_names_lead_to_its_parts_in_their_order():
    parts = nn.Sequential()
    parts.add_module("front", nn.Linear(2, 3))
    parts.add_module("back", nn.Linear(3, 4))
    assert found_at(parts, "1.weight") is parts.back.weight
    assert parameters_at(parts, "back.bias") == [parts.back.bias]
