"""The influence of one token on another: what is right and commonly wrong."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.encoder.probes import PROBES
from utils.checks.exercise import Exercise, Mistake

_PROBES = {probe.exercise: probe for probe in PROBES}


def influence_oracle(encoder: Any, ids: Tensor, source: int, target: int) -> float:
    """Compare both sentences in one batch, on a copy of the encoder's weights in eval mode."""
    return _influence(encoder, ids, source, target)


def _influence(
    encoder: Any,
    ids: Tensor,
    source: int,
    target: int,
    *,
    mode: bool | None = None,
    evaluates: bool = True,
    measure: Callable[[Tensor], Tensor] = torch.linalg.vector_norm,
    whole: bool = False,
    zeroed: str = "row",
) -> float:
    was = encoder.training
    encoder.train(was and not evaluates)
    with torch.no_grad():
        before, after = _both(encoder, ids, source, zeroed)
    encoder.train(was if mode is None else mode)
    difference = after - before
    return float(measure(difference if whole else difference[target]))


def _both(encoder: Any, ids: Tensor, source: int, zeroed: str) -> tuple[Tensor, Tensor]:
    x = encoder.embed(ids.unsqueeze(0))[0]
    if zeroed == "both":
        x[source] = 0.0
        return encoder.encode(x[None])[0], encoder.encode(x[None])[0]
    keep = torch.ones(len(ids), dtype=torch.bool)
    keep[source] = False
    if zeroed == "every such word":
        keep = ids != ids[source]
    changed = x * keep.unsqueeze(-1)
    if zeroed == "word":
        changed = changed + (encoder.positions(torch.zeros_like(x)[None])[0] * ~keep.unsqueeze(-1))
    if zeroed == "output":
        y = encoder.encode(x[None])[0]
        return y, y * keep.unsqueeze(-1)
    if zeroed == "column":
        changed = x.index_fill(1, torch.tensor(source), 0.0)
    both = encoder.encode(torch.stack([x, changed]))
    return both[0], both[1]


def _wrong_influence(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    def found(encoder: Any, ids: Tensor, source: int, target: int) -> float:
        return _influence(encoder, ids, source, target, **choices)

    return Mistake(name, says, hint, found)


def _mode_of_the_whole_alone(encoder: Any, ids: Tensor, source: int, target: int) -> float:
    was = encoder.training
    found = _influence(encoder, ids, source, target, mode=False)
    encoder.training = was
    return found


def _mean_square(difference: Tensor) -> Tensor:
    return difference.square().mean()


INFLUENCE = (
    Exercise(
        _PROBES["influence"],
        influence_oracle,
        (
            _wrong_influence(
                "left_in_eval_mode",
                "The encoder was training, and is left in eval mode.",
                "Remember encoder.training before eval(), and give it back at the end.",
                mode=False,
            ),
            _wrong_influence(
                "left_in_train_mode",
                "The encoder was in eval mode, and is left in train mode.",
                "Give back the mode that it had: train(was_training).",
                mode=True,
            ),
            Mistake(
                "parts_left_in_eval_mode",
                "The encoder is in its old mode again, its layers are not: dropout stays off.",
                "An assignment to .training changes one module; train(...) all of its parts too.",
                _mode_of_the_whole_alone,
            ),
            _wrong_influence(
                "dropout_acts",
                "The encoder is asked in train mode, so dropout acts.",
                "eval() before the first call.",
                evaluates=False,
            ),
            _wrong_influence(
                "sum_of_absolute_values",
                "The absolute changes are summed; the L2 norm was asked for.",
                "Squares, sum, root.",
                measure=lambda d: d.abs().sum(),
            ),
            _wrong_influence(
                "no_root",
                "The squares are summed, and the root is missing.",
                "Squares, sum, root.",
                measure=lambda d: d.square().sum(),
            ),
            _wrong_influence(
                "mean_square",
                "The squares are averaged; the L2 norm was asked for.",
                "Squares, sum, root.",
                measure=_mean_square,
            ),
            _wrong_influence(
                "change_of_all_outputs",
                "The change of all outputs is measured, not that of the target.",
                "Pick the target's row of the difference first.",
                whole=True,
            ),
            _wrong_influence(
                "every_such_word_zeroed",
                "Every occurrence of the word is set to zero.",
                "One row of embed's result is meant, not a row of the embedding table.",
                zeroed="every such word",
            ),
            _wrong_influence(
                "position_kept",
                "The word is set to zero, and its position is added afterwards.",
                "Zero the row of what embed returns: word and position together.",
                zeroed="word",
            ),
            _wrong_influence(
                "both_zeroed",
                "Both sentences are one tensor: to set the row to zero changed the first one too.",
                "Copy what embed returns before you write into it.",
                zeroed="both",
            ),
            _wrong_influence(
                "output_zeroed",
                "A row of the output is set to zero, not one of the input.",
                "Change the embedded input, then encode it.",
                zeroed="output",
            ),
            _wrong_influence(
                "column_zeroed",
                "One entry of every token is set to zero, not every entry of one token.",
                "embed returns (B, T, D): which axis counts tokens?",
                zeroed="column",
            ),
            Mistake(
                "source_and_target_swapped",
                "Source and target have changed places.",
                "The source's input is changed; the target's output is looked at.",
                lambda encoder, ids, s, t: _influence(encoder, ids, t, s),
            ),
            Mistake(
                "a_tensor",
                "The result is a tensor.",
                "Return a plain number: .item() or float(...).",
                lambda encoder, ids, s, t: torch.tensor(_influence(encoder, ids, s, t)),
            ),
        ),
        tolerance=1e-4,
    ),
)
