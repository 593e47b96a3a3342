"""MultiHeadAttention: the oracle, laws, and the mistakes that no patch of its body says."""

import torch

from utils.checks.authoring.common_mistakes import keep_module, no_forward, no_set_up
from utils.checks.exercise import Exercise, Inputs, Invariant, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES
from utils.checks.observation import Observation
from utils.reference import modules
from utils.reference.attention.torch_heads import TorchHeads


def _has_weights(seen: Observation) -> bool:
    return "weights" in seen.values


def rows_sum_to_one(inputs: Inputs, seen: Observation) -> bool:
    """Check that each row of weights sums to one in each head, or to zero if nothing is allowed."""
    if not _has_weights(seen):
        return True
    weights = torch.as_tensor(seen.values["weights"])
    mask = inputs["mask"]
    wanted = torch.ones(1) if mask is None else mask.any(-1).float().unsqueeze(1)
    return torch.allclose(weights.sum(-1).float(), wanted.expand(weights.shape[:-1]), atol=1e-4)


def blocked_keys_weigh_nothing(inputs: Inputs, seen: Observation) -> bool:
    """Check that keys under the mask have no weight in any head."""
    if not _has_weights(seen) or inputs["mask"] is None:
        return True
    return not (torch.as_tensor(seen.values["weights"]) * ~inputs["mask"].unsqueeze(1)).any()


def alone_as_in_the_batch(inputs: Inputs, seen: Observation) -> bool:
    """Check that the last sentence gives the same alone as in the padded batch."""
    if "output of the last sentence alone" not in seen.values:
        return True
    alone = torch.as_tensor(seen.values["output of the last sentence alone"])
    padded = torch.as_tensor(seen.values["output"])[-1:, : alone.shape[1]]
    return torch.allclose(alone, padded, atol=1e-4)


LAWS = (
    Invariant(
        "Each row of weights must sum to one in every head (zero where nothing is allowed).",
        rows_sum_to_one,
    ),
    Invariant("A key under the mask must have weight zero.", blocked_keys_weigh_nothing),
    Invariant("A sentence must give the same alone as in a padded batch.", alone_as_in_the_batch),
)


EXERCISES = by_id(
    Exercise(
        PROBES["MultiHeadAttention"],
        TorchHeads,
        (
            no_forward("MultiHeadAttention", modules.MultiHeadAttention),
            no_set_up("MultiHeadAttention", keep_module),
        ),
        LAWS,
    )
)
