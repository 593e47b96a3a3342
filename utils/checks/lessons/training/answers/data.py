"""Vocabulary and padded batches: right answers and common mistakes."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from utils.checks.framework.combining import by_choices
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES
from utils.reference.tagging import IGNORED, Pair, reference_collate

Sentences = Sequence[Sequence[str]]
Counts = dict[str, int]
SPECIALS = ("<pad>", "<unk>")


def vocab_oracle(sentences: Sentences, min_count: int = 1) -> Counts:
    """Compute each word's id from the number of words that come before it."""
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


@by_choices
def _vocab(
    order: Callable[[Counts], Sequence[str]] = lambda c: sorted(c, key=lambda w: (-c[w], w)),
    *,
    count: Callable[[Sentences], Counts] = _count,
    spare: int = 0,
    specials: Sequence[str] = SPECIALS,
    first: int = 0,
    numbered: bool = True,
    gives: Callable[[Counts], Any] = lambda ids: ids,
) -> Callable[..., Any]:
    """Build a build_vocab with another order, other counts or other first words.

    Args:
        order: counts -> words.
        count: sentences -> counts.
        spare: how many more occurrences than min_count a word needs.
        specials: the words that come first.
        first: how many ids are left free before the words.
        numbered: whether words get ids; else they get counts.
        gives: what is made of the dictionary at the end.

    """

    def build(sentences: Sentences, min_count: int = 1) -> Any:
        counts = count(sentences)
        kept = {word: n for word, n in counts.items() if n >= min_count + spare}
        ids = {word: number for number, word in enumerate(specials)}
        ids |= {word: number for number, word in enumerate(order(kept), len(specials) + first)}
        counted = {w: n if w in SPECIALS else counts[w] for w, n in ids.items()}
        return gives(ids if numbered else counted)

    return build


def _rising(counts: Counts) -> list[str]:
    return sorted(counts, key=lambda word: (counts[word], word))


def _ties_backwards(counts: Counts) -> list[str]:
    return sorted(counts, key=lambda word: (counts[word], word), reverse=True)


def _ties_as_met(counts: Counts) -> list[str]:
    return sorted(counts, key=lambda word: -counts[word])


def _ties_in_small_letters(counts: Counts) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word.casefold()))


def _special_last(ids: Counts) -> Counts:
    return {word: (n - len(SPECIALS)) % len(ids) for word, n in ids.items()}


def _bare(sentences: Sentences) -> Counts:
    return _count([[word.strip(".,") for word in sentence] for sentence in sentences])


def _small_letters(sentences: Sentences) -> Counts:
    return _count([[word.lower() for word in sentence] for sentence in sentences])


def _letters(sentences: Sentences) -> Counts:
    return _count([[*"".join(sentence)] for sentence in sentences])


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


VOCABULARY = Exercise(
    PROBES["build_vocab"],
    vocab_oracle,
    (
        Mistake(
            "no_special_words",
            "Padding does not have id 0, or unknown words not id 1; or both are missing.",
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
            "one_id_skipped",
            "The words begin one id too late: no word has the first id after the two special ones.",
            "Ids 0 and 1 are taken, so 2 is the first that is free.",
            _vocab(first=1),
        ),
        Mistake(
            "ids_from_the_beginning",
            "The words are numbered from 0, so the first two share their ids with padding and "
            "unknown words.",
            "Ids 0 and 1 are taken, so 2 is the first that is free.",
            _vocab(first=-2),
        ),
        Mistake(
            "first_word_as_unknown",
            "The words begin one id too early: the first has the id of unknown words.",
            "Ids 0 and 1 are taken, so 2 is the first that is free.",
            _vocab(first=-1),
        ),
        Mistake(
            "numbered_from_one",
            "The ids begin at 1, so that even padding has another id than 0.",
            "0 is padding, 1 is unknown, 2 the first word: enumerate() begins at 0 by itself.",
            _vocab(gives=lambda ids: {word: n + 1 for word, n in ids.items()}),
        ),
        Mistake(
            "special_words_last",
            "`<pad>` and `<unk>` come after the words.",
            "They have ids 0 and 1: they come first.",
            _vocab(gives=_special_last),
        ),
        Mistake(
            "letters_counted",
            "Letters are counted, not words.",
            "A sentence is a list of words; a word that is looped over falls into its letters.",
            _vocab(count=_letters),
        ),
        Mistake(
            "list_of_words",
            "A list of words comes back, not a dictionary.",
            "A word's place in the list is its id: write the ids down beside the words.",
            _vocab(gives=list),
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
            "ties_without_capitals",
            "Among equally frequent words capitals are taken for small letters.",
            "The key's second part is the word as it is: `<` puts capitals first.",
            _vocab(_ties_in_small_letters),
        ),
        Mistake(
            "points_cut_off",
            "Points and commas are cut off, though a full stop is a word too.",
            "The sentences come as lists of words: take them as they are.",
            _vocab(count=_bare),
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
            "words_padded_with_the_tags_padding",
            "The words are padded with -100, which no embedding has.",
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
            "A mask came where the lengths should be.",
            "One number for each sentence.",
            _collated(sizes=lambda lengths, longest: torch.arange(longest) < lengths[:, None]),
        ),
        Mistake(
            "words_and_tags_swapped",
            "Words and tags have changed places.",
            "Return (ids, lengths, tags); each pair is (ids, tags).",
            _collated(parts=lambda ids, lengths, tags: (tags, lengths, ids)),
        ),
        Mistake(
            "tags_second",
            "The results come in the wrong order.",
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
            "Padding was written into the lists of the caller, who keeps using them.",
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
                ("", "ids", "no embedding takes", ("ids", "labels")),
                ("_for_words", "words' ids", "no embedding takes", ("ids",)),
                ("_for_tags", "tags", "no loss takes for classes", ("labels",)),
            )
        ),
        Mistake(
            "floats_from_an_empty_list",
            "torch.tensor([]) holds floating-point numbers, and an empty sentence can turn the "
            "whole batch into such.",
            "Say dtype=torch.long wherever a tensor is made.",
            _floats_from_nothing,
        ),
    ),
)

EXERCISES = by_id(VOCABULARY, COLLATE)
