"""Vocabulary and padded batches: what is right and commonly wrong."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from utils.checks.exercise import Exercise, Mistake
from utils.checks.training.probes import PROBES
from utils.checks.training.reference import IGNORED, Pair, reference_collate

_PROBES = {probe.exercise: probe for probe in PROBES}
Sentences = Sequence[Sequence[str]]
Counts = dict[str, int]
SPECIALS = ("<pad>", "<unk>")


def vocab_oracle(sentences: Sentences, min_count: int = 1) -> Counts:
    """Number each word by how many words come before it."""
    counts = _count(sentences)
    kept = {word: count for word, count in counts.items() if count >= min_count}

    def place(word: str) -> int:
        return sum((-n, other) < (-kept[word], word) for other, n in kept.items())

    return {"<pad>": 0, "<unk>": 1} | {word: 2 + place(word) for word in kept}


def _count(sentences: Sentences) -> Counts:
    words = [word for sentence in sentences for word in sentence]
    return {word: words.count(word) for word in words}


def _count_sentences(sentences: Sentences) -> Counts:
    return _count([list(dict.fromkeys(sentence)) for sentence in sentences])


def _vocab(
    order: Callable[[Counts], Sequence[str]] = lambda c: sorted(c, key=lambda w: (-c[w], w)),
    *,
    count: Callable[[Sentences], Counts] = _count,
    spare: int = 0,
    specials: Sequence[str] = SPECIALS,
    numbered: bool = True,
) -> Callable[..., Counts]:
    """A vocabulary in another order, from other counts, or with another beginning.

    Args:
        order: counts -> words.
        count: sentences -> counts.
        spare: how many occurrences more than min_count a word needs.
        specials: the words that come first.
        numbered: False gives counts in place of ids.

    """

    def build(sentences: Sentences, min_count: int = 1) -> Counts:
        counts = count(sentences)
        kept = {word: n for word, n in counts.items() if n >= min_count + spare}
        words = [*specials, *order(kept)]
        ids = {word: number for number, word in enumerate(words)}
        return ids if numbered else {w: n if w in SPECIALS else counts[w] for w, n in ids.items()}

    return build


def _rising(counts: Counts) -> list[str]:
    return sorted(counts, key=lambda word: (counts[word], word))


def _ties_backwards(counts: Counts) -> list[str]:
    return sorted(counts, key=lambda word: (counts[word], word), reverse=True)


def _ties_as_met(counts: Counts) -> list[str]:
    return sorted(counts, key=lambda word: -counts[word])


def _small_letters(sentences: Sentences) -> Counts:
    return _count([[word.lower() for word in sentence] for sentence in sentences])


def collate_oracle(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Padding by torch, for words and for tags."""
    columns = [
        [torch.tensor(x, dtype=torch.long) for x in column] for column in zip(*batch, strict=True)
    ]
    ids, tags = (
        pad_sequence(column, batch_first=True, padding_value=value)
        for column, value in zip(columns, (0.0, float(IGNORED)), strict=True)
    )
    return ids, torch.tensor([len(x) for x in columns[0]]), tags


