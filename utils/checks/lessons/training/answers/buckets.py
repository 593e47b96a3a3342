"""Batches within a budget: right answers and common mistakes."""

from collections.abc import Sequence

import torch
from torch import Generator

from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training import bucket_variants as variants
from utils.checks.lessons.training.bucket_facts import bucket_facts
from utils.checks.lessons.training.bucket_variants import Batches, buckets
from utils.checks.lessons.training.probes import PROBES


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


BUCKETS = Exercise(
    PROBES["bucket_batches"],
    buckets_oracle,
    (
        Mistake(
            "budget_of_real_words",
            "Real words were counted. Padding takes room too, so batches go over the budget.",
            "A batch takes up the length of its longest sentence times the number of its "
            "sentences.",
            buckets(fits=variants.sum_fits),
        ),
        Mistake(
            "budget_of_sentences",
            "max_tokens is used as a number of sentences.",
            "A batch takes up the length of its longest sentence times the number of its "
            "sentences.",
            buckets(fits=variants.count_fits),
        ),
        Mistake(
            "one_too_many",
            "A batch is closed one sentence too late: it is over the budget by then.",
            "Ask what the padded size would be with the new sentence, before you add it.",
            buckets(fits=variants.fits_before),
        ),
        Mistake(
            "closed_when_full",
            "A batch is closed only once it is full: its last sentence may have taken it over the "
            "budget.",
            "Ask what the padded size would be with the new sentence, before you add it.",
            buckets(fits=variants.was_not_full),
        ),
        Mistake(
            "new_sentence_not_counted",
            "The room of the sentence that is added is not counted: batches are one too large.",
            "With it, the batch has one sentence more than it holds now.",
            buckets(fits=variants.fits_without_the_new),
        ),
        Mistake(
            "newest_taken_for_the_longest",
            "The budget is checked with the length of the shortest sentence in the batch, but all "
            "rows are padded to the longest.",
            "Which sentence of the batch sets the length of every row?",
            buckets(cut=variants.cut_by_the_newest),
        ),
        Mistake(
            "one_count_for_all",
            "All batches have the same number of sentences, so those of long ones are too large.",
            "Where sentences are long, fewer fit: look at the longest of each batch.",
            buckets(cut=variants.cut_once),
        ),
        Mistake(
            "room_for_the_longest_of_all",
            "Every batch has room for the longest sentence of all, so those of short ones are "
            "half empty.",
            "What counts is the longest sentence of this batch.",
            buckets(cut=variants.cut_for_the_longest),
        ),
        Mistake(
            "only_equal_lengths_together",
            "Only sentences of exactly one length share a batch: no padding, but many batches are "
            "nearly empty.",
            "A little padding is allowed. Go on with the next length while there is room.",
            buckets(cut=variants.cut_by_length),
        ),
        Mistake(
            "unsorted_newest_taken_for_the_longest",
            "The sentences are not in order of length, so the newest is not the longest, and short "
            "ones are padded to long ones.",
            "Sort the indices, with the lengths as the key, before you cut.",
            buckets(by_length=False, cut=variants.cut_by_the_newest),
        ),
        Mistake(
            "one_list_cleared",
            "All batches are one and the same list: it was cleared after it had been appended.",
            "clear() empties the list that you have appended too. Begin a new list for each batch.",
            buckets(change=variants.one_list),
        ),
        Mistake(
            "pairs_in_batches",
            "The batches hold pairs of a length and an index, not indices alone.",
            "Take the index out of the pair when you put it into the batch.",
            buckets(change=variants.pairs),
        ),
        Mistake(
            "sentence_at_the_border_lost",
            "The sentence that no longer fits goes into no batch.",
            "It is the first of the next one.",
            buckets(cut=variants.cut_without_borders),
        ),
        Mistake(
            "first_of_equals",
            "Where several sentences have the same length, the first of them comes again and "
            "again.",
            "lengths.index(n) finds the first sentence of that length. Sort the indices, with the "
            "lengths as the key.",
            buckets(change=variants.first_of_equals),
        ),
        Mistake(
            "last_batch_lost",
            "Some sentences are left out: the last batch is missing.",
            "At the end a batch is still open.",
            buckets(cut=variants.cut_without_last),
        ),
        Mistake(
            "sentence_repeated",
            "A sentence is in two batches.",
            "Where a batch is closed and the next begins, the sentence between them belongs to "
            "only one of the two.",
            buckets(cut=variants.cut_with_overlap),
        ),
        Mistake(
            "places_for_indices",
            "The batches hold places in the sorted order, not the sentences' own numbers.",
            "Sort the indices, with the lengths as the key; not the lengths.",
            buckets(change=variants.places),
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
            "Put sentences of similar length next to one another before you cut.",
            buckets(by_length=False),
        ),
        Mistake(
            "one_sentence_each",
            "Every sentence is a batch of its own: no padding, and no use of the budget.",
            "Fill a batch until the next sentence would not fit.",
            buckets(cut=variants.cut_singly),
        ),
        Mistake(
            "never_shuffled",
            "The batches come in the same order whatever the generator's seed.",
            "After the cutting, put them in a random order, drawn from the generator.",
            buckets(shuffle="nothing"),
        ),
        Mistake(
            "always_shuffled_alike",
            "The order looks random, but is the same in every call: a fixed seed decides it.",
            "Draw from the generator that is given, and where none is, from torch's own.",
            buckets(shuffle="always alike"),
        ),
        Mistake(
            "generator_seeded_anew",
            "The generator is seeded again in every call, so each call draws the same order.",
            "The caller has seeded the generator already: draw from it as it is.",
            buckets(shuffle="seeded anew"),
        ),
        Mistake(
            "shuffled_inside_only",
            "Sentences change places inside their batch; the batches stay in order.",
            "It is the list of batches that has to be shuffled.",
            buckets(shuffle="inside"),
        ),
        Mistake(
            "only_ties_shuffled",
            "Chance decides only among sentences of one length: the batches come in order of "
            "length.",
            "Sorting undoes any shuffling before it. When all batches are cut, put the whole list "
            "in a random order.",
            buckets(ties="as drawn", shuffle="nothing"),
        ),
        Mistake(
            "drawn_with_replacement",
            "Batches are drawn with replacement: some come several times, and others never.",
            "torch.randint may give a number twice; torch.randperm gives each once.",
            buckets(shuffle="with replacement"),
        ),
        Mistake(
            "batches_moved_on",
            "The batches are rotated by a random number of places: but for one jump, they still "
            "come in order of length.",
            "randperm gives any order, not only rotations.",
            buckets(shuffle="moved on"),
        ),
        *(
            Mistake(
                f"places_hardly_change_{shuffle.replace(' ', '_')}",
                "Long and short batches come at much the same places every time: the shuffle "
                "moves none of them far, or only swaps batches of similar length.",
                "Any batch may come first, whatever its length: torch.randperm gives such an order "
                "of the whole list.",
                buckets(shuffle=shuffle),
            )
            for shuffle in variants.NEAR
        ),
        Mistake(
            "last_batch_joined",
            "The last batch, of the longest sentences, is joined to the one before: together they "
            "are over the budget.",
            "A small last batch is a batch like any other.",
            buckets(cut=variants.last_one_joined),
        ),
        Mistake(
            "half_the_budget",
            "Batches use only a part of the budget, whether their sentences are long or short, so "
            "there are too many of them.",
            "The longest sentence times their number may reach max_tokens.",
            buckets(cut=variants.cut_at_half),
        ),
        *(
            Mistake(
                f"at_most_{most}_sentences",
                "Batches are closed at a fixed number of sentences, even if the budget has room "
                "for more, so there are too many of them.",
                "Only max_tokens limits a batch.",
                buckets(cut=variants.capped(most)),
            )
            for most in (8, 32)
        ),
        *(
            Mistake(
                f"at_most_{most}_batches",
                "Only a fixed number of batches is returned, and the rest of the sentences are "
                "lost.",
                "All sentences are in the batches, however many it takes.",
                buckets(change=variants.first_ones(most)),
            )
            for most in (32, 100)
        ),
        Mistake(
            "random_stretches_alone",
            "Only the choice of sentences for each stretch is random: within a stretch the "
            "batches come in order of length.",
            "When all batches are cut, put the whole list in a random order.",
            buckets(by_length=False, cut=variants.cut_in_stretches, shuffle="nothing"),
        ),
        Mistake(
            "generator_made_anew",
            "Without a generator the order is the same in every call.",
            "A new torch.Generator() always starts from the same seed. randperm takes "
            "generator=None, and draws from torch's own.",
            buckets(shuffle="by torch's first seed"),
        ),
        Mistake(
            "generator_not_used",
            "The order is random, but the generator does not decide it: no run can be repeated.",
            "torch.randperm takes a generator.",
            buckets(shuffle="unseeded"),
        ),
        Mistake(
            "order_by_python",
            "The order is random, but neither the generator nor torch's own decides it: no run can "
            "be repeated.",
            "random and numpy have seeds of their own. torch.randperm takes a generator.",
            buckets(shuffle="by Python"),
        ),
        Mistake(
            "order_by_python_without_a_generator",
            "Without a generator, the order does not come from torch's own: even with "
            "torch.manual_seed no run can be repeated.",
            "torch.randperm takes generator=None, and draws from torch's own.",
            buckets(shuffle="by Python without a generator"),
        ),
        Mistake(
            "order_of_the_seed",
            "Every epoch has the same order: it is drawn from the generator's seed, not from the "
            "generator.",
            "Draw from the generator itself: torch.randperm takes it as an argument.",
            buckets(shuffle="by the seed"),
        ),
        Mistake(
            "order_of_the_seed_or_by_python",
            "Every epoch has the same order: it is drawn from the generator's seed, not from the "
            "generator.",
            "Draw from the generator itself, or from torch's own where there is none: "
            "torch.randperm takes a generator, or None.",
            buckets(shuffle="by the seed, or by Python"),
        ),
        Mistake(
            "order_of_seeds_alone",
            "Every epoch has the same order: it is drawn from the generator's seed, not from the "
            "generator, and where none is given, from a fixed seed.",
            "Draw from the generator itself: torch.randperm takes it as an argument.",
            buckets(shuffle="by seeds alone"),
        ),
        Mistake(
            "long_sentence_dropped",
            "A sentence longer than max_tokens is left out.",
            "It gets a batch of its own.",
            buckets(cut=variants.cut_without_long),
        ),
        Mistake(
            "empty_batch",
            "There is a batch with nothing in it, before a sentence that is too long.",
            "Close a batch only when something is in it.",
            buckets(cut=variants.cut_with_empty),
        ),
        Mistake(
            "empty_batch_at_first",
            "There is a batch with nothing in it where even the shortest sentence is too long.",
            "Close a batch only when something is in it.",
            buckets(cut=variants.cut_with_empty_first),
        ),
        Mistake(
            "empty_batch_without_sentences",
            "Without a sentence there is a batch with nothing in it.",
            "Append the last batch only when something is in it.",
            buckets(cut=variants.cut_with_an_empty_end),
        ),
        Mistake(
            "tensors_in_batches",
            "The batches hold tensors, not numbers.",
            "tolist() turns a tensor of indices into numbers.",
            buckets(change=variants.as_tensors),
        ),
    ),
    facts=bucket_facts,
)

EXERCISES = by_id(BUCKETS)
