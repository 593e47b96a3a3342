"""Batches within a budget with one part done wrong, from which known mistakes are made."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Generator

from utils.checks.combining import by_choices

STRETCH = 100  # sentences
NEAR = {"in fours": 4, "in pairs": 2}  # so many batches change places with one another
Batches = list[list[int]]
Fits = Callable[[Sequence[int], int], bool]
Change = Callable[[Batches, Sequence[int], Sequence[int]], Batches]
Shuffle = Literal[
    "batches",
    "nothing",
    "inside",
    "unseeded",
    "by the seed",
    "by seeds alone",
    "always alike",
    "seeded anew",
    "moved on",
    "with replacement",
    "in fours",
    "in pairs",
    "by torch's first seed",
    "by Python",
    "by Python without a generator",
    "by the seed, or by Python",
]


def padded_fits(sizes: Sequence[int], budget: int) -> bool:
    """Return whether the padded size of these sentences is within the budget."""
    return max(sizes) * len(sizes) <= budget


def sum_fits(sizes: Sequence[int], budget: int) -> bool:
    """Count real words alone."""
    return sum(sizes) <= budget


def count_fits(sizes: Sequence[int], budget: int) -> bool:
    """Count sentences."""
    return len(sizes) <= budget


def fits_before(sizes: Sequence[int], budget: int) -> bool:
    """Ask whether the batch fits without its newest sentence."""
    return len(sizes) == 1 or padded_fits(sizes[:-1], budget)


def was_not_full(sizes: Sequence[int], budget: int) -> bool:
    """Ask whether there was any room at all before the newest sentence."""
    return len(sizes) == 1 or max(sizes[:-1]) * len(sizes[:-1]) < budget


def fits_without_the_new(sizes: Sequence[int], budget: int) -> bool:
    """Leave the room of the newest sentence out."""
    return max(sizes) * (len(sizes) - 1) <= budget


@by_choices
def buckets(
    *,
    fits: Fits = padded_fits,
    by_length: bool = True,
    ties: str = "in order",
    shuffle: Shuffle = "batches",
    cut: Callable[[Sequence[int], Sequence[int], int, Fits], Batches] | None = None,
    change: Change = lambda batches, order, lengths: batches,
    in_place: bool = False,
) -> Callable[..., Any]:
    """Build a bucket_batches with the given choices.

    Args:
        fits: (lengths of a batch, budget) -> whether the batch is small enough.
        by_length: whether sentences are ordered by length; else as drawn.
        ties: whether sentences of one length stay "in order" or come "as drawn".
        shuffle: what the generator reorders.
        cut: another way to cut the ordered sentences into batches.
        change: (batches, order of the sentences, lengths) -> the batches that are returned.
        in_place: whether the caller's list is sorted first, so that numbers are places in it.

    """

    def build(
        lengths: Sequence[int], max_tokens: int, generator: Generator | None = None
    ) -> Batches:
        if in_place and isinstance(lengths, list):
            lengths.sort()
        order = torch.randperm(len(lengths), generator=generator).tolist()
        order = order if ties == "as drawn" or not by_length else sorted(order)
        order = sorted(order, key=lengths.__getitem__) if by_length else order
        batches = (cut or _cut)(order, lengths, max_tokens, fits)
        return change(_shuffled(batches, shuffle, generator), order, lengths)

    return build


def _cut(order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits) -> Batches:
    batches: Batches = []
    sizes: list[int] = []  # of the last batch
    for n in order:
        sizes.append(lengths[n])
        if batches and fits(sizes, budget):
            batches[-1].append(n)
        else:
            batches.append([n])
            sizes = sizes[-1:]
    return batches


def cut_once(order: Sequence[int], lengths: Sequence[int], budget: int, _: Fits) -> Batches:
    """Cut batches of one count, from the mean length."""
    size = max(1, budget * len(order) // max(sum(lengths), 1))
    return [list(order[n : n + size]) for n in range(0, len(order), size)]


def cut_with_empty(order: Sequence[int], lengths: Sequence[int], budget: int, _: Fits) -> Batches:
    """Cut longest first; where a sentence does not fit, close the batch even if it is empty."""
    batches: Batches = [[]]
    for n in reversed(order):
        if not padded_fits([lengths[m] for m in (*batches[-1], n)], budget):
            batches.append([])
        batches[-1].append(n)
    return batches


def cut_with_empty_first(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    """Begin with an open batch, and leave it empty if the shortest sentence does not fit."""
    batches = _cut(order, lengths, budget, fits)
    return [[], *batches] if order and lengths[order[0]] > budget else batches


def cut_by_the_newest(
    order: Sequence[int], lengths: Sequence[int], budget: int, _: Fits
) -> Batches:
    """Cut longest first, as if the sentence to add were the longest."""
    return _cut(order[::-1], lengths, budget, lambda sizes, most: sizes[-1] * len(sizes) <= most)


def cut_with_overlap(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    """Begin each batch with the last sentence of the one before."""
    batches = _cut(order, lengths, budget, fits)
    return [[*left[-1:], *right] for left, right in zip([[], *batches], batches, strict=False)]


def cut_without_last(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    """Forget the batch that is open at the end."""
    return _cut(order, lengths, budget, fits)[:-1]


def cut_without_borders(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    """Close a batch where a sentence does not fit, and forget that sentence."""
    batches: Batches = [[]]
    for n in order:
        if not batches[-1] or fits([lengths[m] for m in (*batches[-1], n)], budget):
            batches[-1].append(n)
        else:
            batches.append([])
    return [batch for batch in batches if batch]


def cut_for_the_longest(
    order: Sequence[int], lengths: Sequence[int], budget: int, _: Fits
) -> Batches:
    """Give each batch room for the longest sentence of all."""
    longest = max(lengths, default=0)
    return _cut(order, lengths, budget, lambda sizes, most: longest * len(sizes) <= most)


def cut_by_length(order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits) -> Batches:
    """Put only sentences of one length together."""
    kinds = sorted({lengths[n] for n in order})
    alike = [[n for n in order if lengths[n] == kind] for kind in kinds]
    return [batch for kind in alike for batch in _cut(kind, lengths, budget, fits)]


def cut_with_an_empty_end(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    """Return an empty batch where there is no sentence."""
    return _cut(order, lengths, budget, fits) or [[]]


def cut_without_long(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    """Leave out sentences past the budget."""
    return _cut([n for n in order if lengths[n] <= budget], lengths, budget, fits)


def cut_in_stretches(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    """Sort each stretch of the order by length, and cut it."""
    stretches = [order[n : n + STRETCH] for n in range(0, len(order), STRETCH)]
    batches: Batches = []
    for stretch in stretches:
        batches += _cut(sorted(stretch, key=lambda n: lengths[n]), lengths, budget, fits)
    return batches


def cut_singly(order: Sequence[int], *_: object) -> Batches:
    """Make each sentence a batch."""
    return [[n] for n in order]


def _shuffled(batches: Batches, shuffle: Shuffle, generator: Generator | None) -> Batches:
    if shuffle == "nothing":
        return batches
    if shuffle == "by Python" or ("Python" in shuffle and generator is None):
        return random.sample(batches, len(batches))
    return _in_order(batches, shuffle, _chosen(shuffle, generator))


def _chosen(shuffle: Shuffle, generator: Generator | None) -> Generator | None:
    """Return the generator that decides: the given one, or another in its place."""
    if generator is None:
        own = {"always alike", "by seeds alone", "by torch's first seed"}
        return torch.Generator() if shuffle in own else None
    if shuffle == "always alike":
        return torch.Generator()
    if shuffle == "seeded anew":
        return generator.manual_seed(0)
    if shuffle in {"by the seed", "by seeds alone", "by the seed, or by Python"}:
        return torch.Generator().manual_seed(generator.initial_seed())
    return None if shuffle == "unseeded" else generator


def _in_order(batches: Batches, shuffle: Shuffle, generator: Generator | None) -> Batches:
    if shuffle == "moved on":
        begin = int(torch.randint(max(len(batches), 1), (1,), generator=generator))
        return batches[begin:] + batches[:begin]
    if shuffle == "with replacement":
        size = len(batches)
        drawn = torch.randint(max(size, 1), (size,), generator=generator)
        return [batches[n] for n in drawn.tolist()]
    if shuffle in NEAR:
        size = NEAR[shuffle]
        parts = [batches[n : n + size] for n in range(0, len(batches), size)]
        return [batch for part in parts for batch in _permuted(part, generator)]
    if shuffle == "inside":
        return [_permuted(batch, generator) for batch in batches]
    return _permuted(batches, generator)


def _permuted(items: list[Any], generator: Generator | None) -> list[Any]:
    return [items[n] for n in torch.randperm(len(items), generator=generator).tolist()]


def as_tensors(batches: Batches, *_: object) -> Any:
    """Put tensors in the place of numbers."""
    return [list(torch.tensor(batch)) for batch in batches]


def capped(most: int) -> Callable[..., Batches]:
    """Make a cut that closes a batch at so many sentences, too."""

    def cut(order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits) -> Batches:
        def fit(sizes: Sequence[int], budget: int) -> bool:
            return len(sizes) <= most and fits(sizes, budget)

        return _cut(order, lengths, budget, fit)

    return cut


def cut_at_half(order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits) -> Batches:
    """Use half of the budget."""
    return _cut(order, lengths, budget // 2, fits)


def last_one_joined(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    """Join a last batch that is smaller than the one before to that one."""
    batches = _cut(order, lengths, budget, fits)
    if len(batches) > 1 and len(batches[-1]) < len(batches[-2]):
        batches[-2:] = [batches[-2] + batches[-1]]
    return batches


def first_ones(most: int) -> Change:
    """Make a change that keeps so many batches at most."""
    return lambda batches, order, lengths: batches[:most]


def one_list(batches: Batches, order: Sequence[int], _: object) -> Batches:
    """Return the last list in the place of all: it was appended, cleared and filled again."""
    return [batch for batch in batches if order[-1] in batch] * len(batches)


def pairs(batches: Batches, _: object, lengths: Sequence[int]) -> Any:
    """Put (length, number) in the place of numbers."""
    return [[(lengths[n], n) for n in batch] for batch in batches]


def first_of_equals(batches: Batches, _: object, lengths: Sequence[int]) -> Batches:
    """Look numbers up by their lengths."""
    return [[list(lengths).index(lengths[n]) for n in batch] for batch in batches]


def places(batches: Batches, order: Sequence[int], _: object) -> Batches:
    """Replace the sentences' own numbers by their places in the sorted order."""
    place = {n: number for number, n in enumerate(order)}
    return [[place[n] for n in batch] for batch in batches]
