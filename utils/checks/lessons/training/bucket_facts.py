"""Facts that judge batches, of which many are right; computed where no student code runs."""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from utils.checks.exercise import Inputs
from utils.checks.observation import Plain

MOST_WASTE = 0.15  # share of padding in mixed batches
MOST_BATCHES = 1.6  # times the number that the tokens alone need
# In a random order two of three places are turns: longer than both neighbours, or shorter. In 3
# orders of 48 batches they are fewer than one of three with a probability below 1e-15.
FEWEST_TURNS = 1 / 3
AS_FULL = 0.8  # times as full as batches of long sentences are those of short ones
FEWEST_BATCHES = 20  # of which an order tells something
# Two orders drawn at random correlate with a spread of 1 / sqrt(batches - 1); further than so many
# spreads from 0 lie fewer than one pair in a million.
MOST_ALIKE = 5.0

RUNS = (
    "with a seed",
    "with the same seed",
    "with another seed",
    "epoch 1 with one generator",
    "epoch 2 with one generator",
    "without a generator",
    "without a generator, another seed of torch's own",
    "without a generator, the same seed of torch's own",
)

Batches = list[list[int]]


def bucket_facts(i: Inputs, values: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return facts about eight runs.

    Raises:
        ValueError: the values are not batches.

    """
    *drawn, without, reseeded, again = (_batches(values[run]) for run in RUNS)
    first = drawn[0]
    facts = _facts(first, i["lengths"], i)
    same = _facts(without, i["lengths"], i) == facts
    said = "without a generator" if same else "other faults without a generator"
    order: dict[str, Plain] = {}
    if i["mixed"]:
        order = _order(*drawn) | _chance(drawn, i["lengths"])
        order |= _by_torch(*(list(map(sorted, run)) for run in (without, reseeded, again)))
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
        "all batches are the same": len(batches) > 1 and all(b == batches[0] for b in batches),
        "a sentence is left out": _left_out(counts, lengths),
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
    if words <= max_tokens:
        return "by its padding"
    longest = {id(batch): max(lengths[n] for n in batch) for batch in past}
    by_one = all((len(batch) - 1) * longest[id(batch)] <= max_tokens for batch in past)
    return "by one sentence" if by_one else "even by its words alone"


def _left_out(counts: Mapping[int, int], lengths: Sequence[int]) -> bool | str:
    """Return whether a sentence is missing, and if so, whether only the longest or shortest are."""
    missing = [lengths[n] for n in range(len(lengths)) if n not in counts]
    kept = [lengths[n] for n in range(len(lengths)) if n in counts]
    if not missing:
        return False
    at_an_end = not kept or min(missing) >= max(kept) or max(missing) <= min(kept)
    return "the longest or the shortest" if at_an_end else "sentences of all lengths"


def _thrift(
    batches: Batches, sizes: Sequence[int], lengths: Sequence[int], max_tokens: int
) -> dict[str, Plain]:
    share = 1 - sum(lengths) / max(sum(sizes), 1)
    in_a_row = all(max(batch) - min(batch) < len(batch) for batch in batches if batch)
    alone = len(batches) >= len(lengths)
    filled = len(batches) <= MOST_BATCHES * math.ceil(sum(lengths) / max_tokens)
    room = "" if share > MOST_WASTE else _room(batches, sizes, lengths, max_tokens)
    return {
        "padding": f"{'at most' if share <= MOST_WASTE else 'more than'} {MOST_WASTE:.0%}",
        "batches": "of one sentence" if alone else "filled" if filled else f"half empty{room}",
        "every batch holds numbers in a row": in_a_row and not alone,
    }


def _room(batches: Batches, sizes: Sequence[int], lengths: Sequence[int], max_tokens: int) -> str:
    """Return which batches of like sentences have room for more."""
    if max(map(len, batches)) <= max_tokens // max(lengths):
        return ", with no more sentences than fit of the longest"
    if all(len({lengths[n] for n in batch}) == 1 for batch in batches):
        return ", with sentences of one length alone"
    by_length = [size for _, size in sorted(zip(_longest(batches, lengths), sizes, strict=True))]
    half = len(by_length) // 2
    as_full = statistics.mean(by_length[:half]) > AS_FULL * statistics.mean(by_length[half:])
    return "" if as_full else " where sentences are short"


def _order(
    first: Batches, again: Batches, other: Batches, epoch: Batches, next_epoch: Batches
) -> dict[str, Plain]:
    """Compare the order of batches between runs; the order inside a batch does not count."""
    one, two, three = ([sorted(batch) for batch in run] for run in (first, again, other))
    kept = "the same order" if first == other else "the same order, changed inside the batches"
    repeats = list(map(sorted, epoch)) == list(map(sorted, next_epoch))
    return {
        "the same seed gives": "the same batches" if one == two else "other batches",
        "another seed gives": kept if one == three else "another order",
        "the next epoch has": "the same order" if repeats else "another order",
    }


def _chance(drawn: Sequence[Batches], lengths: Sequence[int]) -> dict[str, Plain]:
    """Return whether the order is one by chance."""
    first, _, other, _, next_epoch = drawn
    orders = [_longest(run, lengths) for run in (first, other, next_epoch)]
    return {
        "the batches come": _sorting(orders),
        "long batches stand": f"at {'much the same' if _alike(orders) else 'other'} places in "
        "another order",
    }


def _by_torch(without: Batches, reseeded: Batches, again: Batches) -> dict[str, Plain]:
    """Return whether torch's own seed decides the order where no generator is given."""
    found = "the same order each time" if without == reseeded else "another order each time"
    if without != again:
        found = "another order even for the same seed"
    return {"without a generator, torch.manual_seed gives": found}


def _longest(batches: Batches, lengths: Sequence[int]) -> list[int]:
    """Return each batch's longest length."""
    return [max((lengths[n] for n in b if 0 <= n < len(lengths)), default=0) for b in batches]


def _sorting(orders: Sequence[Sequence[int]]) -> str:
    """Return how far lengths are in order, whether they rise or fall."""
    turns, places = [_turns(order) for order in orders], sum(len(order) for order in orders)
    if min(map(len, orders)) < FEWEST_BATCHES or sum(turns) >= FEWEST_TURNS * places:
        return "in no order of length"
    if max(turns) == 0:
        return "in order of length"
    # One place where the order begins anew makes two turns.
    return f"in order of length, {'begun in the middle' if max(turns) <= 2 else 'in stretches'}"


def _alike(orders: Sequence[Sequence[int]]) -> bool:
    """Return whether two orders are too much alike to be drawn apart from each other."""
    return any(_likeness(*pair) > MOST_ALIKE for pair in itertools.combinations(orders, 2))


def _likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """Return how many spreads the correlation of two orders lies from 0."""
    size = min(len(one), len(other))
    if size < FEWEST_BATCHES or len(set(one[:size])) == 1 or len(set(other[:size])) == 1:
        return 0.0
    return abs(statistics.correlation(one[:size], other[:size])) * math.sqrt(size - 1)


def _turns(order: Sequence[int]) -> int:
    """Count the entries that are larger than both neighbours, or smaller."""
    steps = [after - before for before, after in itertools.pairwise(order)]
    return sum(one * other < 0 for one, other in itertools.pairwise(steps))
