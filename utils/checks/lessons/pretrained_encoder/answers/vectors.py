"""What is computed from vectors: right answers, and the mistakes that no patch says."""

from collections.abc import Sequence

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.pretrained_encoder.probes import PROBES


def _first_difference(
    ours: Sequence[Tensor], theirs: Sequence[Tensor], real: Tensor, atol: float
) -> int | None:
    """Ask torch's own comparison, state by state."""
    for n, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        try:
            torch.testing.assert_close(mine[real], other[real], rtol=0.0, atol=atol)
        except AssertionError:
            return n
    return None


def _apart(ours: Sequence[Tensor], theirs: Sequence[Tensor], real: Tensor) -> list[float]:
    pairs = zip(ours, theirs, strict=True)
    return [(mine - other)[real].abs().max().item() for mine, other in pairs]


def _largest(
    ours: Sequence[Tensor], theirs: Sequence[Tensor], real: Tensor, atol: float
) -> int | None:
    apart = _apart(ours, theirs, real)
    return apart.index(max(apart)) if not max(apart) <= atol else None


def _last(
    ours: Sequence[Tensor], theirs: Sequence[Tensor], real: Tensor, atol: float
) -> int | None:
    far = [n for n, apart in enumerate(_apart(ours, theirs, real)) if not apart <= atol]
    return far[-1] if far else None


def _vectors(vectors: Tensor, real: Tensor) -> Tensor:
    """Take the rows one by one, and their lengths by torch's vector_norm."""
    rows = []
    for row, kept in zip(vectors, real, strict=True):
        mean = row[kept].sum(0) / max(int(kept.sum()), 1)
        length = torch.linalg.vector_norm(mean)
        rows.append(mean / length if kept.any() else mean)
    return torch.stack(rows)


def _loss(a: Tensor, b: Tensor, scale: float = 20.0) -> Tensor:
    """Subtract what is right from the logarithm of all, in float64."""
    scores = scale * a.double() @ b.double().mT
    return (scores.logsumexp(-1) - scores.diagonal()).mean().to(a.dtype)


EXERCISES = by_id(
    Exercise(
        PROBES["first_difference"],
        _first_difference,
        (
            Mistake(
                "largest_difference",
                "That is the state with the largest difference, not the first that differs.",
                "Differences grow and shrink on the way. Where do they begin?",
                _largest,
            ),
            Mistake(
                "last_difference",
                "That is the last state that differs.",
                "Return at once when a state differs.",
                _last,
            ),
        ),
    ),
    Exercise(PROBES["sentence_vectors"], _vectors),
    Exercise(PROBES["contrastive_loss"], _loss, tolerance=1e-3),  # of gradients at a large scale
)
