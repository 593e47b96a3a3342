"""Probes that call the answers of lesson 03."""

import operator
import re
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import (
    mode_of,
    require_linear,
    require_module,
    unpack,
)
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.prediction import asked
from utils.checks.authoring.swapping import call_with
from utils.checks.exercise import ExerciseKind, Inputs, Probe, by_exercise, case
from utils.checks.lessons.attention.probes.attention import (
    SHORTCUTS,
    STAND_IN,
    broadcast_mask,
    trained_alone,
    weights_first,
)
from utils.checks.lessons.inputs import Draw
from utils.checks.observation import AnswerError, ProblemKind
from utils.checks.observe.torch_state import seeded

LAYERS = ("w_q", "w_k", "w_v", "w_o")
# Whole attentions under any name: what the exercise builds, and whatever contains it.
WHOLE = (
    *SHORTCUTS,
    "torch.nn.TransformerDecoderLayer",
    "torch.nn.TransformerDecoder",
)
SPLIT_CASES = (
    case("one sentence", required=True, B=1, T=4, H=2, Dh=3),
    case("a batch", required=True, B=2, T=5, H=3, Dh=4),
    case("heads of one feature", B=3, T=4, H=5, Dh=1),
    case("a single head", B=2, T=3, H=1, Dh=5),
    case("float64", demand="float64", B=3, T=2, H=4, Dh=5, dtype="float64"),
    case("one token", B=3, T=1, H=2, Dh=4),
)
TURNED = case("a transposed tensor", demand="any order in memory", B=3, T=4, H=2, Dh=5, turned=True)


def _split_inputs(turned: bool = False, **params: Any) -> Inputs:
    """Draw x; if it is `turned`, it is a view of a tensor with its last two axes exchanged."""
    draw = Draw(**params)
    size, length, heads, width = (params[letter] for letter in ("B", "T", "H", "Dh"))
    sizes = (heads * width, length) if turned else (length, heads * width)
    x = draw.normal(size, *sizes)
    return {"x": x.mT if turned else x, "n_heads": heads}


def _merge_inputs(**params: Any) -> Inputs:
    draw = Draw(**params)
    return {"x": draw.normal(*(params[letter] for letter in ("B", "H", "T", "Dh")))}


def attention_inputs(**params: Any) -> Inputs:
    """Draw what a case of multi-head attention is asked with; its sizes are B, T, S, H and Dh."""
    if "D" in params:
        return {"d_model": params["D"], "n_heads": params["H"]}
    if "dropout" in params:
        return _dropout_inputs(**params)
    return _forward_inputs(**params)


def _forward_inputs(
    mask: str = "none",
    bias: bool = True,
    earlier: str = "",
    trained: bool = False,
    **params: Any,
) -> Inputs:
    """Draw queries, keys and values, or a single x if the case has no S (self-attention).

    If `earlier` is a kind of mask, draw what an earlier call has, too.
    """
    before = {"earlier": _forward_inputs(earlier, bias, **params)} if earlier else {}
    draw = Draw(mask=mask, bias=bias, **params)
    size, queries, heads = params["B"], params["T"], params["H"]
    width, keys = heads * params["Dh"], params.get("S", queries)
    names = {"query": queries, "key": keys, "value": keys} if "S" in params else {"x": queries}
    vectors = {name: draw.normal(size, length, width) for name, length in names.items()}
    weights = {name: draw.normal(width, width, scale=width**-0.5) for name in LAYERS}
    biases = {f"bias of {name}": draw.normal(width, scale=0.5) for name in LAYERS} if bias else {}
    allowed = broadcast_mask(draw, mask, None, size, queries, keys)
    settings = {"n_heads": heads, "trained": trained, "mask": allowed}
    return {**before, **settings, **vectors, **weights, **biases}


