"""Probes that call the answers of lesson 01."""

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.authoring.calling import unpack
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.prediction import asked
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw
from utils.checks.observation import AnswerError, ProblemKind

CELL = "utils.reference.recurrent_cell.reference_cell"
FORWARD = "utils.reference.recurrence.reference_forward"

RECURRENT = (
    "torch.nn.RNN",
    "torch.nn.RNNCell",
    "torch.nn.modules.rnn.RNN",
    "torch.nn.modules.rnn.RNNCell",
    "torch.rnn_tanh",
    "torch.rnn_tanh_cell",
    "torch._VF.rnn_tanh",
    "torch._VF.rnn_tanh_cell",
    # With its gates held open by large biases each of these computes the same state.
    "torch.nn.GRU",
    "torch.nn.GRUCell",
    "torch.nn.LSTM",
    "torch.nn.LSTMCell",
    "torch.gru",
    "torch.gru_cell",
    "torch.lstm",
    "torch.lstm_cell",
    "torch._VF.gru",
    "torch._VF.gru_cell",
    "torch._VF.lstm",
    "torch._VF.lstm_cell",
)
WEIGHTS = ("w_x", "w_h", "b")
LEFT = "inputs that ask for gradients afterwards"
MOST_CALLS = 200  # calls of `step` in one case: more than ten tokens ever need
FIRST_STATE = 100  # tells a place in the script, and is no token of any case


def _weights(draw: Draw, params: dict[str, Any]) -> Inputs:
    width, units = params["I"], params["Hd"]
    return {
        "w_x": draw.normal(units, width, scale=0.6),
        "w_h": draw.normal(units, units, scale=0.6),
        "b": draw.normal(units, scale=0.5),
    }


def _cell_inputs(**params: Any) -> Inputs:
    draw = Draw(**params)
    size, width, units = params["B"], params["I"], params["Hd"]
    state = {"x_t": draw.normal(size, width), "h": draw.normal(size, units, scale=0.7)}
    return state | _weights(draw, params)


def _sequence_inputs(
    trained: bool = False, twice: bool = False, after: bool = False, **params: Any
) -> Inputs:
    draw = Draw(trained=trained, twice=twice, **params)
    size, width, units = params["B"], params["I"], params["Hd"]
    sequence = {
        "x": draw.normal(size, params["T"], width),
        "h_0": draw.normal(size, units, scale=0.7),
    }
    weights = _weights(draw, params)
    weights = {name: w.requires_grad_(trained) for name, w in weights.items()}
    return sequence | weights | {"twice": twice, "after": after}


def _arguments(inputs: Inputs) -> list[Tensor]:
    return [inputs[name] for name in ("x", "h_0", *WEIGHTS)]


def _call_forward(answer: Any, i: Inputs) -> dict[str, object]:
    """Return the states; if `twice`, those of a second call, after one with other tokens."""
    if not i["twice"]:
        return unpack(answer(*_arguments(i)), "states", "h_T")
    copies = {name: one.clone() for name, one in i.items() if isinstance(one, Tensor)}
    other = i | copies | {"x": i["x"].flip(1)}
    first = unpack(answer(*_arguments(other)), "states", "h_T")
    found = unpack(answer(*_arguments(i)), "states", "h_T")
    _require_alike(first["states"], found["states"])
    return found


def _require_alike(first: object, second: object) -> None:
    """Check that two calls with the same sizes give states of the same shape.

    Raises:
        AnswerError: they do not.

    """
    shapes = [tuple(x.shape) for x in (first, second) if isinstance(x, Tensor)]
    if len(set(shapes)) > 1:
        message = (
            f"Called twice with the same sizes, it gives states of shape {shapes[0]}, then "
            f"{shapes[1]}: something is kept from call to call."
        )
        raise AnswerError(ProblemKind.RETURN, message)


def _call_gradient(answer: Any, i: Inputs) -> dict[str, object]:
    # What is left behind is a demand of its own: elsewhere it says nothing about the idea.
    watched = i["after"] or any(i[name].requires_grad for name in WEIGHTS)
    found: dict[str, object] = {"norms": answer(*_arguments(i))}
    if watched:
        behind = [name for name in WEIGHTS if i[name].grad is not None]
        found["weights left with a gradient"] = behind
    if i["after"]:
        found[LEFT] = [name for name in ("x", "h_0", *WEIGHTS) if i[name].requires_grad]
    return found


def _shift_inputs(dtype: str = "int64", kinds: int = 80, **params: Any) -> Inputs:
    draw = Draw(**params)
    targets = draw.integers(10 + kinds, params["B"], params["T"], low=10)
    return {"targets": targets.to(getattr(torch, dtype)), "bos": params["bos"]}


def _decode_inputs(
    script: list[int],
    endless: bool = False,
    twice: bool = False,
    parts: bool = False,
    **params: Any,
) -> Inputs:
    """Draw logits (place, token read, token to write) that lead a decoder along the script.

    If endless, the end token never comes, not even by accident.
    """
    draw = Draw(script=script, **params)
    vocabulary = params["V"]
    logits = draw.normal(len(script) + 1, vocabulary, vocabulary) + params.get("shift", 0.0)
    highest = logits.max() + 1
    if endless:
        logits[:, :, params["eos"]] = logits.min() - 1
    for place, (read, write) in enumerate(zip([params["bos"], *script], script, strict=False)):
        logits[place, read, write] = highest
    sizes = {name: params[name] for name in ("bos", "eos", "max_len")}
    return {"logits": logits, "twice": twice, "parts": parts, **sizes}


