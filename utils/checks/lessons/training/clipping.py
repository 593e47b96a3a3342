"""Ways to clip gradients, one right and the rest wrong, from which known mistakes are made."""

from collections.abc import Sequence

from torch import Tensor, nn

Groups = Sequence[Sequence[Tensor]]  # an optimiser's parameters, as it groups them


def by_norm(groups: Groups, clip: float) -> None:
    """Cut all gradients by their common norm, as is asked."""
    nn.utils.clip_grad_norm_(all_of(groups), clip)


def all_of(groups: Groups) -> list[Tensor]:
    """Return the parameters of all groups."""
    return [parameter for group in groups for parameter in group]


def by_largest(groups: Groups, clip: float) -> None:
    """Cut all gradients by their largest entry."""
    nn.utils.clip_grad_norm_(all_of(groups), clip, norm_type=float("inf"))


def by_value(groups: Groups, clip: float) -> None:
    """Cut each entry by itself."""
    nn.utils.clip_grad_value_(all_of(groups), clip)


def each_alone(groups: Groups, clip: float) -> None:
    """Cut each parameter's gradient by itself."""
    each_group([[parameter] for parameter in all_of(groups)], clip)


def each_group(groups: Groups, clip: float) -> None:
    """Cut each group's gradients by themselves."""
    for group in groups:
        nn.utils.clip_grad_norm_(group, clip)


def always(groups: Groups, clip: float) -> None:
    """Make all gradients as long as the limit, short ones too."""
    gradients = [p.grad for p in all_of(groups) if p.grad is not None]
    total = nn.utils.get_total_norm(gradients)
    for gradient in gradients:
        gradient.mul_(clip / (total + 1e-6))


def first_group(groups: Groups, clip: float) -> None:
    """Cut the gradients of the first group alone."""
    by_norm(groups[:1], clip)


def matrices_alone(groups: Groups, clip: float) -> None:
    """Cut the gradients of what has two axes or more."""
    by_norm([[parameter for parameter in all_of(groups) if parameter.ndim > 1]], clip)
