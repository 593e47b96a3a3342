"""Nothing of ours depends on where numbers lie in memory: probes, oracles, stand-ins, live objects.

Two tensors of the same numbers are the same to torch. A right answer may pass on, and return,
either.
"""

import inspect
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.course.lesson_runs import exercise_ids
from utils.checks.compare.compare import compare
from utils.checks.exercise import ExerciseKind
from utils.checks.lessons.attention.probes import versions as attentions
from utils.checks.lessons.encoder.probes import versions as encoders
from utils.checks.observe.observe import observe
from utils.checks.observe.substitution import borrowed
from utils.checks.registry import exercises, probes
from utils.reference import BLOCKS, modules
from utils.reference.attention.torch_heads import TorchHeads


def last_axes_exchanged(x):
    return x.mT.contiguous().mT if x.ndim > 1 else every_second(x)


def first_axis_last(x):
    return x.movedim(0, -1).contiguous().movedim(-1, 0) if x.ndim else x


def every_second(x):
    """A view of every second column of a wider tensor."""
    return torch.stack([x, x.roll(1)], -1).flatten(-2)[..., ::2] if x.ndim else x


def cut_out(x):
    """A view into the middle of a larger tensor."""
    wide = x.new_zeros([n + 3 for n in x.shape])
    inside = tuple(slice(1, 1 + n) for n in x.shape)
    wide[inside] = x
    return wide[inside]


def repeated_from_one(x):
    """The first entry for all, without a copy of its own: (1, ...) expanded."""
    return x[:1].expand_as(x) if x.ndim and len(x) else x


def along_the_last(x):
    return x[..., :1].expand_as(x) if x.ndim and x.numel() else x


def odd_strides(x):
    """Axes of size 1 with strides that no whole tensor has."""
    strides = [7 if n == 1 else s for n, s in zip(x.shape, x.stride(), strict=True)]
    return x.as_strided(x.shape, strides, x.storage_offset())


LAYOUTS = (
    last_axes_exchanged, first_axis_last, every_second, cut_out, repeated_from_one, along_the_last,
    odd_strides,
)  # fmt: skip
OTHER_NUMBERS = (repeated_from_one, along_the_last)
layouts = pytest.mark.parametrize("layout", LAYOUTS)
pytestmark = pytest.mark.table
FUNCTIONS = [n for n in exercise_ids() if probes()[n].kind != ExerciseKind.PREDICT]


def laid_out(value, layout):
    if isinstance(value, Tensor):
        return layout(value)
    if isinstance(value, (list, tuple)):
        return type(value)(laid_out(x, layout) for x in value)
    if isinstance(value, dict):
        return {name: laid_out(x, layout) for name, x in value.items()}
    return value


def whole(x):
    return x.clone(memory_format=torch.contiguous_format)


def asked(exercise):
    """The probe's visible cases, and some of them with a batch of one."""
    probe = probes()[exercise]
    several = [c for c in probe.cases if c.params.get("B", 1) > 1]
    return probe, [*probe.cases, *(replace(c, params={**c.params, "B": 1}) for c in several[:3])]


def seen(probe, case, answer, change):
    made = replace(probe, inputs=lambda **given: change(probe.inputs(**given)))
    return observe(made, case, answer, trusted=True)


def same(one, other, exercise):
    tolerance = exercises()[exercise].tolerance
    return one.problem == other.problem and compare(one, other, tolerance, {}) is None


def with_facts(exercise, case, seen):
    facts = exercises()[exercise].facts
    made = probes()[exercise].make(case.params)
    return seen if facts is None else replace(seen, values=facts(made, seen.values))


# Vectors of equal entries are left out: what a norm makes of them is rounding.
@pytest.mark.parametrize("layout", [x for x in LAYOUTS if x != along_the_last])
@pytest.mark.parametrize("exercise", FUNCTIONS)
def test_a_probe_and_its_oracle_give_the_same_for_inputs_in_any_layout(exercise, layout):
    probe, cases = asked(exercise)
    oracle = exercises()[exercise].oracle
    for case in cases:
        laid = seen(probe, case, oracle, lambda made: laid_out(made, layout))
        usual = seen(probe, case, oracle, lambda made: laid_out(laid_out(made, layout), whole))
        laid, usual = (with_facts(exercise, case, x) for x in (laid, usual))
        assert same(usual, laid, exercise), (case, usual.problem, laid.problem)


