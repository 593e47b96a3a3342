"""How the answers of lesson 04 are questioned."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.calling import AnswerError, call_with, require_module
from utils.checks.chance import settled
from utils.checks.exercise import Inputs, Probe, case
from utils.checks.inputs import Draw
from utils.checks.observation import describe
from utils.checks.positional_encoding.reference import reference_encoding
from utils.checks.predicting import asked, prediction

SHORT = "bfloat16"  # what training in mixed precision hands from layer to layer
LARGE_START = 3.0  # far above the spread of nn.Embedding, 1, and of all in nn.init


def _raised(call: Callable[[], object]) -> str:
    """The name of the error that a call raises."""
    try:
        call()
    except NotImplementedError:
        raise  # a stub is a stub, not a wrong error
    except Exception as error:
        return type(error).__name__
    return "no error"


def _with_dtype(name: str, result: object) -> dict[str, object]:
    """A result's dtype and, apart from it, its numbers in float32.

    Sines taken in float32 and added to float64 inputs are right, and differ in the eighth digit.
    """
    if not isinstance(result, Tensor):
        return {name: result}
    dtype = str(result.dtype).removeprefix("torch.")
    return {f"dtype of {name}": dtype, name: result.float()}


def _answer_words(answer: object) -> dict[str, object]:
    named = prediction(answer)
    return {k: " ".join(v.lower().split()) if isinstance(v, str) else v for k, v in named.items()}


def _call_encoding(answer: Any, i: Inputs) -> dict[str, object]:
    if i["d_model"] % 2:
        return {"error for an odd d_model": _raised(lambda: answer(i["max_len"], i["d_model"]))}
    return {"encoding": answer(i["max_len"], i["d_model"])}


def _layer_inputs(
    spare: int = 0, dropout: float = 0.0, dtype: str = "float32", **params: Any
) -> Inputs:
    """Inputs of both layers; `spare` is by how much max_len exceeds T, None for the default."""
    draw = Draw(spare=spare, **params)
    length, width = params["T"], params["D"]
    max_len = None if spare is None else length + spare
    rows = max_len or 1
    return {
        "x": draw.normal(params["B"], length, width),
        "weight": draw.normal(rows, width),
        "max_len": max_len,
        "dropout": dropout,
        "dtype": dtype,
    }


def _sine_inputs(**params: Any) -> Inputs:
    inputs = _layer_inputs(**params)
    del inputs["weight"]
    return inputs


def _make_layer(answer: Any, name: str, i: Inputs) -> nn.Module:
    width = i["x"].shape[-1]
    sizes = (width,) if i["max_len"] is None else (width, i["max_len"])
    made = answer(*sizes, i["dropout"]) if i["dropout"] else answer(*sizes)
    return require_module(made, name).to(getattr(torch, i["dtype"]))


def _require_buffer(module: nn.Module) -> None:
    """Check that ``module.pe`` is a buffer.

    Raises:
        AnswerError: it is missing, a parameter or a plain attribute.

    """
    if "pe" in dict(module.named_parameters()):
        raise AnswerError("attribute", "self.pe is a parameter: training would change it.")
    if "pe" not in dict(module.named_buffers()):
        found = "is a plain attribute" if hasattr(module, "pe") else "is missing"
        message = f"self.pe {found}; it should be a buffer, which moves with the module."
        raise AnswerError("attribute", message)


def _call_sines(answer: Any, i: Inputs) -> dict[str, object]:
    module = _make_layer(answer, "PositionalEncoding", i)
    _require_buffer(module)
    held = {"positions held": dict(module.named_buffers())["pe"].numel() // i["x"].shape[-1]}
    return held | _call_layer(module, i, module)


def _require_parameter(module: nn.Module) -> nn.Parameter:
    """Check that ``module.weight`` is a parameter, and return it.

    Raises:
        AnswerError: it is missing, a buffer or a plain attribute.

    """
    if "weight" in dict(module.named_buffers()):
        raise AnswerError("attribute", "self.weight is a buffer, which no optimiser trains.")
    if "weight" not in dict(module.named_parameters()):
        found = getattr(module, "weight", None)
        what = "a plain attribute" if isinstance(found, Tensor) else describe(found)
        what = "is missing" if found is None else f"is {what}"
        raise AnswerError("attribute", f"self.weight {what}; it should be an nn.Parameter.")
    return dict(module.named_parameters())["weight"]


@contextlib.contextmanager
def _marked_memory() -> Iterator[None]:
    """Have torch fill memory that nobody has written to with NaN, so that it is always seen."""
    before = torch.get_deterministic_debug_mode()
    # use_deterministic_algorithms would do, but loads a compiler first, which takes a second.
    torch.set_deterministic_debug_mode("warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def _call_learned(answer: Any, i: Inputs) -> dict[str, object]:
    with _marked_memory():
        module = _make_layer(answer, "LearnedPositionalEncoding", i)
    own = _require_parameter(module)
    weight = i["weight"].to(getattr(torch, i["dtype"]))
    if own.shape == (1, *weight.shape):  # as a buffer pe may have it, too
        weight = weight.unsqueeze(0)

    def forward(x: Tensor) -> Any:
        return call_with(module, {"weight": weight}, x)

    start = own.detach().clone()
    seen = _call_layer(module, i, forward) | {"weight is trained": own.requires_grad}
    seen |= {"weight starts with numbers": bool(start.isfinite().all())}
    return seen | {"weight starts small": bool(start.square().mean() < LARGE_START**2)}


def _call_layer(
    module: nn.Module, i: Inputs, forward: Callable[[Tensor], Any]
) -> dict[str, object]:
    x = i["x"].to(getattr(torch, i["dtype"]))
    if i["max_len"] is not None and x.shape[1] > i["max_len"]:
        forward(x[:, : i["max_len"]])  # what fits must work: a stub fails here
        return {"error past max_len": _raised(lambda: forward(x))}
    if i["dropout"]:
        return _see_dropout(module, x, forward)
    return _with_dtype("output", settled(lambda: forward(x)))


def _see_dropout(
    module: nn.Module, x: Tensor, forward: Callable[[Tensor], Any]
) -> dict[str, object]:
    """What dropout of a half does, in words that hold whatever numbers are drawn."""
    module.eval()
    calm, again = forward(x), forward(x)
    module.train()
    train = forward(x)
    kept = train != 0
    return {
        "two calls in eval mode agree": bool(torch.equal(calm, again)),
        "train mode differs from eval mode": not torch.allclose(train, calm),
        "train mode sets entries of the sum to 0": not bool(kept.all()),
        "train mode doubles the others": torch.allclose(train[kept], 2 * calm[kept]),
    }


def _embedding_inputs(
    padding_idx: int | None = None, dtype: str = "float32", **params: Any
) -> Inputs:
    draw = Draw(padding_idx=padding_idx, **params)
    words, row = params["V"], padding_idx or 0
    table = draw.normal(words, params["D"])
    table[row] = 0.0
    ids = draw.integers(words, params["B"], params["T"])
    ids[0, -1] = row  # padding at the end of the first sentence
    return {"ids": ids, "table": table, "padding_idx": padding_idx, "dtype": dtype}


def _table_of(module: nn.Module, shape: tuple[int, ...]) -> str:
    """The name of the one parameter, whatever it is called.

    Raises:
        AnswerError: there is none of this shape, or more than one parameter.

    """
    found = {name: tuple(p.shape) for name, p in module.named_parameters()}
    if list(found.values()) != [shape]:
        shown = ", ".join(f"{name} {size}" for name, size in found.items()) or "none"
        message = f"It should have one parameter, of shape {shape}; its parameters are: {shown}."
        raise AnswerError("attribute", message)
    return next(iter(found))


def _call_embedding(answer: Any, i: Inputs) -> dict[str, object]:
    dtype, row = getattr(torch, i["dtype"]), i["padding_idx"] or 0
    sizes = tuple(i["table"].shape)
    made = answer(*sizes) if i["padding_idx"] is None else answer(*sizes, i["padding_idx"])
    module = require_module(made, "TokenEmbedding").to(dtype)
    name = _table_of(module, sizes)
    own = dict(module.named_parameters())[name]
    return {
        "the padding row starts at zero": not bool(own[row].any()),
        "the table is trained": own.requires_grad,
        **_with_dtype("output", call_with(module, {name: i["table"].to(dtype)}, i["ids"])),
    }


def _rotary_inputs(base: float | None = None, dtype: str = "float32", **params: Any) -> Inputs:
    draw = Draw(base=base, **params)
    x = draw.normal(params["B"], params["H"], params["T"], params["Dh"])
    return {"x": x, "base": base, "dtype": dtype}


def _call_rotary(answer: Any, i: Inputs) -> dict[str, object]:
    x = i["x"].to(getattr(torch, i["dtype"])) if i["dtype"] != "float32" else i["x"]
    turned = answer(x) if i["base"] is None else answer(x, i["base"])
    seen = _with_dtype("turned", turned)
    if i["dtype"] == SHORT:  # right numbers differ in the third digit
        seen.pop("turned")
    return seen


_LAYER_CASES = (
    case("one sentence of one word", B=1, T=1, D=2, spare=4),
    case("longer than max_len", B=2, T=6, D=4, spare=-1),
    case("moved to float64", B=2, T=5, D=4, spare=3, dtype="float64"),
    case("dropout", B=4, T=6, D=8, spare=3, dropout=0.5),
)
PROBES = (
    asked("predict_fastest_column", _answer_words),
    Probe(
        "sinusoidal_encoding",
        lambda **sizes: sizes,
        _call_encoding,
        (
            case("three positions", required=True, max_len=3, d_model=4),
            case("one position", max_len=1, d_model=6),
            case("two columns", max_len=7, d_model=2),
            case("longer and wider", max_len=40, d_model=16),
            case("odd d_model", max_len=4, d_model=7),
        ),
        gradient=False,
    ),
    Probe(
        "repaired_encoding",
        lambda **sizes: sizes,
        _call_encoding,
        (
            case("three positions", required=True, max_len=3, d_model=4),
            case("longer and wider", required=True, max_len=40, d_model=16),
        ),
        kind="repair",
        gradient=False,
    ),
    Probe(
        "shift_matrix",
        lambda **sizes: sizes,
        lambda answer, i: {"matrix": answer(i["offset"], i["d_model"])},
        (
            case("one step, two columns", required=True, offset=1, d_model=2),
            case("three steps", offset=3, d_model=4),
            case("backwards", offset=-2, d_model=6),
            case("not at all", offset=0, d_model=6),
        ),
        gradient=False,
    ),
    Probe(
        "PositionalEncoding",
        _sine_inputs,
        _call_sines,
        (
            case("shorter than max_len", required=True, B=2, T=3, D=4, spare=5),
            case("exactly max_len", B=3, T=5, D=6),
            *_LAYER_CASES,
        ),
        stand_ins={"sinusoidal_encoding": reference_encoding},
    ),
    Probe(
        "LearnedPositionalEncoding",
        _layer_inputs,
        _call_learned,
        (
            case("shorter than max_len", required=True, B=2, T=3, D=4, spare=5),
            case("exactly max_len, odd width", B=3, T=4, D=7),
            *_LAYER_CASES,
        ),
    ),
    Probe(
        "TokenEmbedding",
        _embedding_inputs,
        _call_embedding,
        (
            case("two sentences", required=True, B=2, T=3, V=7, D=4),
            case("one word, odd width", B=1, T=1, V=6, D=5),
            case("padding has another id", B=2, T=6, V=8, D=5, padding_idx=3),
            case("float64", B=3, T=4, V=9, D=6, dtype="float64"),
        ),
    ),
    Probe(
        "rotary_embedding",
        _rotary_inputs,
        _call_rotary,
        (
            case("one pair", required=True, B=1, H=1, T=3, Dh=2),
            case("several heads", B=2, H=3, T=5, Dh=4),
            case("one position", B=3, H=2, T=1, Dh=6),
            case("another base", B=2, H=3, T=4, Dh=6, base=100.0),
            case("float64", B=2, H=3, T=5, Dh=8, dtype="float64"),
            case("bfloat16", B=2, H=3, T=5, Dh=4, dtype=SHORT),
        ),
    ),
)
