"""What the questioning half sees, and that it leaves the world as it was."""

import functools
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from utils.checks import check
from utils.checks.authoring.calling import unpack
from utils.checks.exercise import Probe, case
from utils.checks.lessons.inputs import Draw
from utils.checks.observation import Other
from utils.checks.observe.forbidden import absent, refused
from utils.checks.observe.observe import observe, observe_all
from utils.reference.attention.torch_attention import reference_attention
from utils.reference.modules import MultiHeadAttention

CASE = case("plain", B=2, T=3)


def probe(**options):
    inputs = lambda **params: {"x": Draw(**params).normal(params["B"], params["T"])}  # noqa: E731
    call = lambda answer, i: {"y": answer(i["x"])}  # noqa: E731
    return Probe("twice", inputs, call, (CASE,), **options)


def test_values_and_gradients_come_back_as_plain_arrays():
    seen = observe(probe(), CASE, lambda x: 2 * x)
    x = Draw(B=2, T=3).normal(2, 3)
    np.testing.assert_allclose(seen.values["y"], 2 * x.numpy())
    weights = torch.arange(6).cos().view(2, 3)
    np.testing.assert_allclose(seen.gradients["x"], 2 * weights.numpy(), rtol=1e-6)
    assert seen.changed == ()


def test_an_input_changed_in_place_is_noted_by_name():
    assert observe(probe(gradient=False), CASE, lambda x: x.mul_(2)).changed == ("x",)


@pytest.mark.parametrize(
    ("change", "changed"), [(lambda x: None, ()), (lambda x: x[0].zero_(), ("x",))]
)
def test_an_input_that_holds_nan_is_noted_only_if_its_numbers_change(change, changed):
    nan = replace(probe(gradient=False), inputs=lambda **_: {"x": torch.tensor([1.0, torch.nan])})
    assert observe(nan, CASE, lambda x: (change(x), 2.0)[1]).changed == changed


def test_values_and_gradients_come_from_one_call():
    calls = []
    observe(probe(), CASE, lambda x: (calls.append(1), 2 * x)[1])
    assert len(calls) == 1


def test_an_answer_that_no_gradient_passes_keeps_its_values():
    seen = observe(probe(), CASE, lambda x: torch.from_numpy(2 * x.numpy()))
    np.testing.assert_allclose(seen.values["y"], 2 * Draw(B=2, T=3).normal(2, 3).numpy())
    assert (seen.gradients, seen.problem.kind) == ({}, "backward")


@pytest.mark.parametrize("change", [lambda x: x.add_(1), lambda x: x.data.add_(1)])
def test_an_input_changed_in_place_is_noted_where_gradients_are_asked(change):
    seen = observe(probe(), CASE, lambda x: (x**2, change(x))[0])
    x = Draw(B=2, T=3).normal(2, 3)
    np.testing.assert_allclose(seen.values["y"], x.numpy() ** 2)
    assert seen.changed == ("x",)


def test_an_input_written_into_is_noted_where_that_stops_backward_and_leaves_the_same_numbers():
    seen = observe(probe(), CASE, lambda x: x.mul_(1))
    assert (seen.changed, seen.problem) == (("x",), None)
    assert seen.gradients["x"] is not None


def test_gradients_are_seen_of_an_answer_that_overwrites_what_they_need():
    seen = observe(probe(), CASE, lambda x: (x**2, x.add_(1))[0])
    right = observe(probe(), CASE, lambda x: x**2)
    assert seen.changed == ("x",)
    np.testing.assert_allclose(seen.gradients["x"], right.gradients["x"])


def test_each_call_gets_inputs_of_an_earlier_one_as_they_were_drawn():
    sizes = []
    made = lambda **_: {"x": torch.ones(2), "earlier": {"mask": torch.ones(2)}}  # noqa: E731
    call = lambda answer, i: {"y": answer(i["x"], i["earlier"]["mask"])}  # noqa: E731

    def answer(x, mask):
        sizes.append(mask.ndim)
        mask.unsqueeze_(0)
        return x.mul_(2)

    observe(replace(probe(), inputs=made, call=call), CASE, answer)
    assert len(sizes) > 1
    assert set(sizes) == {1}


def test_gradients_are_seen_of_an_answer_that_overwrites_a_part_of_what_they_need():
    seen = observe(probe(), CASE, lambda x: (x**2, x[:, 1:].add_(1))[0])
    right = observe(probe(), CASE, lambda x: x**2)
    np.testing.assert_allclose(seen.gradients["x"], right.gradients["x"])


