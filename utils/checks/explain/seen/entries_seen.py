"""True sentences on the entries of shares and of flags, where no known mistake explains them."""

from collections.abc import Iterator

import numpy as np
import torch

from utils.checks.compare.compare import number
from utils.checks.exercise import Inputs
from utils.checks.observation import Array
from utils.words import counted

_APART = 1e-3  # more than rounding


def are_shares(wanted: object) -> bool:
    """Return whether each row of a result is shared out: it sums to one, or to zero."""
    if not isinstance(wanted, np.ndarray) or wanted.dtype.kind != "f" or wanted.ndim < 2:
        return False
    sums = wanted.sum(-1)
    whole = np.isclose(sums, 1.0, atol=1e-4) | np.isclose(sums, 0.0, atol=1e-4)
    return bool(whole.all() and wanted.any() and np.greater_equal(wanted, 0).all())


def of_shares(name: str, wanted: Array, got: Array) -> Iterator[str]:
    """Say what rows sum to and, if they sum rightly, whether they are too even or too decided."""
    if not are_shares(wanted):
        return
    rows = np.allclose(got.sum(-1), wanted.sum(-1), atol=1e-4)
    columns = np.allclose(got.sum(-2), 1.0, atol=1e-4)
    if columns and not rows:
        yield (
            f"The columns of {name} sum to one, but the rows do not: which axis does softmax run "
            "over?"
        )
    elif not rows and got.size and np.isfinite(got).all():
        at = np.abs(got.sum(-1) - wanted.sum(-1)).argmax()
        right = "one" if wanted.sum(-1).flat[at] > 0.5 else "zero: nothing is allowed in it"
        yield f"A row of {name} sums to {number(got.sum(-1).flat[at])}, not to {right}."
    elif rows and (np.argsort(wanted, kind="stable") == np.argsort(got, kind="stable")).all():
        yield from _evenness(name, wanted.max(-1), got.max(-1))


def _evenness(name: str, wanted: Array, got: Array) -> Iterator[str]:
    """Compare the largest weights of rows whose order is right."""
    says = f"Each row of {name} is in the right order, but"
    more = got.astype(np.float64) - wanted.astype(np.float64)
    if more.max() < _APART and more.min() < -_APART:
        yield f"{says} too even: as if from scores that are too small."
    elif more.min() > -_APART and more.max() > _APART:
        yield f"{says} too sharp: as if from scores that are too large."


def of_flags(name: str, wanted: Array, got: Array) -> Iterator[str]:
    """Say of truth values which of the two is at wrong places, if only one is."""
    missing, more = (int(np.greater(*pair).sum()) for pair in ((wanted, got), (got, wanted)))
    if not (wanted == got).any():
        yield f"{name} is exactly upside down: True where it should be False."
    elif not more or not missing:
        now, right = ("False", "True") if missing else ("True", "False")
        where = counted(missing + more, "place")
        yield f"{name} is {now} at {where} where it should be {right}, and right at all others."


def of_no_number(name: str, got: object, inputs: Inputs) -> str:
    """Say that a result is NaN or infinite throughout, and whether its inputs are not."""
    entries = np.asarray(got, dtype=np.float64)
    kinds = {"NaN": np.isnan(entries).any(), "infinite": np.isinf(entries).any()}
    what = " or ".join(kind for kind, there in kinds.items() if there)
    finite = all(torch.isfinite(x).all() for x in inputs.values() if isinstance(x, torch.Tensor))
    says = f"{name} is {what}" if entries.ndim == 0 else f"Every entry of {name} is {what}"
    return f"{says}, though all inputs are finite." if finite else f"{says}."
