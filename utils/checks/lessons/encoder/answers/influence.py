"""The influence of one token on another: right answers and common mistakes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.probes import PROBES


def influence_oracle(encoder: Any, ids: Tensor, source: int, target: int) -> float:
    """Compare both sentences in one batch in eval mode, then restore the encoder's mode."""
    return float(_influence(encoder, ids, source, target))


def _influence(
    encoder: Any,
    ids: Tensor,
    source: int,
    target: int,
    *,
    mode: bool | None = None,
    evaluates: bool = True,
    measure: Callable[[Tensor], Tensor] = torch.linalg.vector_norm,
    compares: str = "vectors",
    whole: bool = False,
    zeroed: str = "row",
    exchanged: bool = False,
    plain: bool = True,
) -> Any:
    """Measure it, with one thing done differently.

    Args:
        encoder: the encoder.
        ids: (T,).
        source: position of the token that is taken away.
        target: position of the token that is looked at.
        mode: the mode in which the encoder is left; None for the one that it had.
        evaluates: whether it is asked in eval mode.
        measure: what is taken of the change.
        compares: whether the "vectors" are subtracted, or their "norms"; or only what comes
            "after" is measured; or the change as a share of what was there ("relative").
        whole: whether the change of all tokens is measured.
        zeroed: what is changed, see `_both` and `_changed`.
        exchanged: whether source and target change places.
        plain: whether the result is a number, not a tensor.

    """
    if exchanged:
        source, target = target, source
    was = encoder.training
    encoder.train(was and not evaluates)
    with torch.no_grad():
        before, after = _both(encoder, ids, source, zeroed)
    encoder.train(was if mode is None else mode)
    old, new = (y if whole else y[target] for y in (before, after))
    ways = {"norms": (measure(new) - measure(old)).abs(), "after": measure(new)}
    ways["relative"] = measure(new - old) / measure(old)
    found = ways.get(compares, measure(new - old))
    return float(found) if plain else found


def _both(encoder: Any, ids: Tensor, source: int, zeroed: str) -> tuple[Tensor, Tensor]:
    """Return the encoder's outputs before and after the change, (T, D) each.

    With "both" the change is in both, with "output" it comes after the encoder, and with "mask" the
    source is hidden from attention.
    """
    x = encoder.embed(ids.unsqueeze(0))[0]
    if zeroed == "both":
        x[source] = 0.0
        return encoder.encode(x[None])[0], encoder.encode(x[None])[0]
    if zeroed == "output":
        y = encoder.encode(x[None])[0]
        return y, y.index_fill(0, torch.tensor(source), 0.0)
    if zeroed == "mask":
        seen = (torch.arange(len(ids)) != source).view(1, 1, -1)
        return encoder.encode(x[None])[0], encoder.encode(x[None], seen)[0]
    both = encoder.encode(torch.stack([x, _changed(encoder, x, ids, source, zeroed)]))
    return both[0], both[1]


def _changed(encoder: Any, x: Tensor, ids: Tensor, source: int, zeroed: str) -> Tensor:
    """Return the embedded sentence with something taken away.

    That is the source's "row", all "other rows", its "word" without its position, "every such
    word", its "column", its "id" (in whose place comes 0), or nothing: "ones" come in its place.
    """
    at = torch.tensor(source)
    if zeroed == "id":
        changed: Tensor = encoder.embed(ids.index_fill(0, at, 0).unsqueeze(0))[0]
        return changed
    here = ids == ids[source] if zeroed == "every such word" else torch.arange(len(ids)) == at
    if zeroed == "word":
        positions = encoder.positions(torch.zeros_like(x)[None])[0]
        return torch.where(here.unsqueeze(-1), positions, x)
    if zeroed == "column":
        return x.index_fill(1, at, 0.0)
    here = ~here if zeroed == "other rows" else here
    return x.masked_fill(here.unsqueeze(-1), 1.0 if zeroed == "ones" else 0.0)


@by_choices
def _influence_variant(**choices: Any) -> Callable[..., float]:
    """Return an `influence` with one thing done differently."""
    return partial(_influence, **choices)