def _exp_in_place(x):
    y = x.exp()
    y /= y.sum()  # of y backward needs what it was
    return y


def test_writing_into_an_input_too_forgives_nothing_else_that_stops_backward():
    for also in (lambda x: x.add_(0), lambda x: None):
        seen = observe(probe(), CASE, lambda x, also=also: (_exp_in_place(x), also(x))[0])
        assert seen.problem.kind == "backward"


@pytest.mark.parametrize("answer", [lambda x: x.detach() * 2, lambda x: (x * 2).numpy()])
def test_writing_into_an_input_does_not_hide_that_no_gradient_comes_back(answer):
    seen = observe(probe(), CASE, lambda x: (answer(x), x.add_(0))[0])
    assert seen.changed == ("x",)
    assert seen.problem is not None or seen.gradients == {"x": None}


def test_an_input_that_is_not_written_into_is_not_blamed_where_backward_stops():
    seen = observe(probe(), CASE, lambda x: torch.from_numpy(2 * x.numpy()).exp_())
    assert (seen.changed, seen.problem.kind) == ((), "backward")


def test_a_case_about_results_only_asks_no_gradient():
    calls = []

    def twice(x):
        calls.append(x.requires_grad)
        return 2 * x.detach()

    seen = observe(probe(), replace(CASE, results_only=True), twice)
    assert seen.gradients == {}
    assert calls == [False]


def test_a_gradient_that_is_nan_is_told_as_such_where_torch_looks_for_the_cause():
    with torch.autograd.set_detect_anomaly(True):
        seen = observe(probe(), CASE, lambda x: (x * 0).sqrt() * 0)
        assert torch.is_anomaly_enabled()
    assert seen.problem is None
    assert np.isnan(seen.gradients["x"]).all()


def test_a_detached_result_has_no_gradient():
    seen = observe(probe(), CASE, lambda x: 2 * x.detach())
    assert seen.gradients == {"x": None}


def test_an_unwritten_answer_is_a_stub():
    def twice(x):
        raise NotImplementedError("twice is not written yet")

    assert observe(probe(), CASE, twice).problem.kind == "stub"


def test_an_exception_carries_the_students_line_and_not_ours():
    def twice(x):
        return torch.cat([x, x[0]])

    problem = observe(probe(), CASE, twice).problem
    assert problem.kind == "exception"
    assert problem.line == "return torch.cat([x, x[0]])"


def test_an_answer_that_exits_is_an_exception_like_any_other():
    def twice(x):
        raise SystemExit(0)

    assert observe(probe(), CASE, twice).problem.message.startswith("SystemExit")


def test_what_is_no_tensor_is_described():
    seen = observe(probe(gradient=False), CASE, lambda x: x.numpy())
    assert seen.values["y"] == Other("a numpy array of shape (2, 3)")


def test_quiet_observation_swallows_prints_and_warnings(capsys):
    def loud(x):
        print("printed")
        warnings.warn("careful", stacklevel=1)
        return 2 * x

    seen = observe_all(probe(), [CASE], loud, quiet=True)
    assert seen[0].problem is None
    assert capsys.readouterr() == ("", "")


def test_a_forbidden_shortcut_is_refused_and_restored_afterwards():
    original = F.softmax
    names = ("torch.nn.functional.softmax", "torch.Tensor.softmax")
    for shortcut in (lambda x: F.softmax(x, -1), lambda x: x.softmax(-1)):
        problem = observe(probe(forbidden=names), CASE, shortcut).problem
        assert problem.kind == "forbidden"
        assert "softmax" in problem.message
    assert F.softmax is original
    assert "softmax" not in vars(torch.Tensor)


KEPT = {
    "function": torch.softmax,
    "functional": F.softmax,
    "method": torch.Tensor.softmax,
    "special": torch.special.softmax,
    "module": torch.nn.Softmax(-1),
    "operator": torch.ops.aten.softmax.int,
    "operator of all types": torch.ops.aten.softmax,
}


@pytest.mark.parametrize("kept", KEPT)
def test_a_forbidden_shortcut_kept_under_another_name_is_refused(kept):
    function = KEPT[kept] if kept == "module" else functools.partial(KEPT[kept], dim=-1)
    problem = observe(probe(forbidden=("torch.softmax",)), CASE, function).problem
    assert problem.kind == "forbidden"
    assert "torch.softmax" in problem.message


def test_torchs_own_function_handed_in_as_the_answer_is_refused():
    verdict = check.stable_softmax.verdict(KEPT["function"])
    assert verdict.first_failure.finding.kind == "forbidden"