def _padded(words: int = 0, tags: int = IGNORED) -> Callable[[Sequence[Pair]], Any]:
    def collate(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
        ids, lengths, labels = reference_collate(batch)
        padding = labels == IGNORED
        return ids.masked_fill(padding, words), lengths, labels.masked_fill(padding, tags)

    return collate


def _in_front(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    ids, lengths, tags = reference_collate([(x[::-1], y[::-1]) for x, y in batch])
    return ids.flip(1), lengths, tags.flip(1)


def _to_the_shortest(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    ids, lengths, tags = reference_collate(batch)
    shortest = int(lengths.min())
    return ids[:, :shortest], lengths.clamp(max=shortest), tags[:, :shortest]


def _padded_lists(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    result = reference_collate(batch)
    longest = result[0].shape[1]
    for pair in batch:
        for column, padding in zip(pair, (0, IGNORED), strict=True):
            column.extend([padding] * (longest - len(column)))
    return result


def _changed(change: Callable[[Tensor, Tensor, Tensor], Any]) -> Callable[[Sequence[Pair]], Any]:
    return lambda batch: change(*reference_collate(batch))


def _sorted_batch(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    return reference_collate(sorted(batch, key=lambda pair: -len(pair[0])))


VOCABULARY = Exercise(
    _PROBES["build_vocab"],
    vocab_oracle,
    (
        Mistake(
            "no_special_words",
            "The words begin at 0: there is no id for padding or for unknown words.",
            "Ids 0 and 1 are taken before the first word comes.",
            _vocab(specials=()),
        ),
        Mistake(
            "no_unknown",
            "Padding is there, and a word of the text has the id of unknown words.",
            "Two ids are taken before the first word comes.",
            _vocab(specials=("<pad>",)),
        ),
        Mistake(
            "padding_and_unknown_swapped",
            "`<pad>` and `<unk>` have changed places.",
            "0 is padding, 1 is unknown, everywhere in this course.",
            _vocab(specials=("<unk>", "<pad>")),
        ),
        Mistake(
            "rare_words_first",
            "The rarest words come first.",
            "sorted() goes up; the count has to fall.",
            _vocab(_rising),
        ),
        Mistake(
            "ties_backwards",
            "Words that are equally frequent stand in backward order.",
            "reverse=True turns the words round as well as the counts. A key may hold a negative "
            "number.",
            _vocab(_ties_backwards),
        ),
        Mistake(
            "ties_in_order_of_appearance",
            "Words that are equally frequent stand in the order in which they came.",
            "`most_common()` and a stable sort leave ties as they were. Among equals, the "
            "alphabet decides.",
            _vocab(_ties_as_met),
        ),
        Mistake(
            "only_alphabetical",
            "The words stand in alphabetical order, whatever their counts.",
            "The count comes first; the alphabet only decides ties.",
            _vocab(sorted),
        ),
        Mistake(
            "order_of_appearance",
            "The words stand in the order in which they first appear.",
            "Count first, then number the words.",
            _vocab(list),
        ),
        Mistake(
            "min_count_ignored",
            "Words that are rarer than min_count are in the vocabulary.",
            "Leave them out before you number the rest.",
            lambda sentences, min_count=1: vocab_oracle(sentences),
        ),
        Mistake(
            "min_count_exceeded",
            "Words that occur exactly min_count times are missing.",
            "min_count occurrences are enough.",
            _vocab(spare=1),
        ),
        Mistake(
            "small_letters",
            "Capital letters were made small.",
            "`Praha` and `praha` are two words: a capital tells something.",
            _vocab(count=_small_letters),
        ),
        Mistake(
            "sentences_counted",
            "A word that occurs twice in a sentence was counted once.",
            "Count words, not the sentences that hold them.",
            _vocab(count=_count_sentences),
        ),
        Mistake(
            "counts_as_ids",
            "The dictionary holds counts, not ids.",
            "Once the words are in order, their places are their ids.",
            _vocab(numbered=False),
        ),
    ),
)

COLLATE = Exercise(
    _PROBES["collate"],
    collate_oracle,
    (
        Mistake(
            "tags_padded_with_zero",
            "The tags are padded with 0, which is a tag: the loss would count padding.",
            "The padding of tags is -100, which no tag can be.",
            _padded(tags=0),
        ),
        Mistake(
            "tags_padded_with_minus_one",
            "The tags are padded with -1.",
            "torch's losses skip -100 unless told otherwise.",
            _padded(tags=-1),
        ),
        Mistake(
            "words_padded_with_the_tags_padding",
            "The words are padded with -100, which no embedding has.",
            "The id of padding is 0.",
            _padded(words=IGNORED),
        ),
        Mistake(
            "words_padded_with_unknown",
            "The words are padded with 1, the id of unknown words.",
            "The id of padding is 0.",
            _padded(words=1),
        ),
        Mistake(
            "padding_in_front",
            "The padding comes before the words.",
            "A sentence begins at position 0.",
            _in_front,
        ),
        Mistake(
            "cut_to_the_shortest",
            "The sentences are cut to the length of the shortest.",
            "T is the length of the longest; zip() stops at the shortest.",
            _to_the_shortest,
        ),
        Mistake(
            "time_first",
            "The axes are (T, B).",
            "In this course the batch comes first; `pad_sequence` has an argument for it.",
            _changed(lambda ids, lengths, tags: (ids.T, lengths, tags.T)),
        ),
        Mistake(
            "lengths_after_padding",
            "All lengths are T: they were taken after padding.",
            "The lengths tell how many words are real.",
            _changed(lambda ids, n, tags: (ids, torch.full_like(n, ids.shape[1]), tags)),
        ),
        Mistake(
            "lengths_as_a_list",
            "The lengths are a list.",
            "`torch.tensor(...)` makes a tensor of it.",
            _changed(lambda ids, lengths, tags: (ids, lengths.tolist(), tags)),
        ),
        Mistake(
            "mask_for_lengths",
            "A mask came where the lengths should be.",
            "One number for each sentence.",
            _changed(lambda ids, lengths, tags: (ids, tags != IGNORED, tags)),
        ),
        Mistake(
            "words_and_tags_swapped",
            "Words and tags have changed places.",
            "Return (ids, lengths, tags); each pair is (ids, tags).",
            _changed(lambda ids, lengths, tags: (tags, lengths, ids)),
        ),
        Mistake(
            "tags_second",
            "The results come in the wrong order.",
            "Return (ids, lengths, tags).",
            _changed(lambda ids, lengths, tags: (ids, tags, lengths)),
        ),
        Mistake(
            "without_lengths",
            "The lengths are missing.",
            "Return (ids, lengths, tags).",
            _changed(lambda ids, lengths, tags: (ids, tags)),
        ),
        Mistake(
            "longest_first",
            "The sentences were put in another order.",
            "Row b of the result is sentence b of the batch.",
            _sorted_batch,
        ),
        Mistake(
            "pads_the_callers_lists",
            "Padding was written into the lists of the caller, who keeps using them.",
            "`+=` and append() change a list; `+` makes a new one.",
            _padded_lists,
        ),
        Mistake(
            "floats",
            "The ids are floating-point numbers, which no embedding takes.",
            "torch.zeros and an empty list give float32 unless you say dtype=torch.long.",
            _changed(lambda ids, lengths, tags: (ids.float(), lengths, tags.float())),
        ),
    ),
)