def _state(place: int, *, parts: bool) -> Any:
    """Build a decoder's state, a tensor (1,), or such a one and another, as an LSTM has it."""
    state = torch.tensor([FIRST_STATE + place])
    return (state, torch.zeros(2, 3)) if parts else state


def _step(logits: Tensor, max_len: int, *, parts: bool) -> Callable[[int, Any], tuple[Tensor, Any]]:
    """Build a step that looks its logits up: its state tells its place in the script.

    Raises:
        RuntimeError: the step is called so often that no loop seems to count.

    """
    calls = itertools.count(1)

    def step(token: int, state: Any) -> tuple[Tensor, Any]:
        if next(calls) > MOST_CALLS:
            raise RuntimeError(f"step was called {MOST_CALLS} times; max_len is {max_len}")
        told, _memory = state if parts else (state, None)
        place = int(told) - FIRST_STATE
        after = min(place + 1, len(logits) - 1)
        return logits[place, token].clone(), _state(after, parts=parts)

    return step


def _call_decode(answer: Any, i: Inputs) -> dict[str, object]:
    """Return the tokens; if `twice`, also those of a second call, which are the same."""

    def tokens() -> object:
        step, state = (
            _step(i["logits"], i["max_len"], parts=i["parts"]),
            _state(0, parts=i["parts"]),
        )
        return answer(step, state, i["bos"], i["eos"], i["max_len"])

    first = settled(tokens, None, again=4)
    found = {"tokens": list(first) if isinstance(first, list) else first}
    return found | ({"tokens of a second call": tokens()} if i["twice"] else {})


PROBES = by_exercise(
    Probe(
        "rnn_cell",
        _cell_inputs,
        lambda answer, i: {"state": answer(i["x_t"], i["h"], i["w_x"], i["w_h"], i["b"])},
        (
            case("one sequence", required=True, B=1, I=3, Hd=4),
            case("a batch", B=2, I=3, Hd=5),
            case("large inputs", B=3, I=2, Hd=4, scale=300.0),
            case("one input, one unit", B=3, I=1, Hd=1),
            case("float64", demand="float64", B=2, I=5, Hd=3, dtype="float64"),
        ),
        forbidden=RECURRENT,
    ),
    Probe(
        "rnn_forward",
        _sequence_inputs,
        _call_forward,
        (
            case("one sequence", required=True, B=1, T=3, I=5, Hd=4, twice=True),
            case("a batch", B=2, T=4, I=3, Hd=5),
            case("a single step", B=3, T=1, I=2, Hd=4),
            case("float64", demand="float64", B=4, T=5, I=2, Hd=3, dtype="float64"),
            case("one input, one unit", B=3, T=4, I=1, Hd=1),
        ),
        forbidden=RECURRENT,
        stand_ins={"rnn_cell": CELL},
    ),
    asked("predict_rnn_steps"),
    asked("predict_attention_steps"),
    Probe(
        "gradient_through_time",
        _sequence_inputs,
        _call_gradient,
        (
            case("one sequence", required=True, B=1, T=4, I=2, Hd=3),
            case("a batch", B=2, T=5, I=3, Hd=4),
            case("a single step", B=3, T=1, I=2, Hd=4),
            case("weights that are being trained", demand="weights that are being trained",
                 B=2, T=4, I=5, Hd=3, trained=True),
            case("what is left behind", demand="nothing changed afterwards",
                 B=3, T=5, I=2, Hd=4, after=True),
            case("float64", demand="float64", B=4, T=6, I=2, Hd=3, dtype="float64"),
            case("one input, one unit", B=3, T=4, I=1, Hd=1),
        ),
        gradient=False,
        stand_ins={"rnn_cell": CELL, "rnn_forward": FORWARD},
    ),
    Probe(
        "shift_right",
        _shift_inputs,
        lambda answer, i: {"inputs": answer(i["targets"], i["bos"])},
        (
            case("one sequence", required=True, B=1, T=4, bos=2),
            case("a batch", B=3, T=5, bos=2),
            case("a single token", B=4, T=1, bos=7),
            case("int32", demand="other integer types", B=2, T=3, bos=0, dtype="int32"),
            case("ids that come twice", B=2, T=6, bos=3, kinds=4),
        ),
        gradient=False,
    ),
    Probe(
        "greedy_decode",
        _decode_inputs,
        _call_decode,
        (
            case("the end after three tokens", required=True,
                 V=7, bos=2, eos=3, max_len=9, script=[5, 4, 6, 3], twice=True),
            case("all logits below zero",
                 V=8, bos=2, eos=3, max_len=10, script=[7, 4, 7, 5, 3], shift=-50.0, scale=0.1),
            case("the end at once", V=6, bos=2, eos=3, max_len=5, script=[3]),
            case("no end in sight",
                 V=9, bos=2, eos=3, max_len=4, script=[8, 5, 8, 6, 7, 4], endless=True),
            case("other begin and end tokens",
                 V=7, bos=5, eos=4, max_len=6, script=[3, 0, 5, 6, 4], parts=True),
            case("room for one token", V=8, bos=2, eos=3, max_len=1, script=[6, 5, 3]),
            case("no room at all", demand="a limit of 0",
                 V=6, bos=2, eos=3, max_len=0, script=[5, 4, 3]),
            case("a token twice in a row", V=6, bos=2, eos=0, max_len=8, script=[4, 4, 1, 5, 5, 0]),
            case("the end just in time", V=8, bos=2, eos=3, max_len=4, script=[5, 7, 5, 6, 3]),
        ),
        gradient=False,
    ),
)  # fmt: skip