def test_a_function_of_ones_own_may_be_called_as_a_forbidden_one():
    def softmax(x):
        return x.exp() / x.exp().sum(-1, keepdim=True)

    assert observe(probe(forbidden=("torch.softmax",)), CASE, softmax).problem is None


def test_the_course_itself_may_use_what_it_forbids():
    q, names = torch.randn(2, 3, 4), ("torch.nn.functional.scaled_dot_product_attention",)
    with absent(names), refused(names):
        output, _ = reference_attention(q, q, q)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(q, q, q))


def test_a_stand_in_may_use_a_function_that_looks_its_own_name_up():
    names = ("torch.nn.functional.multi_head_attention_forward",)
    heads, x = MultiHeadAttention(4, 2), torch.randn(2, 3, 4)
    wanted = heads(x, x, x)[0]
    with absent(names), refused(names):
        torch.testing.assert_close(heads(x, x, x)[0], wanted)


def test_shortcuts_are_restored_when_the_body_fails():
    original = F.softmax
    with pytest.raises(KeyError), absent(("torch.nn.functional.softmax",)):
        raise KeyError
    assert F.softmax is original


def earlier(x):
    return x + 1


def later(x):
    return earlier(x)


def test_a_stand_in_replaces_an_earlier_exercise_during_observation_only():
    seen = observe(probe(stand_ins={"earlier": lambda x: 3 * x}), CASE, later)
    np.testing.assert_allclose(seen.values["y"], 3 * Draw(B=2, T=3).normal(2, 3).numpy())
    assert earlier(1) == 2


class Holder:
    activation = staticmethod(F.relu)

    def call(self, x):
        return earlier(x)


def test_a_stand_in_reaches_a_class_that_holds_functions_of_other_modules():
    stand_ins = {"earlier": lambda x: 3 * x}
    one = replace(probe(stand_ins=stand_ins), call=lambda a, i: {"y": a().call(i["x"])})
    seen = observe(one, CASE, Holder)
    np.testing.assert_allclose(seen.values["y"], 3 * Draw(B=2, T=3).normal(2, 3).numpy())


def test_a_stand_in_for_a_missing_name_is_removed_again():
    observe(probe(stand_ins={"nowhere": len}), CASE, later)
    assert "nowhere" not in globals()


def test_unpack_says_what_was_returned_instead_of_a_pair():
    with pytest.raises(Exception, match=r"return \(a, b\), but returned a tensor of shape \(2,\)"):
        unpack(torch.zeros(2), "a", "b")


def prior(x):
    raise NotImplementedError


def once_more(times, x):
    return times * prior(x)


class Base:
    def __call__(self, x):
        return 2 * prior(x)


class Inherited(Base):
    pass


@torch.no_grad()
def decorated(x):
    return 2 * prior(x)


@pytest.mark.parametrize(
    "answer", [decorated, functools.partial(once_more, 2), Base(), Inherited()]
)
def test_an_earlier_exercise_is_stood_in_for_whatever_form_the_answer_has(answer):
    seen = observe(probe(stand_ins={"prior": lambda x: x}, gradient=False), CASE, answer)
    assert seen.problem is None
    np.testing.assert_allclose(seen.values["y"], 2 * Draw(B=2, T=3).normal(2, 3).numpy())
    with pytest.raises(NotImplementedError):
        prior(1)


class SaysItIsElsewhere:
    __module__ = "torch.nn.functional"

    def __call__(self, x):
        return 2 * prior(x)

    helper = F.relu


@pytest.mark.parametrize("kind", [Inherited, SaysItIsElsewhere])
def test_a_class_gets_stand_ins_whatever_it_inherits_or_says_of_itself(kind):
    call = lambda answer, i: {"y": answer()(i["x"])}  # noqa: E731
    asked = replace(probe(stand_ins={"prior": lambda x: x}), call=call)
    assert observe(asked, CASE, kind).problem is None


class Misspelt(torch.nn.Module):
    def foward(self, x):
        return x


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Misspelt(), 'NotImplementedError: Module [Misspelt] is missing the required "forward"'),
        (lambda x: x.long().softmax(-1), "NotImplementedError: "),
    ],
)
def test_what_torch_has_not_implemented_is_no_stub(answer, words):
    problem = observe(probe(), CASE, answer).problem
    assert problem.kind == "exception"
    assert problem.message.startswith(words)


def test_a_bare_not_implemented_error_is_a_stub():
    assert observe(probe(stand_ins={}), CASE, prior).problem.kind == "stub"
