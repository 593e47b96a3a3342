"""Probe of attention that turns queries and keys by their positions."""

from typing import Any

from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.multi_head_attention.probes.heads import (
    attention_inputs,
    call_attention,
)

# What answers may call from earlier lessons, whatever a student's own one does.
STAND_INS = {
    "rotary_embedding": "utils.reference.positions.rotary.rotary_embedding",
    "scaled_dot_product_attention": "utils.reference.attention.plain.scaled_dot_product_attention",
}


def _rotary_inputs(base: float | None = None, **params: Any) -> Inputs:
    inputs = attention_inputs(**params)
    return inputs if base is None else {**inputs, "base": base}


PROBES = by_exercise(
    Probe(
        "RotaryAttention",
        _rotary_inputs,
        call_attention,
        (
            case("one sentence, one head", required=True, B=1, T=5, H=1, Dh=6),
            case("a batch and several heads", required=True, B=3, T=5, H=2, Dh=4),
            case("padding", B=3, T=7, H=2, Dh=4, mask="padding"),
            case("more keys than queries", B=2, T=3, S=5, H=4, Dh=6),
            case("its own mask for each query", B=2, T=5, S=7, H=3, Dh=4, mask="random"),
            case("another base", B=2, T=6, H=4, Dh=8, base=50.0),
            case("dropout", B=5, T=40, S=8, H=2, dropout=0.7),
            case(
                "a row with nothing allowed",
                demand="a row with nothing allowed",
                B=2,
                T=5,
                S=6,
                H=3,
                Dh=4,
                mask="empty",
            ),
            case("float64", demand="float64", B=2, T=3, H=4, Dh=6, dtype="float64", base=200.0),
            case("causal self-attention", B=2, T=5, H=3, Dh=4, mask="causal"),
            case(
                "a second call, with another mask",
                B=2,
                T=5,
                S=4,
                H=3,
                Dh=6,
                mask="random",
                earlier="causal",
            ),
        ),
        stand_ins=STAND_INS,
    ),
)
