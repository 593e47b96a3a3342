"""Probe of the language model: an encoder under the causal mask, and a linear layer."""

from typing import Any

from torch import Tensor, nn

from utils.checks.authoring.calling import require_linear, require_module
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.swapping import call_with
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.encoder.probes.weights import only_weights, stack_weights
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.writing_lab.probes.encoders import OtherEncoder
from utils.checks.observation import AnswerError, ProblemKind
from utils.checks.observe.substitution import borrowed

CAUSAL_MASK = "utils.reference.attention.masks.causal_mask"
ENCODER = "utils.reference.encoder.stack.TransformerEncoder"
ANY_ENCODER = "any encoder with embed and encode"
SPARE = "a table with more rows than letters"


def _inputs(
    *,
    other: bool = False,
    spare: int = 0,
    norm_first: bool = False,
    train: bool = False,
    again: bool = False,
    **params: Any,
) -> Inputs:
    draw = Draw(other=other, spare=spare, norm_first=norm_first, **params)
    rows, width = params["V"] + spare, params["D"]
    weights = {"encoder.embedding.weight": draw.normal(rows, width, scale=0.6)}
    if other:
        weights |= _other_weights(draw, params["T"], width)
    else:
        weights |= stack_weights(draw, width, params["F"], params["L"], norm_first=norm_first)
    weights["to_logits.weight"] = draw.normal(params["V"], width, scale=0.6)
    weights["to_logits.bias"] = draw.normal(params["V"], scale=1.0)
    return {
        "ids": draw.integers(params["V"], params["B"], params["T"], low=1),
        "encoder": (params.get("H", 0), params.get("L", 0), params["T"] + 1, norm_first),
        "train": train,
        "again": again,
        **weights,
    }


def _other_weights(draw: Draw, length: int, width: int) -> dict[str, Tensor]:
    return {
        "encoder.places": draw.normal(length + 1, width, scale=0.5),
        "encoder.asking": draw.normal(width, width, scale=0.4),
    }


def _encoder_for(i: Inputs) -> Any:
    n_heads, n_layers, max_len, norm_first = i["encoder"]
    rows, width = i["encoder.embedding.weight"].shape
    if not n_layers:
        return OtherEncoder(rows, width, max_len)
    inner = len(i["encoder.layers.0.feed_forward.linear_1.weight"])
    return borrowed(ENCODER)(rows, width, n_heads, n_layers, inner, max_len, 0.0, norm_first)


def _made(answer: Any, i: Inputs) -> nn.Module:
    encoder, (n_ids, width) = _encoder_for(i), i["to_logits.weight"].shape
    model = require_module(answer(encoder, n_ids), "LanguageModel")
    model.to(i["to_logits.weight"].dtype).train(i["train"])
    if getattr(model, "encoder", None) is not encoder:
        raise AnswerError(
            ProblemKind.ATTRIBUTE, "self.encoder should be the encoder that is passed in."
        )
    require_linear(model, "to_logits", width, n_ids, bias=True)
    return model


def _call(answer: Any, i: Inputs) -> dict[str, object]:
    model, weights = _made(answer, i), only_weights(i)
    if i["again"]:
        for length in (1, i["ids"].shape[1] + 1):
            call_with(model, weights, i["ids"][:, :1].expand(-1, length))
    return {"logits": settled(lambda: call_with(model, weights, i["ids"]), None)}


_SMALL: dict[str, Any] = {"V": 11, "D": 8, "H": 4, "F": 6, "L": 2}
PROBES = by_exercise(
    Probe(
        "LanguageModel",
        _inputs,
        _call,
        (
            case("one text", True, B=1, T=5, **_SMALL),
            case("three texts", B=3, T=5, **_SMALL),
            case("one letter", B=3, T=1, V=9, D=6, H=2, F=5, L=1),
            case("pre-norm", B=2, T=5, V=9, D=6, H=3, F=7, L=1, norm_first=True),
            case("another encoder", demand=ANY_ENCODER, B=2, T=5, V=9, D=6, other=True),
            case(
                "a larger table",
                demand=SPARE,
                results_only=True,
                B=2,
                T=5,
                V=9,
                D=6,
                H=3,
                F=7,
                L=1,
                spare=4,
            ),
            case(
                "after texts of other lengths",
                demand="calls that do not depend on earlier ones",
                results_only=True,
                B=2,
                T=4,
                V=9,
                D=6,
                H=3,
                F=7,
                L=1,
                again=True,
            ),
            case(
                "in train mode",
                demand="no dropout but the encoder's",
                results_only=True,
                B=2,
                T=5,
                V=9,
                D=6,
                H=3,
                F=7,
                L=1,
                train=True,
            ),
            case(
                "float64",
                demand="float64",
                B=2,
                T=4,
                V=7,
                D=6,
                H=3,
                F=5,
                L=1,
                dtype="float64",
            ),
        ),
        stand_ins={"causal_mask": CAUSAL_MASK},
    ),
)
