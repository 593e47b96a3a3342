"""Weights from torch's encoder: right answers and common mistakes."""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.probes.weights import torch_names
from utils.reference import modules


@by_choices
def _loader(
    *,
    order: tuple[int, int, int] = (0, 1, 2),
    thirds: bool = False,
    turned: str = "",
    swaps_norms: bool = False,
    shares: str = "copy",
    depth_checked: str = "first",
    final: str = "if there",
    most: int = 99,
    from_first: bool = False,
    **skipped: str,
) -> Any:
    """Build a load_torch_encoder that mixes up names or forgets something.

    Args:
        order: which third of the stacked projections w_q, w_k and w_v get.
        thirds: whether these thirds are every third row.
        turned: pattern of the names of weights that are transposed.
        swaps_norms: whether norm_1 gets norm2's weights.
        shares: how a parameter gets its numbers: "copy", the same "tensor", a new "parameter", or
            written while gradients are "recorded".
        depth_checked: whether depths are compared "first", "last" or "never", or only to refuse
            one that has more ("if deeper").
        final: whether the last norm is copied "if there", "always" or "never"; always by the name
            of "yours" or of "torch's" weight.
        most: how many layers are loaded.
        from_first: whether all layers get the weights of torch's first.
        skipped: patterns of the names of what is left out, each by any keyword.

    """

    def load(encoder: Any, torch_encoder: Any) -> None:
        same_depth = len(encoder.layers) == len(torch_encoder.layers)
        deeper = len(torch_encoder.layers) > len(encoder.layers)
        if not same_depth and (
            depth_checked == "first" or (depth_checked == "if deeper" and deeper)
        ):
            raise ValueError("different numbers of layers")
        theirs = [dict(layer.named_parameters()) for layer in torch_encoder.layers]
        theirs = theirs[:1] * len(encoder.layers) if from_first else theirs
        for layer, tensors in list(zip(encoder.layers, theirs, strict=False))[:most]:
            changed = _stacked(tensors, order, thirds=thirds)
            for name, tensor in _ours(_swapped(changed) if swaps_norms else changed).items():
                if not any(re.search(pattern, name) for pattern in skipped.values()):
                    turns = turned and tensor.dim() == 2 and re.search(turned, name)
                    _set(layer, name, tensor.T if turns else tensor, shares)
        named = {"always, yours": encoder.final_norm, "always, torch's": torch_encoder.norm}
        if final in named:
            _ = named[final].weight
        if "always" in final or (final == "if there" and torch_encoder.norm is not None):
            encoder.final_norm.load_state_dict(torch_encoder.norm.state_dict())
        if depth_checked == "last" and not same_depth:
            raise ValueError("different numbers of layers")

    return load


def _biases_unless_zero(encoder: Any, torch_encoder: Any) -> None:
    biases = [p for name, p in torch_encoder.named_parameters() if name.endswith("bias")]
    whole = any(bool(bias.any()) for bias in biases)
    (_loader() if whole else _loader(biases="bias$"))(encoder, torch_encoder)


