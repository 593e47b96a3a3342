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


def by_absolute_values(groups: Groups, clip: float) -> None:
    """Cut all gradients by the sum of their absolute values."""
    nn.utils.clip_grad_norm_(all_of(groups), clip, norm_type=1.0)


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
    gradients = _found(groups)
    total = nn.utils.get_total_norm(gradients)
    for gradient in gradients:
        gradient.mul_(clip / (total + 1e-6))


def is_short(groups: Groups, clip: float) -> bool:
    """Return whether all gradients together are within the limit."""
    return bool(nn.utils.get_total_norm(_found(groups)) <= clip)


def _found(groups: Groups) -> list[Tensor]:
    return [p.grad for p in all_of(groups) if p.grad is not None]


def _shorten(groups: Groups, clip: float, length: float) -> None:
    for gradient in _found(groups) if length > clip else ():
        gradient.mul_(clip / length)


def by_the_square(groups: Groups, clip: float) -> None:
    """Take the sum of all squares for the norm."""
    _shorten(groups, clip, sum(float(gradient.square().sum()) for gradient in _found(groups)))


def by_the_sum(groups: Groups, clip: float) -> None:
    """Add the norms of the parameters' gradients."""
    _shorten(groups, clip, sum(float(gradient.norm()) for gradient in _found(groups)))


def first_group(groups: Groups, clip: float) -> None:
    """Cut the gradients of the first group alone."""
    by_norm(groups[:1], clip)


def matrices_alone(groups: Groups, clip: float) -> None:
    """Cut the gradients of what has two axes or more."""
    by_norm([[parameter for parameter in all_of(groups) if parameter.ndim > 1]], clip)
