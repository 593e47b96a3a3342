"""Batches within a budget: right answers and common mistakes."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Generator

from utils.checks.framework.combining import by_choices
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.bucket_facts import bucket_facts
from utils.checks.lessons.training.probes import PROBES

Batches = list[list[int]]
Fits = Callable[[Sequence[int], int], bool]
Change = Callable[[Batches, Sequence[int], Sequence[int]], Batches]
Shuffle = Literal["batches", "nothing", "inside", "unseeded", "by the seed"]


def buckets_oracle(
    lengths: Sequence[int], max_tokens: int, generator: Generator | None = None
) -> Batches:
    """Sort longest first, so that the first sentence of a batch tells how many fit."""
    order = torch.tensor(lengths, dtype=torch.long).sort(descending=True, stable=True)
    batches, start = [], 0
    while start < len(lengths):
        room = max(max_tokens // max(int(order.values[start]), 1), 1)
        batches.append(order.indices[start : start + room].tolist())
        start += room
    return [batches[n] for n in torch.randperm(len(batches), generator=generator).tolist()]


def padded_fits(sizes: Sequence[int], budget: int) -> bool:
    """Return whether the padded size of these sentences is within the budget."""
    return max(sizes) * len(sizes) <= budget


def _sum_fits(sizes: Sequence[int], budget: int) -> bool:
    return sum(sizes) <= budget


def _count_fits(sizes: Sequence[int], budget: int) -> bool:
    return len(sizes) <= budget


def _fits_before(sizes: Sequence[int], budget: int) -> bool:
    return len(sizes) == 1 or padded_fits(sizes[:-1], budget)


def _fits_without_the_new(sizes: Sequence[int], budget: int) -> bool:
    return max(sizes) * (len(sizes) - 1) <= budget


@by_choices
def buckets(
    *,
    fits: Fits = padded_fits,
    by_length: bool = True,
    shuffle: Shuffle = "batches",
    cut: Callable[[Sequence[int], Sequence[int], int, Fits], Batches] | None = None,
    change: Change = lambda batches, order, lengths: batches,
    in_place: bool = False,
) -> Callable[..., Any]:
    """Build a bucket_batches with the given choices.

    Args:
        fits: (lengths of a batch, budget) -> whether the batch is small enough.
        by_length: whether sentences are ordered by length; else as drawn.
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
        order = sorted(order, key=lambda n: (lengths[n], n)) if by_length else order
        batches = (cut or _cut)(order, lengths, max_tokens, fits)
        return change(_shuffled(batches, shuffle, generator), order, lengths)

    return build


def _cut(order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits) -> Batches:
    batches: Batches = []
    for n in order:
        if batches and fits([lengths[m] for m in (*batches[-1], n)], budget):
            batches[-1].append(n)
        else:
            batches.append([n])
    return batches


