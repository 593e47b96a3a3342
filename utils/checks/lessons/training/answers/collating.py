"""Padded batches: right answers and common mistakes."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES
from utils.reference.tagging import IGNORED, Pair, reference_collate


def collate_oracle(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Pad words and tags with torch's pad_sequence."""
    columns = [
        [torch.tensor(x, dtype=torch.long) for x in column] for column in zip(*batch, strict=True)
    ]
    ids, tags = (
        pad_sequence(column, batch_first=True, padding_value=value)
        for column, value in zip(columns, (0.0, float(IGNORED)), strict=True)
    )
    return ids, torch.tensor([len(x) for x in columns[0]]), tags


WIDTHS = (32, 50, 64, 100, 128, 256, 512)  # that people choose for all batches


@by_choices
def _collated(
    *,
    batch: Callable[[Sequence[Pair]], Sequence[Pair]] = lambda batch: batch,
    words: int = 0,
    tags: int = IGNORED,
    sizes: Callable[[Tensor, int], Any] = lambda lengths, longest: lengths,
    labels: Callable[[Tensor], Any] = lambda tags: tags,
    ids: Callable[[Tensor], Tensor] = lambda ids: ids,
    cut: int = 0,
    parts: Callable[[Any, Any, Any], Any] = lambda ids, lengths, tags: (ids, lengths, tags),
) -> Callable[[Sequence[Pair]], Any]:
    """Build a collate with some things done differently.

    Args:
        batch: what is done to the batch first.
        words: the padding of words.
        tags: the padding of tags.
        sizes: (lengths, T) -> what comes in place of the lengths.
        labels: tags -> what comes in their place.
        ids: ids -> what comes in their place.
        cut: how many of the last positions are cut off.
        parts: (ids, lengths, tags) -> what is returned.

    """

    def collate(given: Sequence[Pair]) -> Any:
        found, lengths, target = reference_collate(batch(given))
        padding, longest = target == IGNORED, found.shape[1]
        found = found.masked_fill(padding, words)[:, : longest - cut]
        target = target.masked_fill(padding, tags)[:, : longest - cut]
        return parts(ids(found), sizes(lengths, longest), labels(target))

    return collate


