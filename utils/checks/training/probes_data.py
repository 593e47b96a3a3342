"""How what is done with words and batches is questioned: vocabulary, padding, buckets."""

import copy
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch

from utils.checks.calling import AnswerError, unpack
from utils.checks.exercise import Inputs, Probe, case
from utils.checks.inputs import Draw
from utils.checks.observation import describe

MOST_WASTE = 0.15  # share of padding in mixed batches
MOST_BATCHES = 3  # times as many as the tokens alone would need
SEEDS = (11, 12)

Batches = list[list[int]]


def untouched(name: str, before: object, after: object) -> dict[str, object]:
    """Say whether the caller's list is as it was (the engine watches tensors only)."""
    return {f"the {name} are as they were": before == after}


def _vocab_inputs(text: list[str], min_count: int | None = None) -> Inputs:
    return {"sentences": [line.split() for line in text], "min_count": min_count}


def _call_vocab(answer: Any, i: Inputs) -> dict[str, object]:
    before = copy.deepcopy(i["sentences"])
    options = [] if i["min_count"] is None else [i["min_count"]]
    vocabulary = answer(i["sentences"], *options)
    return {"vocabulary": vocabulary, **untouched("sentences", before, i["sentences"])}


def _collate_inputs(lengths: list[int]) -> Inputs:
    draw = Draw(lengths=lengths)
    pairs = [(draw.integers(60, n, low=2), draw.integers(9, n)) for n in lengths]
    return {"batch": [(ids.tolist(), tags.tolist()) for ids, tags in pairs]}


def _call_collate(answer: Any, i: Inputs) -> dict[str, object]:
    before = copy.deepcopy(i["batch"])
    parts = unpack(answer(i["batch"]), "ids", "lengths", "tags")
    return parts | untouched("lists", before, i["batch"])


def _bucket_inputs(
    max_tokens: int, lengths: list[int] | None = None, N: int = 0, longest: int = 0  # noqa: N803
) -> Inputs:  # fmt: skip
    drawn = Draw(N=N, longest=longest).integers(longest + 1, N, low=1).tolist() if N else lengths
    return {"lengths": list(drawn or ()), "max_tokens": max_tokens, "mixed": bool(N)}


def _call_buckets(answer: Any, i: Inputs) -> dict[str, object]:
    before, given = list(i["lengths"]), (i["lengths"], i["max_tokens"])
    first, again, other = (
        _plain_batches(answer(*given, torch.Generator().manual_seed(seed)))
        for seed in (SEEDS[0], *SEEDS)
    )
    without = _plain_batches(answer(*given))
    facts = _facts(first, before, i)
    same = _facts(without, before, i) == facts
    said = "without a generator" if same else "other faults without a generator"
    order = _order(first, again, other) if i["mixed"] else {}
    return facts | order | {"called": said} | untouched("lengths", before, i["lengths"])


def _plain_batches(batches: object) -> Batches:
    """Take the batches as they are, so long as they are lists of lists of numbers."""
    if not isinstance(batches, list):
        kind = "nothing" if batches is None else "return"
        raise AnswerError(kind, f"It should return a list of batches, not {describe(batches)}.")
    for batch in batches:
        if not isinstance(batch, list):
            raise AnswerError("return", f"A batch should be a list, not {describe(batch)}.")
        strange = next((index for index in batch if type(index) is not int), None)
        if strange is not None:
            raise AnswerError("return", f"A batch should hold plain ints, not {describe(strange)}.")
    return [list(batch) for batch in batches]


def _facts(batches: Batches, lengths: Sequence[int], i: Inputs) -> dict[str, object]:
    """What can be said of right batches, of which there are many."""
    counts = Counter(index for batch in batches for index in batch)
    known = [[n for n in batch if 0 <= n < len(lengths)] for batch in batches]
    sizes = [len(batch) * max((lengths[n] for n in batch), default=0) for batch in known]
    facts: dict[str, object] = {
        "a sentence is left out": any(n not in counts for n in range(len(lengths))),
        "a sentence is there twice": any(count > 1 for count in counts.values()),
        "an index is of no sentence": any(not 0 <= n < len(lengths) for n in counts),
        "a batch is empty": not all(batches),
        "a batch is past max_tokens": _past(known, sizes, lengths, i["max_tokens"]),
    }
    return facts | (_thrift(batches, sizes, lengths, i["max_tokens"]) if i["mixed"] else {})


def _past(
    batches: Batches, sizes: Sequence[int], lengths: Sequence[int], max_tokens: int
) -> bool | str:
    """Whether a batch is past the budget, and if so, whether its words alone are."""
    pairs = zip(batches, sizes, strict=True)
    past = [batch for batch, size in pairs if len(batch) > 1 and size > max_tokens]
    if not past:
        return False
    words = max(sum(lengths[n] for n in batch) for batch in past)
    return "even by its words alone" if words > max_tokens else "by its padding"


def _thrift(
    batches: Batches, sizes: Sequence[int], lengths: Sequence[int], max_tokens: int
) -> dict[str, object]:
    share = 1 - sum(lengths) / max(sum(sizes), 1)
    few = len(batches) <= MOST_BATCHES * math.ceil(sum(lengths) / max_tokens)
    return {
        "padding": f"{'at most' if share <= MOST_WASTE else 'more than'} {MOST_WASTE:.0%}",
        "batches": "filled" if few else "nearly empty",
    }


def _order(first: Batches, again: Batches, other: Batches) -> dict[str, object]:
    """Whether batches change places with the seed alone; their insides do not count."""
    one, two, three = ([sorted(batch) for batch in run] for run in (first, again, other))
    kept = "the same order" if first == other else "the same order, changed inside the batches"
    return {
        "the same seed gives": "the same batches" if one == two else "other batches",
        "another seed gives": kept if one == three else "another order",
    }


DATA = (
    Probe(
        "build_vocab",
        _vocab_inputs,
        _call_vocab,
        (
            case("two sentences", True, text=["stůl stůl stůl na stole", "na lavici"]),
            case("ties", text=["b c a d", "d c b a", "c e e c"]),
            case("words seen twice or more", text=["b a a c", "a c d b", "c c"], min_count=2),
            case("capital letters", text=["Praha praha PRAHA", "praha Praha je"]),
        ),
        gradient=False,
    ),
    Probe(
        "collate",
        _collate_inputs,
        _call_collate,
        (
            case("three sentences", True, lengths=[3, 5, 2]),
            case("one sentence", lengths=[4]),
            case("equal lengths", lengths=[3, 3]),
            case("an empty sentence", lengths=[0, 2, 4]),
        ),
        gradient=False,
    ),
    Probe(
        "bucket_batches",
        _bucket_inputs,
        _call_buckets,
        (
            case("six sentences", True, lengths=[5, 2, 9, 4, 7, 3], max_tokens=12),
            case("mixed lengths", N=400, longest=60, max_tokens=256),
            case("a sentence past the budget", lengths=[3, 30, 2, 4, 25], max_tokens=10),
            case("equal lengths", lengths=[4, 4, 4, 4, 4, 4, 4], max_tokens=12),
        ),
        gradient=False,
    ),
)