def _dropout_inputs(dropout: float, **params: Any) -> Inputs:
    """Draw inputs from whose output each single weight can be read off, twice.

    Key and value s hold the one-hot vector of s twice in each head; w_v is the identity, and so
    is w_o but for a bias. Entry s of a head's output is then the weight on key s, after dropout.
    """
    draw = Draw(dropout=dropout, **params)
    size, queries, keys, heads = (params[letter] for letter in ("B", "T", "S", "H"))
    width = 2 * keys * heads
    one_hot = torch.eye(keys).repeat(1, 2 * heads).expand(size, keys, width).clone()
    small = width**-0.5
    weights = {"w_q": draw.normal(width, width, scale=small), "w_v": torch.eye(width)}
    weights |= {"w_k": draw.normal(width, width, scale=small), "w_o": torch.eye(width)}
    biases = {f"bias of {name}": torch.zeros(width) for name in LAYERS[:3]}
    biases["bias of w_o"] = torch.full((width,), 0.5)
    vectors = {"query": draw.normal(size, queries, width), "key": one_hot, "value": one_hot.clone()}
    return {"n_heads": heads, "dropout": dropout, **vectors, **weights, **biases, "mask": None}


def call_attention(answer: Any, i: Inputs) -> dict[str, object]:
    """Call a class with the interface of MultiHeadAttention; "base" goes to those that turn."""
    if "d_model" in i:
        return _refusal(answer, i["d_model"], i["n_heads"])
    if "dropout" in i:
        return _call_with_dropout(answer, i)
    module, weights = _build(answer, i)
    if "x" in i:
        return _call_on_itself(answer, i, module, weights)
    if "earlier" in i:
        call_with(module, weights, *_arguments(i["earlier"]))
    args = _arguments(i)
    seen = weights_first(settled(lambda: call_with(module, weights, *args)))
    return seen | (trained_alone(module, weights) if i.get("trained") else {})


def _arguments(i: Inputs) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    return i["query"], i["key"], i["value"], i["mask"]


def _build(answer: Any, i: Inputs, **choices: Any) -> tuple[nn.Module, dict[str, Tensor]]:
    """Return the student's module and the weights and biases to call it with."""
    width, bias = len(i["w_q"]), "bias of w_q" in i
    choices |= {} if bias else {"bias": False}
    choices |= {"base": i["base"]} if "base" in i else {}
    name = getattr(answer, "__name__", "The answer")
    module = require_module(answer(width, i["n_heads"], **choices), name)
    for name in LAYERS:
        require_linear(module, name, width, width, bias=bias)
    weights = {f"{name}.weight": i[name] for name in LAYERS}
    weights |= {f"{name}.bias": i[f"bias of {name}"] for name in LAYERS if bias}
    return module.to(i["w_q"].dtype), weights


def _call_on_itself(
    answer: Any, i: Inputs, module: nn.Module, weights: dict[str, Tensor]
) -> dict[str, object]:
    """Call self-attention on a batch, then on its last sentence alone, without padding.

    Where each query has a mask of its own, a sentence alone says nothing about the batch.

    Raises:
        AnswerError: the second call fails, and does not in a module that was never called.

    """
    x, mask = i["x"], i["mask"]
    length = x.shape[1] if mask is None else int(mask[-1, 0].sum())
    short = x[-1:, :length].clone()  # the call may write into both
    seen = weights_first(settled(lambda: call_with(module, weights, x, x, x, mask)))
    if mask is not None and mask.shape[1] > 1:
        return seen
    try:
        alone = weights_first(call_with(module, weights, short, short, short))
    except RuntimeError as error:
        call_with(_build(answer, i)[0], weights, short, short, short)
        message = "A second call, with other sizes, fails: something of the first is kept in self."
        raise AnswerError(ProblemKind.RETURN, message) from error
    return seen | {"output of the last sentence alone": alone["output"]}


def _refusal(answer: Any, d_model: int, n_heads: int) -> dict[str, object]:
    """Observe what happens when the features cannot be divided among the heads."""
    try:
        answer(d_model, n_heads)
    except ValueError as error:
        numbers = re.findall(r"\d+", str(error))
        named = {str(d_model), str(n_heads)} <= set(numbers)
        return {"error raised": "ValueError", "the error names both numbers": named}
    return {"error raised": "no error"}


def _call_with_dropout(answer: Any, i: Inputs) -> dict[str, object]:
    """Return results in eval mode, and traces of dropout on the weights in train mode."""
    module, weights = _build(answer, i, dropout=i["dropout"])
    args = i["query"], i["key"], i["value"]
    copies = [one.clone() for one in args]  # for a call that writes into them
    with seeded(0):
        calm = weights_first(call_with(module.eval(), weights, *copies, None))
        wild = weights_first(call_with(module.train(), weights, *args, None))
    seen = {"weights in eval mode": calm["weights"], "output in eval mode": calm["output"]}
    seen |= {"weights in train mode, before dropout": wild["weights"]}
    seen = {k: v.detach() if isinstance(v, Tensor) else v for k, v in seen.items()}
    return seen | _traces(calm["output"], wild["output"], i)


