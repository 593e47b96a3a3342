"""Vocabulary: right answers and common mistakes."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Literal

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES

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
    spare: Callable[[int], int] = lambda min_count: 0,
    specials: Sequence[str] = SPECIALS,
    first: int = 0,
    numbered: bool = True,
    gives: Callable[[Counts], Any] = lambda ids: ids,
) -> Callable[..., Any]:
    """Build a build_vocab with another order, other counts or other first words.

    Args:
        order: counts -> words.
        count: sentences -> counts.
        spare: min_count -> how many more occurrences a word needs.
        specials: the words that come first.
        first: how many ids are left free before the words.
        numbered: whether words get ids; else they get counts.
        gives: what is made of the dictionary at the end.

    """

    def build(sentences: Sentences, min_count: int = 1) -> Any:
        counts = count(sentences)
        kept = {word: n for word, n in counts.items() if n >= min_count + spare(min_count)}
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


def _ties_by_length(*, shortest_first: bool) -> Callable[[Counts], list[str]]:
    sign = 1 if shortest_first else -1
    return lambda counts: sorted(counts, key=lambda w: (-counts[w], sign * len(w), w))


def _special_last(ids: Counts) -> Counts:
    return {word: (n - len(SPECIALS)) % len(ids) for word, n in ids.items()}


def _bare(sentences: Sentences) -> Counts:
    return _count([[word.strip(".,") for word in sentence] for sentence in sentences])


def _small_letters(sentences: Sentences) -> Counts:
    return _count([[word.lower() for word in sentence] for sentence in sentences])


def _normal(form: Literal["NFC", "NFD"]) -> Callable[[Sentences], Counts]:
    def count(sentences: Sentences) -> Counts:
        return _count([[unicodedata.normalize(form, word) for word in s] for s in sentences])

    return count


def _ties_without_marks(counts: Counts) -> list[str]:
    """Order words of one count as a dictionary on paper does: č beside c."""

    def bare(word: str) -> str:
        letters = unicodedata.normalize("NFD", word)
        return "".join(letter for letter in letters if not unicodedata.combining(letter))

    return sorted(counts, key=lambda word: (-counts[word], bare(word), word))


def _rare_as_unknown(sentences: Sentences, min_count: int = 1) -> Counts:
    unknown = dict.fromkeys(_count(sentences), 1)
    return unknown | vocab_oracle(sentences, min_count)


def _special_words_sorted(*, dropped: bool) -> Callable[..., Counts]:
    """Build a build_vocab that sorts the special words as if they were the most frequent ones.

    Where even that is too rare, they may be dropped.
    """

    def build(sentences: Sentences, min_count: int = 1) -> Counts:
        counts = _count(sentences)
        most = max(counts.values(), default=0)
        ranked = dict.fromkeys(SPECIALS, most if dropped else max(most, min_count)) | counts
        kept = [word for word, n in ranked.items() if n >= min_count]
        kept.sort(key=lambda word: (-ranked[word], word))
        return {word: number for number, word in enumerate(kept)}

    return build


def _letters(sentences: Sentences) -> Counts:
    return _count([[*"".join(sentence)] for sentence in sentences])


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
            "The ids begin at 1, so even padding has an id other than 0.",
            "0 is padding, 1 is unknown, 2 the first word: Counting begins at 0 by itself.",
            _vocab(gives=lambda ids: {word: n + 1 for word, n in ids.items()}),
        ),
        Mistake(
            "special_words_last",
            "`<pad>` and `<unk>` come after the words.",
            "They have ids 0 and 1: they come first.",
            _vocab(gives=_special_last),
        ),
        *(
            Mistake(
                f"special_words_sorted{name}",
                f"`<pad>` and `<unk>` are sorted among the words{says}.",
                "Sort the words alone, and put the two special ones in front of them.",
                _special_words_sorted(dropped=dropped),
            )
            for name, says, dropped in (
                ("", ", and some come before them", False),
                ("_and_dropped", ", and left out where all words are too rare", True),
            )
        ),
        Mistake(
            "letters_counted",
            "Letters are counted, not words.",
            "A sentence is a list of words; a word, taken apart, gives its letters.",
            _vocab(count=_letters),
        ),
        Mistake(
            "numbers_to_words",
            "The dictionary maps numbers to words.",
            "A word is looked up, and its id comes out: words are the keys.",
            _vocab(gives=lambda ids: dict(enumerate(ids))),
        ),
        Mistake(
            "list_of_words",
            "The result is a list of words, not a dictionary.",
            "A word's place in the list is its id: write the ids down beside the words.",
            _vocab(gives=list),
        ),
        Mistake(
            "padding_and_unknown_swapped",
            "`<pad>` and `<unk>` are swapped.",
            "0 is padding, 1 is unknown, everywhere in this course.",
            _vocab(specials=("<unk>", "<pad>")),
        ),
        Mistake(
            "rare_words_first",
            "The rarest words come first.",
            "sorted() goes from small to large; the counts have to go from large to small.",
            _vocab(_rising),
        ),
        Mistake(
            "ties_backwards",
            "Words that are equally frequent come in reverse alphabetical order.",
            "reverse=True reverses the order of the words as well as that of the counts. A sort "
            "key may hold a negative number.",
            _vocab(_ties_backwards),
        ),
        Mistake(
            "ties_in_order_of_appearance",
            "Words that are equally frequent come in the order in which they first appear.",
            "`most_common()` and a stable sort leave ties as they were. Among equals, the "
            "alphabet decides.",
            _vocab(_ties_as_met),
        ),
        *(
            Mistake(
                f"{name}_ties_first",
                f"Words that are equally frequent are ordered by their length, {what} first.",
                "Among equals the alphabet decides, and nothing else.",
                _vocab(_ties_by_length(shortest_first=shortest_first)),
            )
            for name, what, shortest_first in (
                ("short", "the shortest", True),
                ("long", "the longest", False),
            )
        ),
        Mistake(
            "ties_without_capitals",
            "Among equally frequent words, capitals are treated as small letters.",
            "The key's second part is the word as it is: `<` puts capitals first.",
            _vocab(_ties_in_small_letters),
        ),
        Mistake(
            "ties_without_marks",
            "Among equally frequent words letters are ordered as if they had no marks: č as c.",
            "sorted() compares strings character by character, and puts č after z: take words as "
            "they are.",
            _vocab(_ties_without_marks),
        ),
        *(
            Mistake(
                name,
                "Words are changed: a letter that can be written in two ways, as one character or "
                "as a letter and a mark, is always written in the same way.",
                "Take words as they are written: unicodedata.normalize is not asked for.",
                _vocab(count=count),
            )
            for name, count in (
                ("letters_composed", _normal("NFC")),
                ("letters_taken_apart", _normal("NFD")),
            )
        ),
        Mistake(
            "points_cut_off",
            "Full stops and commas are cut off, but a full stop is a word too.",
            "The sentences come as lists of words: take them as they are.",
            _vocab(count=_bare),
        ),
        Mistake(
            "only_alphabetical",
            "The words are in alphabetical order, whatever their counts.",
            "The count comes first; the alphabet only decides ties.",
            _vocab(sorted),
        ),
        Mistake(
            "order_of_appearance",
            "The words are in the order in which they first appear.",
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
            "rare_words_as_unknown",
            "Words that are rarer than min_count are in the vocabulary, with the id of unknown "
            "words.",
            "Leave them out: a look-up gives the unknown id to every word that is missing.",
            _rare_as_unknown,
        ),
        Mistake(
            "min_count_exceeded",
            "Words that occur exactly min_count times are missing.",
            "min_count occurrences are enough.",
            _vocab(spare=lambda _: 1),
        ),
        Mistake(
            "min_count_above_one_exceeded",
            "Where min_count is more than 1, words that occur exactly that often are missing.",
            "min_count occurrences are enough.",
            _vocab(spare=lambda min_count: int(min_count > 1)),
        ),
        Mistake(
            "small_letters",
            "Capital letters were turned into small ones.",
            "`Praha` and `praha` are two words: a capital carries information.",
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

EXERCISES = by_id(VOCABULARY)
