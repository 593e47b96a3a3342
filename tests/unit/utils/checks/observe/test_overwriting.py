"""Who writes into what backward needs is told so, with the line, and what to write instead."""

import pytest

from tests.unit.utils.checks.observe.students_cell import written
from utils.checks import check
from utils.checks.exercise import Probe, case
from utils.checks.explain.seen.errors_explained import usual_cause
from utils.checks.lessons.inputs import Draw
from utils.checks.observe.observe import observe
from utils.checks.render import as_text

CASE = case("plain", B=2, T=3)
NEEDED = "keeps a tensor for backward(), and your code writes into that tensor"


def seen_of(*lines, gradient=True):
    """Observe a function of x with these lines."""
    answer = written("def answer(x):\n" + "".join(f"    {line}\n" for line in lines), "answer")
    inputs = lambda **params: {"x": Draw(**params).normal(params["B"], params["T"])}  # noqa: E731
    call = lambda answer, i: {"y": answer(i["x"])}  # noqa: E731
    return observe(Probe("any", inputs, call, (CASE,), gradient=gradient), CASE, answer)


# What writes, what it is called, which step needs what is written into, what is said instead.
WRITES = [
    ("y[y < 0.3] = 0", "[...] =", "torch.where(condition, new, old)"),
    ("y[0, :2] *= 2", "[...] *=", "torch.where(condition, new, old)"),
    ("y[:, 1].fill_(2.0)", "fill_", "torch.where"),
    ("y.masked_fill_(y < 0.3, 0.0)", "masked_fill_", "`masked_fill`, without"),
    ("y.index_fill_(1, torch.tensor([0]), 2.0)", "index_fill_", "`index_fill`, without"),
    ("y.copy_(2 * y)", "copy_", "under a name of its own"),
    ("y.view(-1).clamp_(min=0.3)", "clamp_", "`clamp`, without"),
    ("torch.relu_(y)", "relu_", "`relu`, without"),
    ("F.relu(y, inplace=True)", "relu(..., inplace=True)", "Leave out `inplace=True`"),
    ("nn.ReLU(inplace=True)(y)", "relu(..., inplace=True)", "Leave out `inplace=True`"),
    ("nn.Dropout(0.5, inplace=True)(y)", "dropout(..., inplace=True)", "Leave out `inplace=True`"),
    ("y /= y.sum()", "/=", "`x = x / y` makes a new one"),
    ("y += 1", "+=", "`x = x + y` makes a new one"),
    ("y -= 1", "-=", "`x = x - y` makes a new one"),
    ("y *= 2", "*=", "`x = x * y` makes a new one"),
    ("y **= 2", "**=", "`x = x ** y` makes a new one"),
    ("y.add_(1)", "add_", "`add`, without"),
    ("torch.no_grad().__call__(y.mul_)(2)", "mul_", "`mul`, without"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "how", "instead"), WRITES)
def test_a_write_into_what_a_step_needs_is_told_with_its_line_and_what_to_write(line, how, instead):
    seen = seen_of("y = x.softmax(-1)", line, "return y")
    assert (seen.problem.kind, seen.problem.line) == ("backward", line)
    assert seen.problem.message.startswith(f"`softmax` {NEEDED}")
    assert f"(`{how}`)" in seen.problem.message
    assert instead in usual_cause(seen.problem)
    assert "no_grad" not in usual_cause(seen.problem)


@pytest.mark.parametrize(
    ("step", "overwritten", "called"),
    [
        ("z.exp()", "y", "`exp`"),
        ("z * z", "z", "`*`"),
        ("z / z", "z", "`/`"),
        ("z @ z.mT", "z", "A matrix product"),
        ("z.matmul(torch.ones(3))", "y", ""),
        ("F.layer_norm(z, (3,))", "z", "`layer_norm`"),
        ("F.dropout(F.relu_(z[0]), 0.5, inplace=True)", "y", "An earlier step"),
    ],
)
def test_the_step_that_needs_what_is_written_into_is_named(step, overwritten, called):
    seen = seen_of("z = 2 * x", f"y = {step}", f"{overwritten}.add_(1)", "return y")
    if called:
        assert seen.problem.message.startswith(f"{called} {NEEDED}")
    else:  # what no step needs may be written into
        assert seen.problem is None


def test_of_several_writes_the_first_that_does_harm_is_told():
    seen = seen_of("y = 2 * x", "y += 1", "z = y * y", "y -= 1", "y *= 2", "return z")
    assert seen.problem.line == "y -= 1"


def test_a_write_of_several_lines_is_told_by_its_sign():
    seen = seen_of("y = x.exp()", "y /= (", "    y.sum()", ")", "return y")
    assert "(`/=`)" in seen.problem.message