def _traces(calm: object, wild: object, i: Inputs) -> dict[str, object]:
    """Read off how many weights were dropped, the factor on the rest, and what drops together."""
    if not (isinstance(calm, Tensor) and isinstance(wild, Tensor)) or calm.shape != wild.shape:
        return {}
    shape = (*calm.shape[:-1], i["n_heads"], 2, -1)  # every weight appears twice
    before, after = ((output.detach() - 0.5).reshape(shape) for output in (calm, wild))
    kept = (after / before).round(decimals=2)
    return {
        "dropout changes the output in train mode": not torch.equal(calm, wild),
        "share of weights dropped in train mode": round((kept == 0).double().mean().item(), 1),
        "factor on the weights kept": round(kept[kept != 0].double().mean().item(), 1),
        "a dropped weight takes its whole value along": torch.equal(
            kept[..., 0, :], kept[..., 1, :]
        ),
    }


def _fuse_inputs(kept: bool = False, **params: Any) -> Inputs:
    draw = Draw(**params)
    heads, rows = params["H"], params["Dh"]
    names = [f"w_{kind} of head {h}" for h in range(heads) for kind in "qkv"]
    return {**{name: draw.normal(rows, heads * rows) for name in names}, "kept": kept}


def _call_fuse(answer: Any, i: Inputs) -> dict[str, object]:
    matrices = [x for x in i.values() if isinstance(x, Tensor)]
    heads = [tuple(matrices[n : n + 3]) for n in range(0, len(matrices), 3)]
    given = list(heads)
    result = answer(heads)
    if i["kept"]:
        same = len(heads) == len(given) and all(map(operator.is_, heads, given))
        return {"the list of heads is as it was": same}
    if isinstance(result, Tensor) and result.ndim == 3:
        result = tuple(result)  # it unpacks as a tuple does
    return unpack(result, "w_q", "w_k", "w_v")


class MultiHeadAttention(nn.Module):
    """The four layers of multi-head attention: all that loading needs, under the name it has."""

    def __init__(self, d_model: int, bias: bool) -> None:
        super().__init__()
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)


def _load_inputs(
    bias: bool = True, train: bool = False, kept: bool = False, fresh: bool = False, **params: Any
) -> Inputs:
    """Draw the parameters of both modules, by the module's name and their own.

    If `fresh`, torch's biases are zero, as in a module that nobody has trained.
    """
    draw = Draw(bias=bias, **params)
    modules = _modules(params["H"] * params["Dh"], params["H"], bias)
    drawn = {
        f"{module}.{name}": draw.normal(*parameter.shape)
        for module, made in modules.items()
        for name, parameter in made.named_parameters()
    }
    if fresh:
        drawn |= {
            name: 0 * drawn[name] for name in drawn if name.startswith("theirs") and "bias" in name
        }
    return {**drawn, "n_heads": params["H"], "bias": bias, "train": train, "kept": kept}


def _modules(width: int, n_heads: int, bias: bool) -> dict[str, nn.Module]:
    theirs = nn.MultiheadAttention(width, n_heads, bias=bias, batch_first=True)
    return {"theirs": theirs, "ours": MultiHeadAttention(width, bias)}


def _call_load(answer: Any, i: Inputs) -> dict[str, object]:
    modules = _modules(len(i["ours.w_q.weight"]), i["n_heads"], i["bias"])
    for module, made in modules.items():
        made.train(i["train"])
        for name, parameter in made.named_parameters():
            parameter.data = i[f"{module}.{name}"].clone()
    theirs, ours = modules["theirs"], modules["ours"]
    mode = ours.training
    original = [p.detach().clone() for p in theirs.parameters()]
    trainable = [p.requires_grad for p in theirs.parameters()]
    known = list(ours.parameters())
    answer(ours, theirs)
    if i["kept"]:
        same = all(map(operator.is_, known, ours.parameters()))
        return {"an optimiser that has the parameters already can train them": same}
    loaded = {name: p.detach().clone() for name, p in ours.named_parameters()}
    kept = all(torch.equal(a, b) for a, b in zip(original, theirs.parameters(), strict=True))
    kept &= trainable == [p.requires_grad for p in theirs.parameters()]
    trained = all(p.requires_grad and p.is_leaf for p in ours.parameters())  # an optimiser asks
    for parameter in theirs.parameters():
        parameter.data.add_(1.0)
    apart = all(torch.equal(loaded[name], p) for name, p in ours.named_parameters())
    return {**loaded, "torch's module is left as it was": kept,
            "the parameters can still be trained": trained,
            "train or eval mode is as it was": mode_of(ours) == mode,
            "changing torch's module later changes nothing here": apart}  # fmt: skip


