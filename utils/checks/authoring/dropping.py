"""What dropout does to single entries, told by facts that hold whatever numbers are drawn."""

from collections.abc import Sequence

from torch import Tensor

FEW = 0.1  # how far the dropped share may be from the rate: five deviations of 500 entries


def factor_of(entries: Tensor, before: Tensor, small: float) -> float:
    """Return what all entries were multiplied by, to two digits; 0 if that is not one number.

    Args:
        entries: what is left, (n,).
        before: what was there, (n,), none of it near 0.
        small: how far the factors may differ.

    """
    factors = entries / before
    if not factors.numel() or bool((factors - factors[0]).abs().max() > small):
        return 0.0
    return round(factors[0].item(), 2)


def facts_of_dropping(
    dropped: Tensor, kept: Tensor, rate: float, together: Sequence[str]
) -> dict[str, object]:
    """Tell whether as many entries are dropped as asked, and each of them by itself.

    Args:
        dropped: True where an entry is dropped.
        kept: True where one is left, of the same shape. Where neither holds, nothing is known.
        rate: the share that was asked for.
        together: for each axis, what is dropped at once if all along it share one fate.

    """
    n_dropped, n_kept = int(dropped.sum()), int(kept.sum())
    found = n_dropped / max(n_dropped + n_kept, 1)
    more = "more than asked" if found > rate else "less than asked"
    return {
        "share that is dropped": "as asked" if abs(found - rate) < FEW else more,
        "what is dropped at once": _at_once(dropped, kept, together),
    }


def _at_once(dropped: Tensor, kept: Tensor, together: Sequence[str]) -> str:
    if not dropped.any() or not kept.any():
        return "single entries"
    both = [bool((dropped.any(axis) & kept.any(axis)).any()) for axis in range(dropped.ndim)]
    alike = [what for what, mixed in zip(together, both, strict=True) if not mixed]
    return ", ".join(alike) or "single entries"