def _ours(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename torch's tensors by looking up where torch_names puts each of ours."""
    names = [name for name, _ in modules.EncoderLayer(2, 1, 2).named_parameters()]
    marks = {name: torch.tensor([float(n)]) for n, name in enumerate(names)}
    found = {}
    for torch_name, places in torch_names(marks).items():
        for place, part in zip(places, theirs[torch_name].chunk(len(places)), strict=True):
            found[names[int(place)]] = part
    return found


def _set(layer: nn.Module, name: str, tensor: Tensor, shares: str) -> None:
    parameter = layer.get_parameter(name)
    if shares == "tensor":
        parameter.data = tensor.data
    elif shares == "parameter":
        path, _, last = name.rpartition(".")
        setattr(layer.get_submodule(path), last, nn.Parameter(tensor.detach().clone()))
    else:
        with torch.set_grad_enabled(shares == "recorded"):
            parameter.copy_(tensor)


def _stacked(
    theirs: dict[str, Tensor], order: tuple[int, int, int], *, thirds: bool
) -> dict[str, Tensor]:
    """Put the stacked projections in another order."""
    stacked = {n: t for n, t in theirs.items() if "in_proj" in n}
    parts = {n: [t[k::3] for k in range(3)] if thirds else t.chunk(3) for n, t in stacked.items()}
    return theirs | {n: torch.cat([found[k] for k in order]) for n, found in parts.items()}


def _swapped(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    other = {"norm1": "norm2", "norm2": "norm1"}
    names = {n: n.split(".")[0] for n in theirs}
    return {n: theirs[n.replace(p, other[p]) if p in other else n] for n, p in names.items()}


def _then(change: Callable[[Any], object]) -> Any:
    """Build a right load_torch_encoder that then does something more to the encoder."""

    def load(encoder: Any, torch_encoder: Any) -> None:
        _loader()(encoder, torch_encoder)
        change(encoder)

    return load


def _to_theirs(change: Callable[[Any], object]) -> Any:
    """Build a right load_torch_encoder that then does something to torch's encoder."""

    def load(encoder: Any, torch_encoder: Any) -> None:
        _loader()(encoder, torch_encoder)
        change(torch_encoder)

    return load


def _backwards(encoder: Any, torch_encoder: Any) -> None:
    """Write into torch's encoder, and leave one's own as it was."""
    if len(encoder.layers) != len(torch_encoder.layers):
        raise ValueError("different numbers of layers")
    with torch.no_grad():
        for mine, theirs in zip(encoder.layers, torch_encoder.layers, strict=True):
            theirs.linear1.weight.copy_(mine.feed_forward.linear_1.weight)


def _nothing(encoder: Any, torch_encoder: Any) -> None:
    """Compare the depths, and write into neither encoder."""
    if len(encoder.layers) != len(torch_encoder.layers):
        raise ValueError("different numbers of layers")


EXERCISES = by_id(
    Exercise(
        PROBES["load_torch_encoder"],
        _loader(),
        (
            Mistake(
                "weights_shared",
                "Both encoders now hold the same tensors: training one would change the other.",
                "Copy the numbers into your parameters (copy_), inside torch.no_grad().",
                _loader(shares="tensor"),
            ),
            Mistake(
                "queries_and_keys_swapped",
                "Queries and keys are swapped.",
                "torch stacks them in the order q, k, v.",
                _loader(order=(1, 0, 2)),
            ),
            Mistake(
                "keys_and_values_swapped",
                "Keys and values are swapped.",
                "torch stacks them in the order q, k, v.",
                _loader(order=(0, 2, 1)),
            ),
            *(
                Mistake(
                    f"thirds_in_the_order_{letters}",
                    f"The three thirds are taken for {letters[0]}, {letters[1]} and {letters[2]}.",
                    "torch stacks them in the order q, k, v.",
                    _loader(order=order),
                )
                for letters, order in (("kvq", (2, 0, 1)), ("vqk", (1, 2, 0)))
            ),
            Mistake(
                "queries_and_values_swapped",
                "Queries and values are swapped.",
                "torch stacks them in the order q, k, v.",
                _loader(order=(2, 1, 0)),
            ),
            Mistake(
                "every_third_row",
                "w_q, w_k and w_v got every third row of what torch has stacked.",
                "The three are stacked whole, one on top of another: first all rows of q, then "
                "all of k, then all of v.",
                _loader(thirds=True),
            ),
            *(
                Mistake(
                    name,
                    f"{said} are transposed.",
                    "nn.Linear and torch's attention both store (out, in).",
                    _loader(turned=pattern),
                )
                for name, said, pattern in (
                    ("transposed", "The attention's matrices", r"attention\."),
                    ("projections_transposed", "The matrices of w_q, w_k and w_v", r"w_[qkv]\."),
                    ("output_projection_transposed", "The numbers of w_o", r"w_o\."),
                )
            ),
            Mistake(
                "norms_swapped",
                "norm_1 got the weights of norm2, and norm_2 those of norm1.",
                "Both are numbered in the order in which x meets them.",
                _loader(swaps_norms=True),
            ),
            Mistake(
                "biases_of_zero_not_loaded",
                "Biases that are zero are not loaded, so the old ones stay.",
                "A new module of torch's has biases of zero, and they are biases like any others.",
                _biases_unless_zero,
            ),
            Mistake(
                "biases_forgotten",
                "The biases kept their old values.",
                "in_proj_bias, out_proj.bias, linear1.bias ...: each weight has one.",
                _loader(biases="bias$"),
            ),
            *(
                Mistake(
                    f"{name}_forgotten",
                    f"{said} kept their old values.",
                    "Go through the table of names row by row: each weight has a bias, too.",
                    _loader(**{name: pattern}),
                )
                for name, said, pattern in (
                    ("biases_of_the_projections", "The biases of w_q, w_k and w_v", r"w_[qkv]\.b"),
                    ("projections", "w_q, w_k and w_v", r"w_[qkv]\."),
                    ("linear_1", "The numbers of linear_1", "linear_1"),
                    ("linear_2", "The numbers of linear_2", "linear_2"),
                    ("norm_1", "Gain and bias of norm_1", "norm_1"),
                    ("norm_2", "Gain and bias of norm_2", "norm_2"),
                )
            ),
            Mistake(
                "output_projection_forgotten",
                "The attention's output projection kept its old values.",
                "torch calls it out_proj.",
                _loader(w_o="w_o"),
            ),
            Mistake(
                "feed_forward_forgotten",
                "The feed-forward kept its old values.",
                "torch has linear1 and linear2 in the layer itself.",
                _loader(feed_forward="feed_forward"),
            ),
            Mistake(
                "norms_forgotten",
                "The norms kept their old values.",
                "Their gain and bias are learned, so they have to be copied too.",
                _loader(norms="norm"),
            ),
            Mistake(
                "first_layer_only",
                "Only the first layer was loaded.",
                "Go through both lists of layers side by side.",
                _loader(most=1),
            ),
            Mistake(
                "all_layers_from_the_first",
                "All layers got the weights of torch's first layer.",
                "Go through both lists of layers side by side.",
                _loader(from_first=True),
            ),
            *(
                Mistake(
                    f"final_norm_that_is_none{how}",
                    "In post-norm there is no last norm: torch_encoder.norm is None and "
                    "final_norm is nn.Identity, but one of them is asked for its numbers anyway.",
                    "Check before you copy: is there a norm?",
                    _loader(final=final),
                )
                for how, final in (
                    ("", "always"),
                    ("_asked_by_name", "always, yours"),
                    ("_asking_torch_by_name", "always, torch's"),
                )
            ),
            Mistake(
                "written_while_gradients_are_recorded",
                "A parameter is written while gradients are recorded, which torch refuses.",
                "Copy under `with torch.no_grad():`, or let load_state_dict do it.",
                _loader(shares="recorded"),
            ),
            Mistake(
                "parameters_replaced",
                "The encoder has new parameters: an optimiser made before would train the old "
                "ones.",
                "Write the numbers into the existing parameters: `copy_`, or load_state_dict.",
                _loader(shares="parameter"),
            ),
            Mistake(
                "loaded_before_the_error",
                "ValueError comes too late: some layers have been overwritten by then.",
                "Compare the depths before the first number is copied.",
                _loader(depth_checked="last"),
            ),
            Mistake(
                "final_norm_forgotten",
                "With norm_first, torch's encoder has a last norm, which was not copied.",
                "torch_encoder.norm is None in post-norm, and a LayerNorm in pre-norm.",
                _loader(final="never"),
            ),
            Mistake(
                "frozen",
                "After loading, the parameters cannot be trained any more.",
                "Under torch.no_grad() a parameter can be written without freezing it.",
                _then(lambda encoder: encoder.requires_grad_(False)),
            ),
            Mistake(
                "left_in_eval_mode",
                "Loading changes the mode of the encoder, train or eval.",
                "Copy numbers and nothing else: the mode is the caller's decision.",
                _then(lambda encoder: encoder.eval()),
            ),
            Mistake(
                "embedding_overwritten",
                "The numbers of the embedding have changed, but torch's encoder has no embedding "
                "to load.",
                "Load the layers and final_norm, nothing else.",
                _then(lambda encoder: nn.init.zeros_(encoder.embedding.weight)),
            ),
            Mistake(
                "torch_encoder_left_in_eval_mode",
                "Loading changes the mode of torch's encoder, train or eval.",
                "Read its weights, and change nothing else in it.",
                _to_theirs(lambda theirs: theirs.eval()),
            ),
            Mistake(
                "torch_encoder_frozen",
                "Loading freezes torch's encoder: its parameters ask for no gradient any more.",
                "To read its numbers without gradients, use torch.no_grad() or detach(): both "
                "leave the parameters as they are.",
                _to_theirs(lambda theirs: theirs.requires_grad_(False)),
            ),
            Mistake(
                "copied_the_other_way",
                "The copy goes the wrong way: torch's encoder gets your weights.",
                "copy_ writes into the tensor on its left: that has to be your parameter.",
                _backwards,
            ),
            Mistake(
                "nothing_written",
                "Nothing was written into your encoder: all its numbers are the old ones.",
                "Follow one number: is it written into the encoder's own parameter, or into a "
                "copy? load_state_dict(strict=False) skips names that do not fit.",
                _nothing,
            ),
            Mistake(
                "deeper_encoders_alone_refused",
                "A torch encoder with fewer layers is accepted: your last layers keep their old "
                "weights, without an error.",
                "The depths have to be equal: compare them with !=.",
                _loader(depth_checked="if deeper"),
            ),
            Mistake(
                "depths_not_compared",
                "A torch encoder with another number of layers is accepted: only as many layers as "
                "both have are copied, without an error.",
                "zip stops at the shorter list unless it is strict.",
                _loader(depth_checked="never"),
            ),
        ),
    ),
)
