"""The probe of rotary positions."""

from typing import Any

import torch
from torch import Tensor

from utils.checks.authoring.defaults import require_defaults
from utils.checks.authoring.devices import elsewhere, is_made_there
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw

SHORT = "bfloat16"  # what mixed-precision training passes from layer to layer


def with_dtype(name: str, result: object) -> dict[str, object]:
    """Return a result's dtype and, separately, its numbers in float32.

    Sines taken in float32 and added to float64 inputs are right but differ in the eighth digit.
    """
    if not isinstance(result, Tensor):
        return {name: result}
    dtype = str(result.dtype).removeprefix("torch.")
    return {f"dtype of {name}": dtype, name: result.float()}


def _rotary_inputs(
    base: float | None = None,
    dtype: str = "float32",
    again: bool = False,
    offset: int | None = None,
    **params: Any,
) -> Inputs:
    draw = Draw(base=base, **params)
    x = draw.normal(params["B"], params["H"], params["T"], params["Dh"])
    return {"x": x, "base": base, "dtype": dtype, "again": again, "offset": offset}


def _call_rotary(answer: Any, i: Inputs) -> dict[str, object]:
    x = i["x"].to(getattr(torch, i["dtype"])) if i["dtype"] != "float32" else i["x"]
    if i["base"] is None and x.shape[-1] > 2:  # a single pair turns alike with any base
        require_defaults(answer, base=10000.0)
    if i["again"]:
        _call_otherwise(answer, x)
    given = {name: i[name] for name in ("base", "offset") if i[name] is not None}
    before = x.float() if i["dtype"] == SHORT else None  # the call may write into x
    turned = answer(x, **given)
    seen = with_dtype("turned", turned)
    if before is None or not isinstance(turned, Tensor):
        return seen
    exact = seen.pop("turned")  # right answers differ in the third digit
    return seen | {f"as in float32, but for rounding, in {SHORT}": _near(exact, answer(before))}


def _call_otherwise(answer: Any, x: Tensor) -> None:
    """Call with the same sizes on another device, in another number type, with another base.

    Whether an answer runs there is not asked; what counts is only what is left of these calls.
    """
    is_made_there(lambda: answer(elsewhere(x)))
    answer(x.double())
    answer(x.clone(), 50.0)


def _near(short: object, exact: object) -> bool:
    if not isinstance(short, Tensor) or not isinstance(exact, Tensor):
        return False
    return torch.allclose(short.float(), exact, rtol=0.0, atol=0.2)


PROBES = by_exercise(
    Probe(
        "rotary_embedding",
        _rotary_inputs,
        _call_rotary,
        (
            case("one pair", required=True, B=1, H=1, T=3, Dh=2),
            case("several heads", B=2, H=3, T=5, Dh=6),
            case("one position", B=3, H=2, T=1, Dh=6),
            case("another base", B=2, H=3, T=5, Dh=6, base=100.0),
            case("from position 7 on", demand="an offset", B=2, H=1, T=3, Dh=4, offset=7),
            case("float64", demand="float64", B=2, H=3, T=5, Dh=8, dtype="float64"),
            case(
                "after other calls of the same sizes",
                demand="calls that do not depend on earlier ones",
                B=2,
                H=3,
                T=9,
                Dh=10,
                again=True,
            ),
            case("far into a text", demand="an offset", B=2, H=1, T=3, Dh=4, offset=2500),
            case("bfloat16, far on", demand="bfloat16", B=1, H=2, T=300, Dh=4, dtype=SHORT),
        ),
    ),
)