def test_a_write_in_a_helper_is_told_with_the_helpers_line():
    seen = seen_of(
        "y = x.exp()", "def scaled(z):", "    z *= 2", "    return z", "return scaled(y)"
    )
    assert seen.problem.line == "z *= 2"


def test_a_write_before_a_backward_of_the_students_own_is_told_with_the_line_that_writes():
    lines = ("x = x.clone().requires_grad_()", "y = x.exp()", "y[0] = 0",
             "return torch.autograd.grad(y.sum(), x)[0]")  # fmt: skip
    seen = seen_of(*lines, gradient=False)
    assert (seen.problem.kind, seen.problem.line) == ("exception", "y[0] = 0")
    assert seen.problem.message.startswith(f"RuntimeError: `exp` {NEEDED}")


@pytest.mark.parametrize(
    ("lines", "instead"),
    [
        (("y = x.exp()", "for row in y:", "    row /= row.sum()", "return y"), "torch.stack"),
        (("y, z = x.exp().chunk(2)", "y += 1", "return y + z"), "torch.cat"),
        (("y = x.exp()", "torch.exp(y, out=y)", "return y"), "Leave out `out=`"),
        (("y = x[:, :1].exp().expand(2, 3)", "y += 1", "return y"), "clone() first"),
    ],
)
def test_a_write_that_torch_refuses_at_once_is_told_what_to_write(lines, instead):
    seen = seen_of(*lines)
    assert instead in usual_cause(seen.problem)
    assert seen.problem.line in {line.strip() for line in lines}


def test_a_change_of_inputs_besides_is_no_excuse_and_no_cause():
    seen = seen_of("x += 1", "y = x.softmax(-1)", "y *= 2", "return y")
    assert seen.changed == ("x",)
    assert (seen.problem.line, "`*=`" in seen.problem.message) == ("y *= 2", True)


def test_a_parameter_is_blamed_where_a_parameter_is_written_into():
    seen = seen_of("layer = nn.Linear(3, 3)", "layer.weight.copy_(torch.eye(3))", "return layer(x)")
    assert seen.problem.line == "layer.weight.copy_(torch.eye(3))"
    assert "torch.no_grad()" in usual_cause(seen.problem)


def test_a_tensor_of_ones_own_that_asks_for_gradients_is_no_parameter():
    seen = seen_of("y = torch.ones(2, 3, requires_grad=True)", "y[0] = 2.0", "return x + y")
    assert "parameter" not in usual_cause(seen.problem)
    assert "Write first" in usual_cause(seen.problem)


def test_a_step_of_an_optimiser_before_backward_is_told_as_that():
    seen = seen_of(
        "layer = nn.Linear(3, 3)",
        "y = layer(x) @ layer.weight",
        "layer.weight.grad = torch.ones(3, 3)",
        "torch.optim.SGD([layer.weight], 0.1).step()",
        "return y",
    )
    assert seen.problem.line.endswith(".step()")
    assert "keeps a parameter" in seen.problem.message
    assert "The backward pass comes first" in usual_cause(seen.problem)


def test_torchs_advice_on_anomaly_detection_is_not_told():
    lines = ("x = x.clone().requires_grad_()", "y = x.exp()", "y.numpy = y.detach().numpy()",
             "y.detach().unsqueeze_(0).add_(1)", "y.sum().backward()", "return y")  # fmt: skip
    for gradient in (True, False):
        assert "Hint" not in seen_of(*lines, gradient=gradient).problem.message
    raises = ("raise RuntimeError('modified by an inplace operation: [x], is at version 1. "
              "Hint: enable anomaly detection to find it.')")  # fmt: skip
    assert "anomaly" not in seen_of(raises, gradient=False).problem.message


ZEROED = """
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    if mask is not None:
        weights[~mask] = 0
    return torch.einsum("bs,bsd->bd", weights, values), weights
"""


@pytest.mark.parametrize("points", [None, 3.0])
def test_a_mask_written_into_softmaxs_result_is_told_alike_in_a_notebook_and_in_grading(points):
    told = as_text(check.attend.verdict(written(ZEROED, "attend"), points=points))
    assert f"`softmax` {NEEDED}" in told
    assert "in your line: weights[~mask] = 0" in told
    assert "torch.where" in told
    assert not any(word in told for word in ("no_grad", "anomaly", "parameter", "input"))


def test_what_a_failing_backward_met_is_not_told_of_wrong_results():
    wrong = ZEROED.replace("scores.softmax(-1)", "(2 * scores).softmax(-1)")
    verdict = check.attend.verdict(written(wrong, "attend"))
    assert not any("torch.where" in text for text in verdict.symptoms)
