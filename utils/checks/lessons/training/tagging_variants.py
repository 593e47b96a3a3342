"""A tag_sentences with one thing done differently, from which known mistakes are made."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn

from utils.checks.combining import by_choices

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


def added(vocab: Mapping[str, int], word: str) -> int:
    """Look a word up, and add it to the vocabulary as unknown."""
    return vocab.setdefault(word, 1) if isinstance(vocab, dict) else vocab.get(word, 1)


def numbered_anew(vocab: Mapping[str, int], word: str) -> int:
    """Look a word up, and give it the next number if it is new."""
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
def tagger(
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


def mode_of_the_whole_alone(model: nn.Module, *rest: Any) -> Any:
    """Give its mode back to the model, but not to its parts."""
    was = model.training
    found = tagger(after=False)(model, *rest)
    model.training = was
    return found


def given_back_too_early(
    model: nn.Module, sentences: Sentences, vocab: Any, tags: Any, batch_size: int = 32
) -> Any:
    """Give the mode back after the first batch."""
    first = tagging_oracle(model, sentences[:batch_size], vocab, tags, batch_size)
    others: Any = tagger(evaluates=False)
    return first + others(model, sentences[batch_size:], vocab, tags, batch_size)


def left_early(model: nn.Module, sentences: Sentences, *rest: Any) -> Any:
    """Return where there is no sentence, and leave the model in eval mode."""
    if not sentences:
        model.eval()
        return []
    return tagging_oracle(model, sentences, *rest)


def read_again(model: nn.Module, sentences: Sentences, *rest: Any) -> Any:
    """Move on by one sentence, not by a batch."""
    for start in range(1, len(sentences)):
        tagging_oracle(model, sentences[start:], *rest)
    return tagging_oracle(model, sentences, *rest)


def each_once(model: nn.Module, sentences: Sentences, *rest: Any) -> Any:
    """Tag equal sentences once."""
    return tagging_oracle(model, list(map(list, dict.fromkeys(map(tuple, sentences)))), *rest)


def at_once(*args: Any) -> Any:
    """Put all sentences into one batch."""
    return tagger(size=lambda _, n: max(n, 1))(*args)


def fails_without_sentences(model: nn.Module, sentences: Sentences, *rest: Any) -> Any:
    """Look for the longest of no sentences."""
    max(map(len, sentences))  # one length for all batches
    return tagging_oracle(model, sentences, *rest)
