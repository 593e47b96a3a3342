"""Requirements on the classes of lesson 05, with a message for each thing that is missing."""

from torch import nn

from utils.checks.observation import AnswerError, ProblemKind, describe

DEFAULT_DROPOUT = 0.1  # the stubs'
LAYER_PARTS = ("self_attention", "feed_forward", "norm_1", "norm_2")


def require_parts(module: nn.Module, *names: str) -> None:
    """Check that a module has submodules of these names, all different objects.

    Raises:
        AnswerError: one is missing, is not a module, or is the same object as another.

    """
    found: dict[int, str] = {}
    for name in names:
        part = getattr(module, name, None)
        if not isinstance(part, nn.Module):
            what = "is missing" if part is None else f"is {describe(part)}"
            raise AnswerError(ProblemKind.ATTRIBUTE, f"self.{name} {what}; it should be a module.")
        if id(part) in found:
            both = f"self.{found[id(part)]} and self.{name}"
            raise AnswerError(
                ProblemKind.ATTRIBUTE, f"{both} are one object: they share their weights."
            )
        found[id(part)] = name


def require_gain_and_bias(norm: nn.Module) -> None:
    """Check that a norm has attributes ``weight`` and ``bias``.

    Raises:
        AnswerError: one is missing (whether it is a parameter is not checked here).

    """
    for name, what in (("weight", "gain"), ("bias", "bias")):
        if not hasattr(norm, name):
            message = f"self.{name} is missing; the {what} must be called {name}."
            raise AnswerError(ProblemKind.ATTRIBUTE, message)


def dropout_of(part: object) -> float | None:
    """Return the dropout rate of a part; None if it does not tell."""
    rate = getattr(part, "dropout", None)
    rate = getattr(rate, "p", rate)
    return float(rate) if isinstance(rate, int | float) else None  # norm_first may stand there


def require_dropout(encoder: nn.Module, dropout: float) -> None:
    """Check that the positions and every layer were made with the encoder's dropout.

    Raises:
        AnswerError: some have another rate (a part that does not tell its rate is no fault).

    """
    layers = encoder.get_submodule("layers").named_children()
    parts = {"self.positions": encoder.get_submodule("positions")}
    parts |= {f"self.layers[{name}]": layer for name, layer in layers}
    rates = {name: dropout_of(part) for name, part in parts.items()}
    other = [f"{name} has {rate}" for name, rate in rates.items() if rate not in {None, dropout}]
    if other:
        message = f"dropout is {dropout}, and did not reach all parts: {', '.join(other)}."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)


def require_layers(encoder: nn.Module, n_layers: int) -> None:
    """Check that ``encoder.layers`` is a ModuleList of n_layers different layers.

    Raises:
        AnswerError: it is not.

    """
    layers = getattr(encoder, "layers", None)
    if not isinstance(layers, nn.ModuleList):
        what = "is missing" if layers is None else f"is {describe(layers)}"
        message = f"self.layers {what}; it should be an nn.ModuleList, which registers its parts."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)
    if len(layers) != n_layers:
        message = f"self.layers holds {len(layers)} layers; n_layers is {n_layers}."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)
    if len({id(layer) for layer in layers}) != n_layers:
        message = f"self.layers holds one layer object {n_layers} times: its weights are shared."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)


def require_final_norm(encoder: nn.Module, *, norm_first: bool) -> None:
    """Check that there is a final norm if, and only if, layers normalise first.

    Raises:
        AnswerError: it is missing, or there is one too many.

    """
    norm = getattr(encoder, "final_norm", None)
    if norm is None:
        raise AnswerError(ProblemKind.ATTRIBUTE, "self.final_norm is missing.")
    if norm_first and isinstance(norm, nn.Identity):
        message = "With norm_first nothing has normalised the last layer's output: "
        raise AnswerError(ProblemKind.ATTRIBUTE, message + "self.final_norm should be a LayerNorm.")
    if not norm_first and not isinstance(norm, nn.Identity):
        message = "Without norm_first the last layer ends with a norm already: "
        raise AnswerError(
            ProblemKind.ATTRIBUTE, message + "self.final_norm should be nn.Identity()."
        )


def require_padding_idx(encoder: nn.Module, padding_idx: int) -> None:
    """Check that an encoder stores its padding id.

    Raises:
        AnswerError: it stores none, or another one.

    """
    found = getattr(encoder, "padding_idx", None)
    if found != padding_idx:
        what = "is missing" if found is None else f"is {found!r}"
        raise AnswerError(
            ProblemKind.ATTRIBUTE, f"self.padding_idx {what}; it should be {padding_idx}."
        )