PROBES = by_exercise(
    Probe(
        "split_heads",
        _split_inputs,
        lambda answer, i: {"heads": answer(i["x"], i["n_heads"])},
        (*SPLIT_CASES, TURNED),
    ),
    Probe(
        "merge_heads",
        _merge_inputs,
        lambda answer, i: {"merged": answer(i["x"])},
        SPLIT_CASES,
    ),
    Probe(
        "MultiHeadAttention",
        attention_inputs,
        call_attention,
        (
            case("without a mask", required=True, B=2, T=3, S=5, H=4, Dh=6),
            case("self-attention with padding", B=3, T=5, H=2, Dh=4, mask="padding"),
            case("keys under padding", B=3, T=4, S=6, H=2, Dh=5, mask="padding"),
            case("causal mask", B=2, T=5, S=6, H=3, Dh=4, mask="causal"),
            case("a second call, without a mask", B=2, T=4, S=6, H=3, Dh=5, earlier="padding"),
            case("a row with nothing allowed", demand="a row with nothing allowed",
                 B=3, T=4, S=5, H=2, Dh=7, mask="empty"),
            case("without bias, in float64", demand="float64, and no bias",
                 B=2, T=4, S=3, H=5, Dh=6, bias=False,
                 dtype="float64"),
            case("dropout", B=5, T=40, S=8, H=2, dropout=0.7),
            case("what is trained", demand="nothing else that is trained",
                 B=2, T=4, S=5, H=3, Dh=7, trained=True),
            case("10 features for 4 heads", demand="ValueError for sizes that do not fit",
                 D=10, H=4),
            case("causal self-attention", weight=0.5, B=2, T=4, H=3, Dh=5, mask="causal"),
            case("self-attention, its own mask for each query", weight=0.5,
                 B=3, T=5, H=2, Dh=4, mask="random"),
            case("a second call, with another mask", weight=0.5,
                 B=2, T=3, S=5, H=4, Dh=6, mask="random", earlier="causal"),
            case("one query, one key, one head", weight=0.5, B=1, T=1, S=1, H=1, Dh=4),
        ),
        forbidden=(*WHOLE, "utils.reference.modules.MultiHeadAttention"),
        stand_ins={
            "scaled_dot_product_attention": STAND_IN,
            "split_heads": "utils.reference.attention.heads.reference_split",
            "merge_heads": "utils.reference.attention.heads.reference_merge",
        },
    ),
    asked("predict_parameters_8_heads"),
    asked("predict_parameters_16_heads"),
    Probe(
        "fuse_heads",
        _fuse_inputs,
        _call_fuse,
        (
            case("two heads", required=True, H=2, Dh=3),
            case("four heads", H=4, Dh=3),
            case("a single head", H=1, Dh=4),
            case("float64", demand="float64", H=5, Dh=2, dtype="float64"),
            case("the list afterwards", demand="the list left alone", H=3, Dh=2, kept=True),
            case("heads of one feature", H=3, Dh=1),
        ),
    ),
    Probe(
        "load_torch_attention",
        _load_inputs,
        _call_load,
        (
            case("two heads", required=True, H=2, Dh=3),
            case("without bias", demand="a module without bias", H=3, Dh=2, bias=False),
            case("float64", demand="float64", H=3, Dh=4, dtype="float64"),
            case("in train mode", H=4, Dh=3, train=True),
            case("an optimiser before", demand="parameters that stay in place",
                 H=2, Dh=5, kept=True),
            case("one head, as torch makes it", H=1, Dh=4, fresh=True),
        ),
        gradient=False,
    ),
    Probe(
        "repaired_split_heads",
        _split_inputs,
        lambda answer, i: {"heads": answer(i["x"], i["n_heads"])},
        SPLIT_CASES[:3],
        kind=ExerciseKind.REPAIR,
    ),
)  # fmt: skip