def _cut_once(order: Sequence[int], lengths: Sequence[int], budget: int, _: Fits) -> Batches:
    """Cut batches of one count, from the mean length."""
    size = max(1, budget * len(order) // max(sum(lengths), 1))
    return [list(order[n : n + size]) for n in range(0, len(order), size)]


def _cut_with_empty(order: Sequence[int], lengths: Sequence[int], budget: int, _: Fits) -> Batches:
    """Cut longest first; where a sentence does not fit, close the batch even if it is empty."""
    batches: Batches = [[]]
    for n in reversed(order):
        if not padded_fits([lengths[m] for m in (*batches[-1], n)], budget):
            batches.append([])
        batches[-1].append(n)
    return batches


def _cut_by_the_newest(
    order: Sequence[int], lengths: Sequence[int], budget: int, _: Fits
) -> Batches:
    """Cut longest first, as if the sentence to add were the longest."""
    return _cut(order[::-1], lengths, budget, lambda sizes, most: sizes[-1] * len(sizes) <= most)


def _cut_with_overlap(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    batches = _cut(order, lengths, budget, fits)
    return [[*left[-1:], *right] for left, right in zip([[], *batches], batches, strict=False)]


def _cut_without_last(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    return _cut(order, lengths, budget, fits)[:-1]


def _cut_without_borders(
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


def _cut_for_the_longest(
    order: Sequence[int], lengths: Sequence[int], budget: int, _: Fits
) -> Batches:
    longest = max(lengths, default=0)
    return _cut(order, lengths, budget, lambda sizes, most: longest * len(sizes) <= most)


def _cut_with_an_empty_end(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    return _cut(order, lengths, budget, fits) or [[]]


def _cut_without_long(
    order: Sequence[int], lengths: Sequence[int], budget: int, fits: Fits
) -> Batches:
    return _cut([n for n in order if lengths[n] <= budget], lengths, budget, fits)


def _cut_singly(order: Sequence[int], *_: object) -> Batches:
    return [[n] for n in order]


def _shuffled(batches: Batches, shuffle: Shuffle, generator: Generator | None) -> Batches:
    if shuffle == "nothing":
        return batches
    if shuffle == "by the seed" and generator is not None:
        generator = torch.Generator().manual_seed(generator.initial_seed())
    if shuffle == "inside":
        return [_permuted(batch, generator) for batch in batches]
    return _permuted(batches, None if shuffle == "unseeded" else generator)


def _permuted(items: list[Any], generator: Generator | None) -> list[Any]:
    return [items[n] for n in torch.randperm(len(items), generator=generator).tolist()]


def _as_tensors(batches: Batches, *_: object) -> Any:
    return [list(torch.tensor(batch)) for batch in batches]


def _one_list(batches: Batches, order: Sequence[int], _: object) -> Batches:
    """Return the last list in the place of all: it was appended, cleared and filled again."""
    return [batch for batch in batches if order[-1] in batch] * len(batches)


def _pairs(batches: Batches, _: object, lengths: Sequence[int]) -> Any:
    return [[(lengths[n], n) for n in batch] for batch in batches]


def _first_of_equals(batches: Batches, _: object, lengths: Sequence[int]) -> Batches:
    return [[list(lengths).index(lengths[n]) for n in batch] for batch in batches]


def _places(batches: Batches, order: Sequence[int], _: object) -> Batches:
    """Replace the sentences' own numbers by their places in the sorted order."""
    place = {n: number for number, n in enumerate(order)}
    return [[place[n] for n in batch] for batch in batches]


BUCKETS = Exercise(
    PROBES["bucket_batches"],
    buckets_oracle,
    (
        Mistake(
            "budget_of_real_words",
            "Real words were counted. Padding takes room too, so batches are past the budget.",
            "A batch takes as much room as its longest sentence times their number.",
            buckets(fits=_sum_fits),
        ),
        Mistake(
            "budget_of_sentences",
            "max_tokens was taken for a number of sentences.",
            "A batch takes as much room as its longest sentence times their number.",
            buckets(fits=_count_fits),
        ),
        Mistake(
            "one_too_many",
            "A batch is closed one sentence too late: it is past the budget already.",
            "Ask what the padded size would be with the new sentence, before you add it.",
            buckets(fits=_fits_before),
        ),
        Mistake(
            "new_sentence_not_counted",
            "The room of the sentence that is added is not counted: batches are one too large.",
            "With it, the batch has one sentence more than it holds now.",
            buckets(fits=_fits_without_the_new),
        ),
        Mistake(
            "newest_taken_for_the_longest",
            "Where sentences come longest first, the longest of a batch is its first, not the one "
            "that you add.",
            "Which sentence of the batch sets the length of every row?",
            buckets(cut=_cut_by_the_newest),
        ),
        Mistake(
            "one_count_for_all",
            "All batches have the same number of sentences, so those of long ones are too large.",
            "Where sentences are long, fewer fit: look at the longest of each batch.",
            buckets(cut=_cut_once),
        ),
        Mistake(
            "room_for_the_longest_of_all",
            "Every batch has room for the longest sentence of all, so those of short ones are "
            "half empty.",
            "What counts is the longest sentence of this batch.",
            buckets(cut=_cut_for_the_longest),
        ),
        Mistake(
            "unsorted_newest_taken_for_the_longest",
            "The sentences are not in order of length, so the newest is not the longest, and short "
            "ones are padded to long ones.",
            "Sort the indices, with the lengths as the key, before you cut.",
            buckets(by_length=False, cut=_cut_by_the_newest),
        ),
        Mistake(
            "one_list_cleared",
            "One list stands in for all batches: it was emptied after it had been appended.",
            "clear() empties the list that was appended too. Begin a new one: `batch = []`.",
            buckets(change=_one_list),
        ),
        Mistake(
            "pairs_in_batches",
            "The batches hold pairs of a length and an index, not indices alone.",
            "Take the index out of the pair when you put it into the batch.",
            buckets(change=_pairs),
        ),
        Mistake(
            "sentence_at_the_border_lost",
            "The sentence that does not fit any more goes into no batch.",
            "It is the first of the next one.",
            buckets(cut=_cut_without_borders),
        ),
        Mistake(
            "first_of_equals",
            "Of several sentences of one length the first comes again and again.",
            "lengths.index(n) finds the first that is so long. Sort the indices, with the lengths "
            "as the key.",
            buckets(change=_first_of_equals),
        ),
        Mistake(
            "last_batch_lost",
            "Some sentences never come: the last batch is missing.",
            "After the loop a batch is still open.",
            buckets(cut=_cut_without_last),
        ),
        Mistake(
            "sentence_repeated",
            "A sentence is in two batches.",
            "Where a batch is closed and the next begins, the sentence between them belongs to one "
            "of the two alone.",
            buckets(cut=_cut_with_overlap),
        ),
        Mistake(
            "places_for_indices",
            "The batches hold places in the sorted order, not the sentences' own numbers.",
            "Sort the indices, with the lengths as the key; not the lengths.",
            buckets(change=_places),
        ),
        Mistake(
            "lengths_for_indices",
            "The batches hold lengths, not the sentences' numbers.",
            "Sort the indices, with the lengths as the key; not the lengths.",
            buckets(change=lambda batches, _, lengths: [[lengths[n] for n in b] for b in batches]),
        ),
        Mistake(
            "lengths_sorted_in_place",
            "The caller's list of lengths is sorted, so its numbers no longer belong to the "
            "sentences.",
            "sort() changes a list, sorted() makes a new one. Sort the indices, with the lengths "
            "as the key.",
            buckets(in_place=True),
        ),
        Mistake(
            "not_sorted",
            "Short and long sentences share batches, so a great part is padding.",
            "Put sentences of like length beside one another before you cut.",
            buckets(by_length=False),
        ),
        Mistake(
            "one_sentence_each",
            "Every sentence is a batch of its own: no padding, and no use of the budget.",
            "Fill a batch until the next sentence would not fit.",
            buckets(cut=_cut_singly),
        ),
        Mistake(
            "never_shuffled",
            "The batches come in the same order whatever the generator's seed.",
            "After the cutting, put them in an order that is drawn from the generator.",
            buckets(shuffle="nothing"),
        ),
        Mistake(
            "shuffled_inside_only",
            "Sentences change places inside their batch; the batches stay in order.",
            "It is the list of batches that has to be shuffled.",
            buckets(shuffle="inside"),
        ),
        Mistake(
            "generator_not_used",
            "The order is random, but the generator does not decide it: no run can be repeated.",
            "torch.randperm takes a generator.",
            buckets(shuffle="unseeded"),
        ),
        Mistake(
            "order_of_the_seed",
            "Every epoch has the same order: the generator's seed decides, not the generator.",
            "Draw from the generator itself: torch.randperm(n, generator=generator).",
            buckets(shuffle="by the seed"),
        ),
        Mistake(
            "long_sentence_dropped",
            "A sentence longer than max_tokens is left out.",
            "It gets a batch of its own.",
            buckets(cut=_cut_without_long),
        ),
        Mistake(
            "empty_batch",
            "There is a batch with nothing in it, before a sentence that is too long.",
            "Close a batch only when something is in it.",
            buckets(cut=_cut_with_empty),
        ),
        Mistake(
            "empty_batch_without_sentences",
            "Without a sentence there is a batch with nothing in it.",
            "Append the last batch only when something is in it.",
            buckets(cut=_cut_with_an_empty_end),
        ),
        Mistake(
            "tensors_in_batches",
            "The batches hold tensors, not numbers.",
            "tolist() makes numbers of a tensor of indices.",
            buckets(change=_as_tensors),
        ),
    ),
    facts=bucket_facts,
)

EXERCISES = by_id(BUCKETS)
