"""Facts that judge batches, of which many are right; computed where no student code runs."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from utils.checks.framework.exercise import Inputs
from utils.checks.framework.observation import Plain

MOST_WASTE = 0.15  # share of padding in mixed batches
MOST_BATCHES = 3  # times the number that the tokens alone need

RUNS = ("with a seed", "with the same seed", "with another seed", "without a generator")

Batches = list[list[int]]


def bucket_facts(i: Inputs, values: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return facts about four runs.

    Raises:
        ValueError: the values are not batches.

    """
    first, again, other, without = (_batches(values[run]) for run in RUNS)
    facts = _facts(first, i["lengths"], i)
    same = _facts(without, i["lengths"], i) == facts
    said = "without a generator" if same else "other faults without a generator"
    order = _order(first, again, other) if i["mixed"] else {}
    kept = "the lengths are as they were"
    return facts | order | {"called": said, kept: values[kept]}


def _batches(value: Plain) -> Batches:
    if not isinstance(value, list):
        raise ValueError("no list of batches")
    found = [[n for n in batch if type(n) is int] for batch in value if isinstance(batch, list)]
    if found != value:
        raise ValueError("no batches of plain numbers")
    return found


def _facts(batches: Batches, lengths: Sequence[int], i: Inputs) -> dict[str, Plain]:
    """Return facts on which all right batches, of which there are many, agree."""
    counts = Counter(index for batch in batches for index in batch)
    known = [[n for n in batch if 0 <= n < len(lengths)] for batch in batches]
    sizes = [len(batch) * max((lengths[n] for n in batch), default=0) for batch in known]
    facts: dict[str, Plain] = {
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
    """Return whether a batch is past the budget, and if so, whether by its words alone."""
    pairs = zip(batches, sizes, strict=True)
    past = [batch for batch, size in pairs if len(batch) > 1 and size > max_tokens]
    if not past:
        return False
    words = max(sum(lengths[n] for n in batch) for batch in past)
    return "even by its words alone" if words > max_tokens else "by its padding"


def _thrift(
    batches: Batches, sizes: Sequence[int], lengths: Sequence[int], max_tokens: int
) -> dict[str, Plain]:
    share = 1 - sum(lengths) / max(sum(sizes), 1)
    few = len(batches) <= MOST_BATCHES * math.ceil(sum(lengths) / max_tokens)
    return {
        "padding": f"{'at most' if share <= MOST_WASTE else 'more than'} {MOST_WASTE:.0%}",
        "batches": "filled" if few else "nearly empty",
    }


def _order(first: Batches, again: Batches, other: Batches) -> dict[str, Plain]:
    """Compare the order of batches between seeds; the order inside a batch does not count."""
    one, two, three = ([sorted(batch) for batch in run] for run in (first, again, other))
    kept = "the same order" if first == other else "the same order, changed inside the batches"
    return {
        "the same seed gives": "the same batches" if one == two else "other batches",
        "another seed gives": kept if one == three else "another order",
    }
