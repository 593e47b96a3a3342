"""What the classes of lesson 05 must look like, with a message for each thing that is missing."""

from torch import nn

from utils.checks.calling import AnswerError
from utils.checks.observation import describe

LAYER_PARTS = ("self_attention", "feed_forward", "norm_1", "norm_2")


def require_parts(module: nn.Module, *names: str) -> None:
    """Check that a module has modules of these names, all different objects.

    Raises:
        AnswerError: one is missing, is no module, or is the same object as another.

    """
    found: dict[int, str] = {}
    for name in names:
        part = getattr(module, name, None)
        if not isinstance(part, nn.Module):
            what = "is missing" if part is None else f"is {describe(part)}"
            raise AnswerError("attribute", f"self.{name} {what}; it should be a module.")
        if id(part) in found:
            both = f"self.{found[id(part)]} and self.{name}"
            raise AnswerError("attribute", f"{both} are one object: they share their weights.")
        found[id(part)] = name


def require_layers(encoder: nn.Module, n_layers: int) -> None:
    """Check that ``encoder.layers`` is a ModuleList of so many different layers.

    Raises:
        AnswerError: it is something else.

    """
    layers = getattr(encoder, "layers", None)
    if not isinstance(layers, nn.ModuleList):
        what = "is missing" if layers is None else f"is {describe(layers)}"
        message = f"self.layers {what}; it should be an nn.ModuleList, which registers its parts."
        raise AnswerError("attribute", message)
    if len(layers) != n_layers:
        message = f"self.layers holds {len(layers)} layers; n_layers is {n_layers}."
        raise AnswerError("attribute", message)
    if len({id(layer) for layer in layers}) != n_layers:
        message = f"self.layers holds one layer object {n_layers} times: its weights are shared."
        raise AnswerError("attribute", message)


def require_final_norm(encoder: nn.Module, *, norm_first: bool) -> None:
    """Check that a final norm is there where, and only where, layers normalise first.

    Raises:
        AnswerError: it is missing or one too many.

    """
    norm = getattr(encoder, "final_norm", None)
    if norm is None:
        raise AnswerError("attribute", "self.final_norm is missing.")
    if norm_first and isinstance(norm, nn.Identity):
        message = "With norm_first nothing has normalised the last layer's output: "
        raise AnswerError("attribute", message + "self.final_norm should be a LayerNorm.")
    if not norm_first and not isinstance(norm, nn.Identity):
        message = "Without norm_first the last layer ends with a norm already: "
        raise AnswerError("attribute", message + "self.final_norm should be nn.Identity().")


def require_padding_idx(encoder: nn.Module, padding_idx: int) -> None:
    """Check that an encoder tells its padding id.

    Raises:
        AnswerError: it does not, or another one.

    """
    found = getattr(encoder, "padding_idx", None)
    if found != padding_idx:
        what = "is missing" if found is None else f"is {found!r}"
        raise AnswerError("attribute", f"self.padding_idx {what}; it should be {padding_idx}.")