def returning(answer, layout):
    """The same answer, whose results lie in memory otherwise."""
    if not inspect.isclass(answer):
        return lambda *given, **named: laid_out(answer(*given, **named), layout)

    class Laid(answer):
        def forward(self, *given, **named):
            return laid_out(super().forward(*given, **named), layout)

        def embed(self, ids):
            return laid_out(super().embed(ids), layout)

        def encode(self, x, mask=None):
            return laid_out(super().encode(x, mask), layout)

    return Laid


@pytest.mark.parametrize("layout", [x for x in LAYOUTS if x not in OTHER_NUMBERS])
@pytest.mark.parametrize("exercise", FUNCTIONS)
def test_a_right_answer_may_return_results_in_any_layout(exercise, layout):
    oracle = exercises()[exercise].oracle
    answer = returning(oracle, layout)
    for case in probes()[exercise].cases:
        usual, laid = (seen(probes()[exercise], case, x, dict) for x in (oracle, answer))
        usual, laid = (with_facts(exercise, case, x) for x in (usual, laid))
        assert same(usual, laid, exercise), (case, laid.problem)


# Its eps is 1e-12: where a layout makes a token's entries equal, only rounding is left.
ROUNDING_ALONE = ("as_bert",)
STAND_INS = {f"utils.reference.modules.{name}": name for name in BLOCKS} | {
    path: name
    for probe in probes().values()
    for name, path in probe.stand_ins.items()
    if name not in (*BLOCKS, *ROUNDING_ALONE)
}


@layouts
@pytest.mark.parametrize(("path", "exercise"), STAND_INS.items())
def test_a_stand_in_gives_the_same_for_inputs_in_any_layout(exercise, path, layout):
    probe, cases = asked(exercise)
    stand_in = borrowed(path)
    for case in cases:
        laid = seen(probe, case, stand_in, lambda made: laid_out(made, layout))
        usual = seen(probe, case, stand_in, lambda made: laid_out(laid_out(made, layout), whole))
        assert same(usual, laid, exercise), (case, usual.problem, laid.problem)


CALLS = (
    (modules.EncoderLayer, (6, 3, 4, 0.0), lambda made, x: made(x, x.new_ones(1, 5, 5).tril() > 0)),
    (modules.TransformerEncoder, (9, 6, 3, 2, 4, 7, 0.0), lambda made, x: made.encode(x)),
    (TorchHeads, (6, 3), lambda made, x: made(x, x + 1, x)[0]),
)


@layouts
@pytest.mark.parametrize(("kind", "sizes", "call"), CALLS)
def test_a_module_of_ours_gives_the_same_for_weights_in_any_layout(kind, sizes, call, layout):
    torch.manual_seed(0)
    made, x, results = kind(*sizes), layout(torch.randn(2, 5, 6)), []
    for put in (layout, lambda weight: whole(layout(weight))):
        for parameter in made.parameters():
            parameter.data = put(parameter.data)
        results.append(call(made, x))
    torch.testing.assert_close(*results)


@layouts
@pytest.mark.parametrize("name", attentions._VERSIONS)
def test_an_attention_to_be_tested_gives_the_same_for_arguments_in_any_layout(name, layout):
    torch.manual_seed(0)
    given = [*torch.randn(3, 2, 4, 6), torch.rand(2, 4, 4) < 0.7]
    attention = attentions.version(name)
    laid, usual = (attention(*(f(layout(x)) for x in given)) for f in (lambda x: x, whole))
    for one, other in zip(laid, usual, strict=True):
        torch.testing.assert_close(one, other, equal_nan=True)


@layouts
@pytest.mark.parametrize("name", encoders.VERSIONS)
def test_an_encoder_to_be_tested_gives_the_same_for_ids_in_any_layout(name, layout):
    ids = layout(torch.tensor([[3, 1, 4, 0], [2, 5, 0, 0], [7, 9, 8, 6]]))
    encode = encoders.version(name)
    torch.testing.assert_close(encode(ids), encode(whole(ids)))