def _with_gradients_left(encoder: Any, ids: Tensor, source: int, target: int) -> float:
    for parameter in encoder.parameters():
        parameter.grad = torch.zeros_like(parameter)
    return float(_influence(encoder, ids, source, target))


def _mode_of_the_whole_alone(encoder: Any, ids: Tensor, source: int, target: int) -> float:
    was = encoder.training
    found: float = _influence(encoder, ids, source, target, mode=False)
    encoder.training = was
    return found


def _by_gradient(measure: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., float]:
    """Return an `influence` that asks autograd; `measure` takes the target's output and x."""

    def influence(encoder: Any, ids: Tensor, source: int, target: int) -> float:
        was = encoder.training
        encoder.eval()
        with torch.no_grad():
            x = encoder.embed(ids.unsqueeze(0))
        x.requires_grad_()
        with torch.enable_grad():
            found = measure(encoder.encode(x)[0, target], x)
        encoder.train(was)
        return float(found[source])

    return influence


def _gradient(of: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda y, x: torch.autograd.grad(of(y), x)[0][0].norm(dim=-1)


def _jacobian(y: Tensor, x: Tensor) -> Tensor:
    rows = [torch.autograd.grad(entry, x, retain_graph=True)[0][0] for entry in y]
    return torch.stack(rows)  # (D, T, D)


_GRADIENTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": _gradient(torch.sum),
    "mean": _gradient(torch.mean),
    "norm": _gradient(torch.linalg.vector_norm),
    "square": _gradient(lambda y: y.square().sum()),
    "jacobian": lambda y, x: _jacobian(y, x).square().sum((0, 2)).sqrt(),
    "jacobian_times_input": lambda y, x: (_jacobian(y, x) * x).sum(-1).norm(dim=0),
    "sum_times_input": lambda y, x: (_jacobian(y, x).sum(0) * x)[0].sum(-1).abs(),
}


def _mean_square(difference: Tensor) -> Tensor:
    return difference.square().mean()


