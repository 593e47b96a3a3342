"""Which learning rates does an encoder bear, post-norm or pre-norm? `python -m bench norm_order`.

Lesson 05 looks at gradients of fresh weights; whether they matter only training can tell. So here
encoders of 2 and of 12 layers learn to name a word's neighbour two places back (lesson 04's task),
in both orders, at five learning rates, with the rate at its full height at once or after a warm-up.
"""

from itertools import product
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.experiments import word_order_task as task
from utils.experiments.train import train
from utils.reference.modules import TransformerEncoder

RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
DEPTHS, WARM_UPS, SEEDS = (2, 12), (0, 100), (0, 1, 2)
STEPS, WIDTH, UNSEEN = 300, 32, 200
ORDERS = {"post-norm": False, "pre-norm": True}


class Tagger(nn.Module):
    """An encoder, and a linear layer that reads a tag off each token.

    Args:
        depth: number of layers.
        norm_first: whether the order is pre-norm.

    """

    def __init__(self, depth: int, norm_first: bool) -> None:
        super().__init__()
        self.encoder = TransformerEncoder(
            task.VOCABULARY, WIDTH, 4, depth, 2 * WIDTH, task.LENGTH, 0.0, norm_first
        )
        task.redraw(self.encoder.embedding, WIDTH**-0.5)  # as in the paper: words as long as places
        self.guess = nn.Linear(WIDTH, task.N_TAGS)

    def forward(self, ids: Tensor) -> Tensor:
        """Score the tags: ids (B, T) -> (B, T, N_TAGS)."""
        scores: Tensor = self.guess(self.encoder(ids))
        return scores


def measure() -> dict[str, Any]:
    """Return, by depth, order and warm-up, the share right for each rate and seed."""
    torch.set_num_threads(1)
    found = {
        f"{depth} layers, {order}, warm-up {warm_up}": [
            [share_right(depth, ORDERS[order], warm_up, rate, seed) for seed in SEEDS]
            for rate in RATES
        ]
        for depth, order, warm_up in product(DEPTHS, ORDERS, WARM_UPS)
    }
    return {"rates": RATES, "seeds": SEEDS, "steps": STEPS, "guessing": 1 / task.N_TAGS} | {
        "right": found
    }


def share_right(depth: int, norm_first: bool, warm_up: int, rate: float, seed: int) -> float:
    """Train one encoder, and return how many tags of unseen sentences it names."""
    torch.manual_seed(seed)
    tagger = Tagger(depth, norm_first)

    def loss(generator: torch.Generator) -> Tensor:
        batch = task.look_back_sentences(task.BATCH, task.LENGTH, generator)
        return F.cross_entropy(tagger(batch.words).flatten(0, 1), batch.tags.flatten())

    train(tagger, loss, steps=STEPS, seed=seed, rate=rate, warm_up=warm_up)
    return examined(tagger)


@torch.no_grad()
def examined(tagger: Tagger) -> float:
    """Return the share of tags of unseen sentences that a tagger names."""
    unseen = task.look_back_sentences(UNSEEN, task.LENGTH, seed=99)
    asked = unseen.tags != task.NO_TAG
    right = tagger.eval()(unseen.words).argmax(-1) == unseen.tags
    return float(round(right[asked].float().mean().item(), 4))
