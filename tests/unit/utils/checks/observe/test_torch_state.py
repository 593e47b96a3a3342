"""What an answer or a notebook changes in torch for all later code decides no check."""

from dataclasses import replace

import pytest
import torch
from torch import _C
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from utils.checks.exercise import Probe, case
from utils.checks.observation import ProblemKind
from utils.checks.observe.observe import observe, observe_all
from utils.checks.observe.torch_state import seeded, usual_torch

CASE = case("small", B=2, D=3)


class SeesFunctions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **kwargs or {})


class SeesOperations(TorchDispatchMode):
    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        return operation(*args, **kwargs or {})


def functions_seen():
    return _C._len_torch_function_stack() > 0


def operations_seen():
    return _C._len_torch_dispatch_stack() > 0


CHANGES = {
    "gradients": (torch.is_grad_enabled, torch.set_grad_enabled, False),
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype, torch.float64),
    "default device": (torch.get_default_device, torch.set_default_device, torch.device("meta")),
    "autocast": (
        lambda: torch.is_autocast_enabled("cpu"),
        lambda on: torch.set_autocast_enabled("cpu", on),
        True,
    ),
    "inference mode": (
        torch.is_inference_mode_enabled,
        lambda on: HELD.append(torch.inference_mode(on)) or HELD[-1].__enter__(),
        True,
    ),
    "a mode of torch": (functions_seen, lambda on: SeesFunctions().__enter__(), True),
    "(one that counts": (operations_seen, lambda on: SeesOperations().__enter__(), True),
}
HELD = []  # nobody closes these


@pytest.fixture(autouse=True)
def kept():
    with usual_torch():
        yield


def probe():
    def inputs(**params):
        return {"x": torch.ones(params["B"], params["D"])}

    return Probe("double", inputs, lambda answer, i: {"y": answer(i["x"])}, (CASE,))


@pytest.mark.parametrize("what", CHANGES)
def test_an_answer_that_changes_torch_for_later_code_is_told_and_put_back(what):
    get, put, value = CHANGES[what]
    usual = get()

    def leaves_it(x):
        doubled = 2 * x
        put(value)
        return doubled

    first, second = observe_all(probe(), [CASE, CASE], leaves_it)
    assert what in first.problem.message
    assert first == second
    assert get() == usual


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("trusted", [False, True])
def test_what_a_notebook_has_set_decides_nothing_and_stays(what, trusted):
    get, put, value = CHANGES[what]
    put(value)
    seen = []

    def double(x):
        seen.append((x.dtype, x.device.type, torch.is_grad_enabled(), (x @ x.T).dtype))
        return 2 * x

    assert observe(probe(), CASE, double, trusted=trusted).problem is None
    assert seen[0] == (torch.float32, "cpu", True, torch.float32)
    assert get() == value


def test_what_is_off_limits_stays_so_after_the_first_case():
    kept = torch.softmax
    strict = replace(probe(), forbidden=("torch.softmax",))
    found = observe_all(strict, [CASE, CASE, CASE], lambda x: kept(x, -1))
    assert [one.problem.kind for one in found] == [ProblemKind.FORBIDDEN] * 3


def test_an_error_counts_before_what_it_left_behind():
    def fails(x):
        torch.set_grad_enabled(False)
        raise KeyError("a")

    assert observe(probe(), CASE, fails).problem.message.startswith("KeyError")
    assert torch.is_grad_enabled()


def test_switching_gradients_off_inside_with_is_nobodys_concern():
    def inside(x):
        with torch.no_grad():
            return 2 * x

    assert observe(probe(), CASE, inside).problem is None


def test_what_is_drawn_from_a_seed_is_what_torch_draws_from_it_and_nothing_else_moves():
    torch.manual_seed(1)
    wanted = torch.randn(5), torch.nn.Linear(3, 2).weight
    torch.manual_seed(7)
    following = torch.randn(4)
    torch.manual_seed(7)
    with seeded(1):
        drawn = torch.randn(5), torch.nn.Linear(3, 2).weight
    assert all(map(torch.equal, drawn, wanted))
    assert torch.equal(torch.randn(4), following)


def test_an_error_while_drawing_from_a_seed_moves_nothing_else():
    before = torch.get_rng_state()
    with pytest.raises(KeyError), seeded(1):
        torch.randn(5)
        raise KeyError
    assert torch.equal(torch.get_rng_state(), before)