EXERCISES = by_id(
    Exercise(
        PROBES["influence"],
        influence_oracle,
        (
            # Likely ones stand first, because not all pairs are tried.
            Mistake(
                "position_kept",
                "The word is set to zero, but its position is still added afterwards.",
                "Zero the row of what embed returns: word and position together.",
                _influence_variant(zeroed="word"),
            ),
            Mistake(
                "id_zeroed",
                "The id is set to 0 before embed: its position is still added.",
                "Zero the row of what embed returns: word and position together.",
                _influence_variant(zeroed="id"),
            ),
            Mistake(
                "column_zeroed",
                "One entry of every token is set to zero, not every entry of one token.",
                "embed returns (B, T, D): which axis counts tokens?",
                _influence_variant(zeroed="column"),
            ),
            Mistake(
                "every_such_word_zeroed",
                "Every occurrence of the word is set to zero.",
                "One row of embed's result is meant, not a row of the embedding table.",
                _influence_variant(zeroed="every such word"),
            ),
            Mistake(
                "hidden_by_a_mask",
                "The token is taken out of the sentence, or hidden by a mask: no token attends to "
                "it any more.",
                "It stays where it is, as a row of zeros, and can be attended to.",
                _influence_variant(zeroed="mask"),
            ),
            Mistake(
                "ones_for_zeros",
                "The row becomes ones, not zeros.",
                "Nothing of the token should be left: zero in every entry.",
                _influence_variant(zeroed="ones"),
            ),
            Mistake(
                "all_others_zeroed",
                "Every row but the source's is set to zero.",
                "The source is what is taken away; the rest of the sentence stays.",
                _influence_variant(zeroed="other rows"),
            ),
            Mistake(
                "no_root",
                "The squares are summed, and the root is missing.",
                "The L2 norm is the root of the sum of squares.",
                _influence_variant(measure=lambda d: d.square().sum()),
            ),
            Mistake(
                "sum_of_absolute_values",
                "The absolute changes are summed; the L2 norm was asked for.",
                "The L2 norm is the root of the sum of squares.",
                _influence_variant(measure=lambda d: d.abs().sum()),
            ),
            Mistake(
                "source_and_target_swapped",
                "Source and target are swapped.",
                "The source's input is changed; the target's output is looked at.",
                _influence_variant(exchanged=True),
            ),
            Mistake(
                "difference_of_two_norms",
                "Two norms are subtracted; the norm of the difference was asked for.",
                "A vector can turn without growing: subtract first.",
                _influence_variant(compares="norms"),
            ),
            Mistake(
                "change_of_all_outputs",
                "The change of all outputs is measured, not that of the target.",
                "Pick the target's row of the difference first.",
                _influence_variant(whole=True),
            ),
            Mistake(
                "mean_square",
                "The squares are averaged; the L2 norm was asked for.",
                "The L2 norm is the root of the sum of squares.",
                _influence_variant(measure=_mean_square),
            ),
            Mistake(
                "root_mean_square",
                "The squares are averaged before the root is taken; the L2 norm sums them.",
                "The L2 norm is the root of the sum of squares.",
                _influence_variant(measure=lambda d: _mean_square(d).sqrt()),
            ),
            Mistake(
                "largest_change",
                "The largest change of an entry is taken; the L2 norm was asked for.",
                "The L2 norm is the root of the sum of squares.",
                _influence_variant(measure=lambda d: d.abs().max()),
            ),
            Mistake(
                "mean_of_absolute_values",
                "The absolute changes are averaged; the L2 norm was asked for.",
                "The L2 norm is the root of the sum of squares.",
                _influence_variant(measure=lambda d: d.abs().mean()),
            ),
            Mistake(
                "output_without_the_source",
                "The norm of the changed output is taken, not that of the change.",
                "What was the output before? The change is a difference.",
                _influence_variant(compares="after"),
            ),
            Mistake(
                "relative_to_the_output",
                "The change is divided by the length of the output, which makes it a fraction.",
                "The norm of the change itself was asked for.",
                _influence_variant(compares="relative"),
            ),
            Mistake(
                "left_in_eval_mode",
                "The encoder was training, but is left in eval mode.",
                "Remember encoder.training before eval(), and restore it at the end.",
                _influence_variant(mode=False),
            ),
            Mistake(
                "left_in_train_mode",
                "The encoder was in eval mode, but is left in train mode.",
                "Restore the mode that it had: train(was_training).",
                _influence_variant(mode=True),
            ),
            Mistake(
                "parts_left_in_eval_mode",
                "The encoder is back in its old mode, but its layers are not: dropout stays off.",
                "An assignment to .training changes one module; train(...) changes all of its "
                "parts too.",
                _mode_of_the_whole_alone,
            ),
            Mistake(
                "gradients_left",
                "backward() leaves gradients in the encoder's parameters: a training step after it "
                "would use them.",
                "No gradient is needed: put torch.no_grad() around all calls.",
                _with_gradients_left,
            ),
            Mistake(
                "dropout_acts",
                "The encoder, or a part of it such as embed, runs in train mode, so dropout acts.",
                "Switch it to eval mode before anything of it is called.",
                _influence_variant(evaluates=False),
            ),
            Mistake(
                "both_zeroed",
                "Both sentences are the same tensor: setting the row to zero changed the first "
                "one too.",
                "Copy what embed returns before you write into it.",
                _influence_variant(zeroed="both"),
            ),
            Mistake(
                "output_zeroed",
                "A row of the output is set to zero, not one of the input.",
                "Change the embedded input, then encode it.",
                _influence_variant(zeroed="output"),
            ),
            *(
                Mistake(
                    f"gradient_for_the_change_{name}",
                    "A gradient is taken, as in lesson 01: it says what a tiny change would do.",
                    "Here the source's row is set to zero. Encode with it and without it, and "
                    "compare.",
                    _by_gradient(measure),
                )
                for name, measure in _GRADIENTS.items()
            ),
            Mistake(
                "a_tensor",
                "The result is a tensor.",
                "Return a plain number: .item() or float(...).",
                _influence_variant(plain=False),
            ),
        ),
        tolerance=1e-4,
    ),
)
