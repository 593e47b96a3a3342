"""Probes of the tagger, its loss and its accuracy."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import require_linear, require_module
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.prediction import asked
from utils.checks.authoring.swapping import call_with
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.encoder.probes.weights import only_weights, stack_weights
from utils.checks.lessons.inputs import Draw
from utils.checks.observation import AnswerError, ProblemKind, describe
from utils.checks.observe.substitution import borrowed

IGNORED = -100  # the tag of padding

LOUD = 30.0  # makes values at padding larger than those that count


def _tagger_inputs(
    *,
    lengths: list[int],
    features: list[int] | None = None,
    mask: str = "none",
    padding_idx: int = 0,
    norm_first: bool = False,
    drops_words: bool = False,
    train: bool = False,
    **params: Any,
) -> Inputs:
    sizes = features or []
    draw = Draw(lengths=lengths, features=sizes, mask=mask, padding_idx=padding_idx, **params)
    longest = max(lengths)
    return {
        "ids": _padded_ids(draw, lengths, params["V"], padding_idx),
        "features": _padded_features(draw, lengths, sizes) if sizes else None,
        "mask": draw.mask(mask, 1, longest, longest),
        "encoder": (params["H"], params["L"], longest + 1, norm_first, padding_idx),
        "drops_words": drops_words,
        "train": train,
        **_tagger_weights(draw, params, sizes, padding_idx, norm_first),
    }


def _padded_ids(draw: Draw, lengths: list[int], vocab_size: int, padding_idx: int) -> Tensor:
    rows = torch.full((len(lengths), max(lengths)), padding_idx)
    for row, length in zip(rows, lengths, strict=True):
        drawn = draw.integers(vocab_size - 1, length)
        row[:length] = drawn + (drawn >= padding_idx)  # any id but the padding id
    return rows


def _padded_features(draw: Draw, lengths: list[int], sizes: list[int]) -> Tensor:
    shape = (len(lengths), max(lengths))
    columns = torch.stack([draw.integers(size, *shape, low=1) for size in sizes], -1)
    real = torch.arange(shape[1]) < torch.tensor(lengths)[:, None]
    return columns * real.unsqueeze(-1)


def _tagger_weights(
    draw: Draw, params: dict[str, Any], sizes: list[int], padding_idx: int, norm_first: bool
) -> dict[str, Tensor]:
    width = params["D"]
    table = draw.normal(params["V"], width, scale=0.4)
    table[padding_idx] = 0.0
    weights = {"encoder.embedding.weight": table}
    weights |= stack_weights(draw, width, params["F"], params["L"], norm_first=norm_first)
    tables = [draw.normal(size, width, scale=0.4) for size in sizes]
    weights |= {f"features.{n}.weight": table for n, table in enumerate(tables)}
    weights["output.weight"] = draw.normal(params["C"], width, scale=0.6)
    weights["output.bias"] = draw.normal(params["C"], scale=1.0)
    return weights


def _call_tagger(answer: Any, i: Inputs) -> dict[str, object]:
    weights, ids, columns = only_weights(i), i["ids"], i["features"]
    tagger = _made_tagger(answer, i)
    given = (ids, columns, i["mask"])
    asked = given if i["mask"] is not None else given[:2] if columns is not None else given[:1]
    logits = settled(lambda: call_with(tagger, weights, *asked), None)
    results = {"logits": _real_rows(logits, i)}
    length = int((ids[-1] != i["encoder"][-1]).sum())
    if i["mask"] is None and 0 < length < ids.shape[1]:
        alone = [x[-1:, :length] for x in asked]
        results["the last sentence alone"] = call_with(tagger, weights, *alone)
    return results


def _made_tagger(answer: Any, i: Inputs) -> nn.Module:
    n_tags, width = i["output.weight"].shape
    encoder = _encoder_for(i)
    sizes = tuple(len(table) for name, table in i.items() if name.startswith("features."))
    made = answer(encoder, n_tags, sizes) if sizes else answer(encoder, n_tags)
    tagger = require_module(made, "Tagger").to(i["output.weight"].dtype).eval()
    tagger.train(i["train"])
    encoder.get_submodule("positions").train(i["drops_words"])
    if getattr(tagger, "encoder", None) is not encoder:
        raise AnswerError(
            ProblemKind.ATTRIBUTE, "self.encoder should be the encoder that is passed in."
        )
    _require_tables(tagger, sizes, width)
    require_linear(tagger, "output", width, n_tags, bias=True)
    return tagger


def _encoder_for(i: Inputs) -> Any:
    n_heads, n_layers, max_len, norm_first, padding_idx = i["encoder"]
    vocab_size, width = i["encoder.embedding.weight"].shape
    inner = len(i["encoder.layers.0.feed_forward.linear_1.weight"])
    encoder: Any = borrowed("utils.reference.encoder.stack.TransformerEncoder")(
        vocab_size, width, n_heads, n_layers, inner, max_len, 0.0, norm_first, padding_idx
    )
    if i["drops_words"]:  # as in the contest, but every word: only positions are left
        encoder.add_module("positions", nn.Sequential(nn.Dropout(1.0), encoder.positions))
    return encoder


def _require_tables(tagger: nn.Module, sizes: tuple[int, ...], width: int) -> None:
    tables = getattr(tagger, "features", None)
    if not sizes:
        return
    if not isinstance(tables, nn.ModuleList):
        found = "is missing" if tables is None else f"is {describe(tables)}"
        message = (
            f"self.features {found}; it should be an nn.ModuleList, which registers its parts."
        )
        raise AnswerError(ProblemKind.ATTRIBUTE, message)
    made = [tuple(table.weight.shape) for table in tables if isinstance(table, nn.Embedding)]
    if made != [(size, width) for size in sizes]:
        wanted = ", ".join(f"TokenEmbedding({size}, {width})" for size in sizes)
        message = f"self.features should hold {wanted}."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)


def _real_rows(output: Any, i: Inputs) -> Any:
    """Set the output at padding to zero, but keep NaN in an empty sentence, where it is wrong."""
    padding = i["ids"] == i["encoder"][-1]
    if not isinstance(output, Tensor) or output.shape[:2] != padding.shape:
        return output
    stays = padding.all(1, keepdim=True).unsqueeze(-1) & output.isnan()
    return output.masked_fill(padding.unsqueeze(-1) & ~stays, 0.0)


def _scored_inputs(
    lengths: list[int],
    C: int,  # noqa: N803
    longest: int = 0,
    *,
    first: float = 0.0,
    **params: Any,
) -> Inputs:
    """Draw logits and tags; logits at padding are large, so that counting them shows.

    The first word's logit for the first word's last tag is raised by `first`: where that makes it
    the largest of all, its place in the whole batch is a tag's number, too.
    """
    draw = Draw(lengths=lengths, C=C, **params)
    shape = (len(lengths), max([*lengths, longest]))
    real = torch.arange(shape[1]) < torch.tensor(lengths)[:, None]
    logits = draw.normal(*shape, C)
    logits = torch.where(real.unsqueeze(-1), logits, logits * LOUD)
    logits[:1, :1, -1:] += first
    logits[:, 1::2] -= 3.0  # softmax and the best tag stay, and few logits are above 0
    # Two tokens in three are right; tag 0 is a tag like any other.
    right = torch.arange(real.numel()).view(shape) % 3 > 0
    tags = torch.where(right, logits.argmax(-1), draw.integers(C, *shape))
    return {"logits": logits, "tags": tags.masked_fill(~real, IGNORED)}


_SMALL: dict[str, Any] = {"V": 11, "D": 8, "H": 4, "F": 5, "L": 2}
_SHALLOW = _SMALL | {"L": 1}  # where the depth shows nothing: a check must answer at once
PROBES = by_exercise(
    Probe(
        "Tagger",
        _tagger_inputs,
        _call_tagger,
        (
            case("one sentence", True, lengths=[4], C=3, **_SMALL),
            case("padding", lengths=[5, 3, 2], C=6, **_SMALL),
            case("word and features", lengths=[4, 4], features=[7, 5], C=3, **_SMALL),
            case("features and padding", lengths=[6, 4, 3], features=[5, 7, 5], C=3, **_SMALL),
            case(
                "dropout on words",
                results_only=True,
                lengths=[3, 3],
                features=[6],
                drops_words=True,
                C=7,
                **_SHALLOW,
            ),
            case(
                "a mask of your own",
                results_only=True,
                lengths=[5, 5],
                mask="causal",
                C=7,
                **_SHALLOW,
            ),
            case(
                "a mask of your own, and padding",
                demand="a given mask used as it is",
                results_only=True,
                lengths=[6, 3],
                mask="random",
                C=3,
                **_SHALLOW,
            ),
            case(
                "another padding id",
                lengths=[5, 2],
                features=[7],
                padding_idx=3,
                C=6,
                **_SHALLOW,
            ),
            case(
                "in train mode",
                demand="no dropout but the encoder's",
                results_only=True,
                lengths=[4, 6],
                features=[5],
                train=True,
                C=3,
                **_SHALLOW,
            ),
            case(
                "float64",
                demand="float64",
                lengths=[3, 2],
                features=[6],
                C=7,
                dtype="float64",
                **_SHALLOW,
            ),
            case("pre-norm", lengths=[4, 3], features=[6, 6], norm_first=True, C=3, **_SHALLOW),
            case(
                "an empty sentence, and one word",
                demand="an empty sentence",
                lengths=[3, 0, 1],
                C=7,
                **_SHALLOW,
            ),
        ),
        stand_ins={"TokenEmbedding": "utils.reference.positions.token_embedding.TokenEmbedding"},
    ),
    asked("predict_first_loss"),
    Probe(
        "token_loss",
        _scored_inputs,
        lambda answer, i: {"loss": answer(i["logits"], i["tags"])},
        (
            case("without padding", True, lengths=[4, 4], C=3),
            case("padding", lengths=[2, 5, 3], C=4),
            case("large logits", demand="large logits", lengths=[4, 2], C=5, scale=300.0),
            case(
                "no real token",
                demand="a batch without a real token",
                lengths=[0, 0],
                longest=4,
                C=3,
            ),
            case("float64", demand="float64", lengths=[1, 6], C=5, dtype="float64"),
            case("one word", lengths=[1], C=4),
        ),
    ),
    asked("predict_padded_accuracy"),
    Probe(
        "accuracy",
        _scored_inputs,
        lambda answer, i: {"accuracy": answer(i["logits"], i["tags"])},
        (
            case("without padding", True, lengths=[4, 4], C=3, first=9.0),
            case("padding", lengths=[2, 7, 3], C=4),
            case("large logits", lengths=[6, 4], C=5, scale=300.0),
            case(
                "no real token",
                demand="a batch without a real token",
                lengths=[0, 0],
                longest=4,
                C=3,
            ),
            case("one word", lengths=[1], C=3),
        ),
        gradient=False,
    ),
)