def _floats_from_nothing(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    ids, lengths, tags = reference_collate(batch)
    return (ids, lengths, tags) if lengths[0] else (ids.float(), lengths, tags.float())


def _unknown_without_tags(ids: Tensor, lengths: Tensor, tags: Tensor) -> tuple[Tensor, ...]:
    return ids, lengths, tags.masked_fill(ids == 1, IGNORED)


def _in_front(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    ids, lengths, tags = reference_collate([(x[::-1], y[::-1]) for x, y in batch])
    return ids.flip(1), lengths, tags.flip(1)


def _to_the_shortest(*, counts: bool) -> Callable[[Sequence[Pair]], Any]:
    """Build a collate that cuts to the shortest sentence; the lengths may count what is left."""

    def collate(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
        ids, lengths, tags = reference_collate(batch)
        shortest = int(lengths.min())
        kept = lengths.clamp(max=shortest) if counts else lengths
        return ids[:, :shortest], kept, tags[:, :shortest]

    return collate


def _always_as_wide(width: int) -> Callable[[Sequence[Pair]], Any]:
    """Build a collate that pads and cuts every batch to one width."""

    def collate(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
        ids, lengths, tags = reference_collate([(x[:width], y[:width]) for x, y in batch])
        more = (0, width - ids.shape[1])
        return F.pad(ids, more), lengths, F.pad(tags, more, value=IGNORED)

    return collate


def _padded_lists(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    result = reference_collate(batch)
    longest = result[0].shape[1]
    for pair in batch:
        for column, padding in zip(pair, (0, IGNORED), strict=True):
            column.extend([padding] * (longest - len(column)))
    return result


COLLATE = Exercise(
    PROBES["collate"],
    collate_oracle,
    (
        Mistake(
            "tags_padded_with_zero",
            "The tags are padded with 0, which is a tag: the loss would count padding.",
            "The padding of tags is -100, which no tag can be.",
            _collated(tags=0),
        ),
        Mistake(
            "tags_padded_with_minus_one",
            "The tags are padded with -1.",
            "torch's losses skip -100 unless told otherwise.",
            _collated(tags=-1),
        ),
        Mistake(
            "real_tag_zero_lost",
            "Words with tag 0 lose their tag: every 0 among the tags becomes -100.",
            "0 is a tag like any other, so afterwards it cannot be told from a padding of 0. Pad "
            "with -100 from the start.",
            _collated(labels=lambda tags: tags.masked_fill(tags == 0, IGNORED)),
        ),
        Mistake(
            "unknown_words_without_a_tag",
            "Unknown words, id 1, have lost their tags: they got -100 as if they were padding.",
            "Padding is what comes after a sentence's length. An unknown word has a tag that the "
            "model must learn.",
            _collated(parts=_unknown_without_tags),
        ),
        Mistake(
            "empty_sentences_left_out",
            "Empty sentences are left out, so later ones move up.",
            "Row b of the result is sentence b of the batch, even if it has no word.",
            _collated(batch=lambda batch: [pair for pair in batch if pair[0]]),
        ),
        Mistake(
            "words_padded_with_the_tags_padding",
            "The words are padded with -100, an id that no embedding has.",
            "The id of padding is 0.",
            _collated(words=IGNORED),
        ),
        Mistake(
            "words_padded_with_unknown",
            "The words are padded with 1, the id of unknown words.",
            "The id of padding is 0.",
            _collated(words=1),
        ),
        Mistake(
            "padding_in_front",
            "The padding comes before the words.",
            "A sentence begins at position 0.",
            _in_front,
        ),
        *(
            Mistake(
                f"cut_to_the_shortest{name}",
                "The sentences are cut to the length of the shortest.",
                "T is the length of the longest; zip() stops at the shortest.",
                _to_the_shortest(counts=counts),
            )
            for name, counts in (("", True), ("_with_all_lengths", False))
        ),
        *(
            Mistake(
                f"always_{width}_wide",
                "Every batch gets one fixed width, whatever its sentences are: short ones are "
                "mostly padding, and longer ones are cut or fail.",
                "T is the length of the longest sentence of this batch.",
                _always_as_wide(width),
            )
            for width in WIDTHS
        ),
        Mistake(
            "time_first",
            "The axes are (T, B).",
            "In this course the batch comes first; `pad_sequence` has an argument for it.",
            _collated(ids=lambda ids: ids.T, labels=lambda tags: tags.T),
        ),
        Mistake(
            "lengths_after_padding",
            "All lengths are T: they were taken after padding.",
            "The lengths tell how many words are real.",
            _collated(sizes=torch.full_like),
        ),
        Mistake(
            "lengths_one_too_many",
            "Every length is one too many.",
            "The length of a sentence is the number of its words.",
            _collated(sizes=lambda lengths, longest: lengths + 1),
        ),
        Mistake(
            "last_word_lost",
            "The rows are one place too short, so the longest sentence loses its last word.",
            "T is the length of the longest sentence.",
            _collated(cut=1),
        ),
        Mistake(
            "lengths_as_a_list",
            "The lengths are a list.",
            "`torch.tensor(...)` makes a tensor of it.",
            _collated(sizes=lambda lengths, longest: lengths.tolist()),
        ),
        Mistake(
            "mask_for_lengths",
            "A mask is returned in place of the lengths.",
            "The lengths are one number for each sentence.",
            _collated(sizes=lambda lengths, longest: torch.arange(longest) < lengths[:, None]),
        ),
        Mistake(
            "words_and_tags_swapped",
            "Words and tags are swapped.",
            "Return (ids, lengths, tags); each pair is (ids, tags).",
            _collated(parts=lambda ids, lengths, tags: (tags, lengths, ids)),
        ),
        Mistake(
            "tags_second",
            "The three results are returned in the wrong order.",
            "Return (ids, lengths, tags).",
            _collated(parts=lambda ids, lengths, tags: (ids, tags, lengths)),
        ),
        Mistake(
            "without_lengths",
            "The lengths are missing.",
            "Return (ids, lengths, tags).",
            _collated(parts=lambda ids, lengths, tags: (ids, tags)),
        ),
        Mistake(
            "longest_first",
            "The sentences were put in another order.",
            "Row b of the result is sentence b of the batch.",
            _collated(batch=lambda batch: sorted(batch, key=lambda pair: -len(pair[0]))),
        ),
        Mistake(
            "pads_the_callers_lists",
            "Padding is written into the caller's own lists, which are used again.",
            "`+=` and append() change a list; `+` makes a new one.",
            _padded_lists,
        ),
        *(
            Mistake(
                f"floats{name}",
                f"The {what} are floating-point numbers, which {nobody}.",
                "torch.Tensor(...), torch.zeros and an empty list give float32 unless you say "
                "dtype=torch.long.",
                _collated(**dict.fromkeys(parts, Tensor.float)),
            )
            for name, what, nobody, parts in (
                ("", "ids", "an embedding does not accept", ("ids", "labels")),
                ("_for_words", "words' ids", "an embedding does not accept", ("ids",)),
                ("_for_tags", "tags", "a loss does not accept as classes", ("labels",)),
            )
        ),
        Mistake(
            "floats_from_an_empty_list",
            "torch.tensor([]) holds floating-point numbers, and an empty sentence can turn the "
            "whole batch into floats.",
            "Say dtype=torch.long wherever a tensor is made.",
            _floats_from_nothing,
        ),
    ),
)

EXERCISES = by_id(COLLATE)
