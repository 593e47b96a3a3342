"""Tagging new sentences: right answers and common mistakes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn

from utils.checks.framework.combining import by_choices
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES

Sentences = Sequence[Sequence[str]]


def tagging_oracle(
    model: nn.Module,
    sentences: Sentences,
    vocab: Mapping[str, int],
    tags: Sequence[str],
    batch_size: int = 32,
) -> list[list[str]]:
    """Fill a table of ids in the order of the sentences and read off the best tags."""
    found: list[list[str]] = []
    with _mode(model, train=False), torch.no_grad():
        for start in range(0, len(sentences), batch_size):
            batch = sentences[start : start + batch_size]
            table = torch.zeros(len(batch), max(map(len, batch)), dtype=torch.long)
            for row, words in enumerate(batch):
                for place, word in enumerate(words):
                    table[row, place] = vocab.get(word, 1)
            best = model(table.to(next(model.parameters()).device)).argmax(-1)
            found += [
                [tags[int(best[row, place])] for place in range(len(words))]
                for row, words in enumerate(batch)
            ]
    return found


def _added(vocab: Mapping[str, int], word: str) -> int:
    return vocab.setdefault(word, 1) if isinstance(vocab, dict) else vocab.get(word, 1)


def _numbered_anew(vocab: Mapping[str, int], word: str) -> int:
    return vocab.setdefault(word, len(vocab)) if isinstance(vocab, dict) else vocab[word]


@contextmanager
def _mode(model: nn.Module, *, train: bool, after: bool | None = None) -> Iterator[None]:
    """Set a mode, then restore the one before or leave the model in mode `after`."""
    before = model.training
    model.train(train)
    yield
    model.train(before if after is None else after)


def _padded(ids: list[int], length: int, padding: int, *, in_front: bool) -> list[int]:
    filling = [padding] * (length - len(ids))
    return filling + ids if in_front else ids + filling


Order = Literal["as given", "by length, restored", "by length", "rising by length"]


@by_choices
def _tagger(
    *,
    evaluates: bool = True,
    after: bool | None = None,
    records: bool = False,
    order: Order = "as given",
    look_up: Callable[[Mapping[str, int], str], int] = lambda vocab, word: vocab.get(word, 1),
    padding: int = 0,
    in_front: bool = False,
    trimmed: bool = True,
    end: Callable[[int, int], int] = lambda n, step: n,
    size: Callable[[int, int], int] = lambda batch_size, n: batch_size,
    drops_empty: bool = False,
    drops_unknown: bool = False,
    named: bool = True,
    names: Callable[[Sequence[str]], Sequence[str]] = list,
    flat: bool = False,
    moves: bool = True,
    with_lengths: bool = False,
    axis: int = -1,
) -> Callable[..., Any]:
    """Build a tag_sentences with one thing done differently.

    Args:
        evaluates: whether the model runs in eval mode.
        after: the mode in which the model is left; None for the one before.
        records: whether gradients are recorded.
        order: how sentences are ordered for batching, and whether that is undone.
        look_up: (vocab, word) -> id.
        padding: the id used as padding.
        in_front: whether padding comes first.
        trimmed: whether tags of padding are cut off.
        end: (number of sentences, sentences in a batch) -> how many are tagged.
        size: (batch_size, number of sentences) -> sentences in a batch.
        drops_empty: whether empty sentences are dropped.
        drops_unknown: whether words that are not in the vocabulary are dropped.
        named: whether tags come back as names, not numbers.
        names: what is done to the list of names first.
        flat: whether all tags come in one list.
        moves: whether the ids are put where the model is.
        with_lengths: whether the model is given the lengths too.
        axis: along which the largest logit is sought.

    """

    def read(model: nn.Module, batch: list[list[int]]) -> list[list[int]]:
        length = max(map(len, batch))
        rows_of = [_padded(ids, length, padding, in_front=in_front) for ids in batch]
        table = torch.tensor(rows_of).long()
        table = table.to(next(model.parameters()).device) if moves else table
        more = (torch.tensor(list(map(len, batch))),) if with_lengths else ()
        best: Tensor = model(table, *more).argmax(axis)
        rows = zip(best.tolist(), map(len, batch), strict=True)
        if in_front:
            return [row[length - n :] for row, n in rows]
        return [row[:n] if trimmed else row for row, n in rows]

    def tag_sentences(
        model: nn.Module,
        sentences: Sentences,
        vocab: Mapping[str, int],
        tags: Sequence[str],
        batch_size: int = 32,
    ) -> Any:
        known = [[w for w in s if w in vocab or not drops_unknown] for s in sentences]
        ids = [[look_up(vocab, word) for word in sentence] for sentence in known]
        ids = [row for row in ids if row or not drops_empty]
        sign = (-1) ** ("rising" not in order) if "by" in order else 0
        places = sorted(range(len(ids)), key=lambda n: sign * len(ids[n]))
        step, found = size(batch_size, len(ids)), []
        with (
            _mode(model, train=model.training and not evaluates, after=after),
            torch.set_grad_enabled(records),
        ):
            for start in range(0, end(len(ids), step), step):
                found += read(model, [ids[n] for n in places[start : start + step]])
        if "restored" in order:
            found = [row for _, row in sorted(zip(places, found, strict=True))]
        listed = names(tags)
        result = [[listed[n] for n in row] for row in found] if named else found
        return [tag for row in result for tag in row] if flat else result

    return tag_sentences


def _mode_of_the_whole_alone(model: nn.Module, *rest: Any) -> Any:
    was = model.training
    found = _tagger(after=False)(model, *rest)
    model.training = was
    return found


def _left_early(model: nn.Module, sentences: Sentences, *rest: Any) -> Any:
    if not sentences:
        model.eval()
        return []
    return tagging_oracle(model, sentences, *rest)


def _read_again(model: nn.Module, sentences: Sentences, *rest: Any) -> Any:
    for start in range(1, len(sentences)):
        tagging_oracle(model, sentences[start:], *rest)
    return tagging_oracle(model, sentences, *rest)


def _each_once(model: nn.Module, sentences: Sentences, *rest: Any) -> Any:
    return tagging_oracle(model, list(map(list, dict.fromkeys(map(tuple, sentences)))), *rest)


def _at_once(*args: Any) -> Any:
    return _tagger(size=lambda _, n: max(n, 1))(*args)


def _fails_without_sentences(model: nn.Module, sentences: Sentences, *rest: Any) -> Any:
    max(map(len, sentences))  # one length for all batches
    return tagging_oracle(model, sentences, *rest)


TAGGING = Exercise(
    PROBES["tag_sentences"],
    tagging_oracle,
    (
        Mistake(
            "dropout_acts",
            "The model tags in train mode, so dropout acts.",
            "Switch it to eval mode before the first batch.",
            _tagger(evaluates=False),
        ),
        Mistake(
            "left_in_eval_mode",
            "The model was training, but is left in eval mode.",
            "Remember model.training before eval(), and restore it at the end.",
            _tagger(after=False),
        ),
        Mistake(
            "left_in_eval_mode_without_sentences",
            "Where there is no sentence, the model is left in eval mode.",
            "A `return` in the middle skips what comes after it. A loop over nothing needs none.",
            _left_early,
        ),
        Mistake(
            "left_in_train_mode",
            "The model was in eval mode, but is left in train mode.",
            "Restore the mode that it had: train(was_training).",
            _tagger(after=True),
        ),
        Mistake(
            "parts_left_in_eval_mode",
            "The model is back in its old mode, but its parts are not: dropout stays off.",
            "An assignment to .training changes one module; train(...) changes all of its parts "
            "too.",
            _mode_of_the_whole_alone,
        ),
        Mistake(
            "gradients_recorded",
            "Gradients are recorded, which takes time and memory for nothing.",
            "Use torch.no_grad() or torch.inference_mode().",
            _tagger(records=True),
        ),
        Mistake(
            "ids_left_on_the_cpu",
            "The ids stay where they were made: with a model on a GPU this fails.",
            "next(model.parameters()).device says where the model is; .to(device) moves the ids.",
            _tagger(moves=False),
        ),
        Mistake(
            "lengths_for_features",
            "The model is given something after the ids, and reads it as features.",
            "The tagger's second argument is `features`: it finds padding by itself.",
            _tagger(with_lengths=True),
        ),
        Mistake(
            "adds_to_the_vocabulary",
            "Words that are not in the vocabulary are added to it.",
            "setdefault writes into the dictionary; get(word, 1) only reads.",
            _tagger(look_up=_added),
        ),
        Mistake(
            "new_words_numbered",
            "Words that are not in the vocabulary get new ids, for which the model has no vector.",
            "Such words have the id 1: a dictionary's get() takes a second argument, and writes "
            "nothing.",
            _tagger(look_up=_numbered_anew),
        ),
        Mistake(
            "best_word_for_each_tag",
            "argmax runs over the words of the sentence, not over the tags.",
            "Which axis of (B, T, C) holds the tags?",
            _tagger(axis=1),
        ),
        Mistake(
            "order_lost",
            "The sentences were sorted by length, and their tags are returned in that order.",
            "Remember where each sentence came from, or do not sort them.",
            _tagger(order="by length"),
        ),
        Mistake(
            "order_lost_shortest_first",
            "The sentences were sorted by length, and their tags are returned in that order.",
            "Remember where each sentence came from, or do not sort them.",
            _tagger(order="rising by length"),
        ),
        Mistake(
            "unknown_words_left_out",
            "A word that is not in the vocabulary is left out: the sentence gets too few tags, and "
            "later ones belong to other words.",
            "Such words have the id 1: a dictionary's get() takes a second argument.",
            _tagger(drops_unknown=True),
        ),
        Mistake(
            "one_flat_list",
            "All tags come in one list, and where a sentence ends is lost.",
            "Append each sentence's list; `+=` and extend() unpack it.",
            _tagger(flat=True),
        ),
        Mistake(
            "tags_of_padding",
            "Short sentences get tags for their padding too.",
            "Each sentence has as many tags as words.",
            _tagger(trimmed=False),
        ),
        Mistake(
            "unknown_word_fails",
            "A word that is not in the vocabulary makes the function fail.",
            "Such words have the id 1: a dictionary's get() takes a second argument.",
            _tagger(look_up=lambda vocab, word: vocab[word]),
        ),
        Mistake(
            "unknown_word_as_padding",
            "A word that is not in the vocabulary becomes padding, which no other word sees.",
            "0 is padding, 1 is unknown.",
            _tagger(look_up=lambda vocab, word: vocab.get(word, 0)),
        ),
        Mistake(
            "words_in_lower_case",
            "Words are looked up in lower case, so those with capitals become other words.",
            "The vocabulary holds words as they are written.",
            _tagger(look_up=lambda vocab, word: vocab.get(word.lower(), 1)),
        ),
        Mistake(
            "padded_with_unknown",
            "The sentences are padded with 1, so the model reads unknown words there.",
            "0 is padding, 1 is unknown.",
            _tagger(padding=1),
        ),
        Mistake(
            "last_batch_lost",
            "The last sentences are missing where they do not fill a batch.",
            "The last batch may be smaller.",
            _tagger(end=lambda n, step: n // step * step),
        ),
        Mistake(
            "last_batch_lost_but_an_only_one",
            "The last sentences are missing where they do not fill a batch, if there is one before "
            "them.",
            "The last batch may be smaller: // leaves it out.",
            _tagger(end=lambda n, step: n // step * step or n),
        ),
        Mistake(
            "all_at_once",
            "All sentences go into one batch, whatever batch_size says.",
            "Take batch_size of them at a time.",
            _at_once,
        ),
        Mistake(
            "one_sentence_too_many",
            "A batch has one sentence more than batch_size.",
            "Is the batch closed before the sentence that does not fit, or after it?",
            _tagger(size=lambda batch_size, n: batch_size + 1),
        ),
        Mistake(
            "sentences_read_again",
            "Sentences are read more than once: the loop moves on by less than a batch.",
            "range takes a step, too: range(start, end, step).",
            _read_again,
        ),
        Mistake(
            "equal_sentences_once",
            "A sentence that is repeated is left out: each is tagged once, however often it comes.",
            "A dictionary or a set holds equal sentences once. A list keeps all of them.",
            _each_once,
        ),
        Mistake(
            "one_at_a_time",
            "Each sentence is a batch of its own: right, but many times slower.",
            "Take batch_size of them at a time.",
            _tagger(size=lambda batch_size, n: 1),
        ),
        Mistake(
            "empty_sentences_lost",
            "Empty sentences are left out, so later ones move up.",
            "There is one list for each sentence; for an empty one it is empty.",
            _tagger(drops_empty=True),
        ),
        Mistake(
            "no_sentence_fails",
            "An empty list of sentences makes the function fail.",
            "max() has nothing to choose from there.",
            _fails_without_sentences,
        ),
        Mistake(
            "numbers_returned",
            "The numbers of the tags are returned, not their names.",
            "`tags` is the list of names.",
            _tagger(named=False),
        ),
        Mistake(
            "names_sorted",
            "The names of the tags are sorted, so their places are no longer their ids.",
            "`tags` is in the order of the ids already.",
            _tagger(names=sorted),
        ),
        Mistake(
            "padding_in_front",
            "The padding comes before the words, so a sentence does not begin at position 0.",
            "Pad at the end.",
            _tagger(in_front=True),
        ),
    ),
)

EXERCISES = by_id(TAGGING)
