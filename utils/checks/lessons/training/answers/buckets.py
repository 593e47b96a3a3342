"""Batches within a budget: an independent right answer."""

from collections.abc import Sequence

import torch
from torch import Generator

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.training.bucket_facts import bucket_facts
from utils.checks.lessons.training.probes import PROBES


def buckets_oracle(
    lengths: Sequence[int], max_tokens: int, generator: Generator | None = None
) -> list[list[int]]:
    """Sort longest first, so that the first sentence of a batch tells how many fit."""
    order = torch.tensor(lengths, dtype=torch.long).sort(descending=True, stable=True)
    batches, start = [], 0
    while start < len(lengths):
        room = max(max_tokens // max(int(order.values[start]), 1), 1)
        batches.append(order.indices[start : start + room].tolist())
        start += room
    return [batches[n] for n in torch.randperm(len(batches), generator=generator).tolist()]


EXERCISES = by_id(Exercise(PROBES["bucket_batches"], buckets_oracle, facts=bucket_facts))
