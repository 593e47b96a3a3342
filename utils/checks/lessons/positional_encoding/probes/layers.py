"""Probes of lesson 04's layers: positions that are added, and embeddings."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import name_of_error, require_module
from utils.checks.authoring.defaults import require_defaults
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.swapping import call_with
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.positional_encoding.probes.dropping import see_dropout
from utils.checks.lessons.positional_encoding.probes.rotary import with_dtype
from utils.checks.observation import AnswerError, ProblemKind, describe
from utils.checks.observe.torch_state import seeded

LARGE_START = 3.0  # far above the spread of nn.Embedding (1) and of all of nn.init


def _layer_inputs(
    spare: int | None = 0, dropout: float = 0.0, zeros: bool = False, **params: Any
) -> Inputs:
    """Draw inputs of both layers; max_len is T + `spare`, or the default if that is None.

    `words` is a number type that x alone has. With `zeros`, a word is a vector of zeros, as
    padding is; it has a position like any other.
    """
    settings = {"dtype": "float32", "words": "", "again": False, "replaced": False}
    settings |= {name: params.pop(name) for name in settings.keys() & params.keys()}
    draw = Draw(spare=spare, **params)
    length, width = params["T"], params["D"]
    max_len = None if spare is None else length + spare
    rows = max_len or 1
    x = draw.normal(params["B"], length, width)
    if zeros:
        x[0, 1] = 0.0
    return {
        "x": x,
        "weight": draw.normal(rows, width),
        "max_len": max_len,
        "dropout": dropout,
        **settings,
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


def _require_buffer(module: nn.Module) -> Tensor:
    """Check that ``module.pe`` is a buffer, and return it.

    Raises:
        AnswerError: it is missing, a parameter or a plain attribute.

    """
    table = getattr(module, "pe", None)
    if isinstance(table, nn.Parameter):
        raise AnswerError(
            ProblemKind.ATTRIBUTE,
            "self.pe is a parameter, so training would change it; it should be a buffer.",
        )
    if not isinstance(table, Tensor) or not any(table is own for own in module.buffers()):
        found = "is a plain attribute" if hasattr(module, "pe") else "is missing"
        found = "is None" if table is None and hasattr(module, "pe") else found
        message = f"self.pe {found}; it should be a buffer, which moves with the module."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)
    return table


def _call_sines(answer: Any, i: Inputs) -> dict[str, object]:
    if i["max_len"] is None:
        require_defaults(answer, max_len=5000)
    module = _make_layer(answer, "PositionalEncoding", i)
    table = _require_buffer(module)
    if i["replaced"]:
        return _call_layer(module, i, lambda x: call_with(module, {"pe": -table}, x))
    if i["again"]:  # whether it runs is asked in another case; here, what is left of it
        name_of_error(lambda: module(i["x"].to(torch.bfloat16)))
    held = {"positions held": table.numel() // i["x"].shape[-1]}
    return held | _call_layer(module, i, module)


def _require_parameter(module: nn.Module) -> nn.Parameter:
    """Check that ``module.weight`` is a parameter, and return it.

    Raises:
        AnswerError: it is missing, a buffer or a plain attribute.

    """
    found = getattr(module, "weight", None)
    if any(found is buffer for buffer in module.buffers()):
        raise AnswerError(
            ProblemKind.ATTRIBUTE, "self.weight is a buffer, which no optimiser trains."
        )
    own = any(found is parameter for parameter in module.parameters())
    if not isinstance(found, nn.Parameter) or not own:
        what = "a plain attribute" if isinstance(found, Tensor) else describe(found)
        what = "is missing" if found is None else f"is {what}"
        raise AnswerError(
            ProblemKind.ATTRIBUTE, f"self.weight {what}; it should be an nn.Parameter."
        )
    return found


def _require_use(answer: Any, weight: Tensor, i: Inputs) -> None:
    """Check that another table in ``weight`` changes what comes out, all else being alike.

    Raises:
        AnswerError: it changes nothing.

    """
    x, max_len = i["x"].to(weight.dtype), i["max_len"]
    if i["dropout"] or x.shape[1] > max_len:
        return
    seen = []
    for table in (weight, -weight):
        with seeded(0):
            module = _make_layer(answer, "LearnedPositionalEncoding", i)
        seen.append(call_with(module, {"weight": table}, x.clone()))
    if any(not isinstance(one, Tensor) or _tells_more(one, x) for one in seen):
        return
    if torch.equal(*seen):
        message = "self.weight is not used in forward: another table in it changes nothing."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)


def _tells_more(result: Tensor, x: Tensor) -> bool:
    """Return whether a result shows by itself why the table has no effect: it is zero, or x."""
    return not result.any() or torch.equal(result, x)


@contextlib.contextmanager
def _marked_memory() -> Iterator[None]:
    """Make torch fill uninitialised memory with NaN, so that its use always shows."""
    before = torch.get_deterministic_debug_mode()
    # use_deterministic_algorithms would do, but first loads a compiler, which takes a second.
    torch.set_deterministic_debug_mode("warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def _of_any_width(answer: Any, i: Inputs) -> nn.Module:
    """Make a layer of trained positions.

    Raises:
        AnswerError: an odd width is refused, in whatever words.

    """
    try:
        return _make_layer(answer, "LearnedPositionalEncoding", i)
    except (ValueError, AssertionError) as error:
        width = i["x"].shape[-1]
        if width % 2 == 0:
            raise
        message = f"D = {width} is refused, and D may be odd here."
        raise AnswerError(ProblemKind.RETURN, message) from error


def _call_learned(answer: Any, i: Inputs) -> dict[str, object]:
    with _marked_memory():
        module = _of_any_width(answer, i)
    own = _require_parameter(module)
    weight = i["weight"].to(getattr(torch, i["dtype"]))
    if own.shape == (1, *weight.shape):  # allowed, as for the buffer pe
        weight = weight.unsqueeze(0)

    def forward(x: Tensor) -> Any:
        return call_with(module, {"weight": weight}, x)

    start = own.detach().clone()
    if i["again"]:  # with other weights, whose traces would show in the calls below
        call_with(module, {"weight": -weight}, i["x"].clone())
    _require_use(answer, weight, i)
    seen = _call_layer(module, i, forward) | {"weight is trained": own.requires_grad}
    seen |= {"weight starts with numbers": bool(start.isfinite().all())}
    return seen | {"weight starts small": bool(start.square().mean() < LARGE_START**2)}


def _call_layer(
    module: nn.Module, i: Inputs, forward: Callable[[Tensor], Any]
) -> dict[str, object]:
    x, max_len = i["x"].to(getattr(torch, i["dtype"])), i["max_len"]
    if max_len is not None and x.shape[1] > max_len:
        return _see_refusals(module, forward, x, max_len)
    if i["dropout"]:
        return see_dropout(module, x, i["dropout"], forward)
    if i["words"]:
        return {"dtype of output": _dtype(forward(x.to(getattr(torch, i["words"]))))}
    if i["again"]:
        longer = torch.cat([x, x[:, :2]], 1)
        for earlier in (x[:, 1:], x.flip(1), x[:1, 1:], longer):
            forward(earlier.clone())
    run = _in_full if max_len == x.shape[1] else _called
    return with_dtype("output", settled(lambda: run(forward, x)))


def _dtype(result: object) -> str:
    found = str(result.dtype) if isinstance(result, Tensor) else describe(result)
    return found.removeprefix("torch.")


def _see_refusals(
    module: nn.Module, forward: Callable[[Tensor], Any], x: Tensor, max_len: int
) -> dict[str, object]:
    """Observe what becomes of too many words, in both modes, and of many short sentences."""
    _in_full(forward, x[:, :max_len].clone())  # what fits must work; a stub fails here
    many = x[:1, :1].repeat(max_len + 1, 1, 1)
    seen: dict[str, object] = {"error past max_len": _past_the_end(forward, x, max_len)}
    module.eval()
    seen["error past max_len in eval mode"] = _past_the_end(forward, x, max_len)
    return seen | {"error for more sentences than max_len": name_of_error(lambda: forward(many))}


def _past_the_end(forward: Callable[[Tensor], Any], x: Tensor, max_len: int) -> str:
    """Return the name of the error that too many words raise, or what they get instead."""
    results: list[Any] = []
    error = name_of_error(lambda: results.append(forward(x.clone())))
    if not results or not isinstance(results[0], Tensor):
        return error
    if results[0].shape != x.shape:
        return f"{error}, and a result of shape {tuple(results[0].shape)}"
    rows, places = (results[0] - x).detach(), torch.arange(x.shape[1])
    if torch.allclose(rows, rows[:, places % max_len], atol=1e-4):
        return f"{error}: after the last row, the first comes again"
    if torch.allclose(rows, rows[:, places.clamp(max=max_len - 1)], atol=1e-4):
        return f"{error}: words past max_len get the last row"
    return f"{error}, and further rows"


def _called(forward: Callable[[Tensor], Any], x: Tensor) -> Any:
    return forward(x)


def _in_full(forward: Callable[[Tensor], Any], x: Tensor) -> Any:
    """Call a layer on a sentence of exactly max_len words.

    Raises:
        AnswerError: the layer refuses it.

    """
    try:
        return forward(x)
    except (ValueError, AssertionError) as error:
        message = f"A sentence of exactly max_len = {x.shape[1]} words is refused."
        raise AnswerError(ProblemKind.RETURN, message) from error


_LAYER_CASES = (
    case("one sentence of one word", B=1, T=1, D=2, spare=4),
    case("a word of zeros", B=2, T=5, D=4, spare=1, zeros=True),
    case("longer than max_len", demand="ValueError past max_len", B=2, T=6, D=4, spare=-1),
    case("moved to float64", demand="float64", B=2, T=5, D=4, spare=3, dtype="float64"),
    case("dropout", B=6, T=9, D=12, spare=5, dropout=0.25),
    case(
        "after calls with other sentences",
        demand="calls that do not depend on earlier ones",
        B=3,
        T=4,
        D=6,
        spare=20,  # room for the places of all calls: an answer may go on counting
        again=True,
    ),
)
PROBES = by_exercise(
    Probe(
        "PositionalEncoding",
        _sine_inputs,
        _call_sines,
        (
            case("shorter than max_len", required=True, B=2, T=3, D=4, spare=5),
            case("exactly max_len", B=3, T=5, D=6),
            *_LAYER_CASES,
            case(
                "another table in pe",
                demand="what is added comes from the buffer",
                B=2,
                T=3,
                D=4,
                spare=1,
                replaced=True,
            ),
            case(
                "words in bfloat16",
                demand="a result of x's number type",
                B=2,
                T=4,
                D=6,
                spare=3,
                words="bfloat16",
            ),
            case("max_len left at its default", B=2, T=4, D=8, spare=None),
        ),
        stand_ins={
            "sinusoidal_encoding": "utils.reference.positions.sinusoids.sinusoidal_encoding"
        },
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
)
