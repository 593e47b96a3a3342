"""What makes lesson 04's little tagger fast, and what stalls it: `python -m bench positions`.

The lesson trains three seeds of each kind before your eyes; here there are ten, and controls: other
tables, positions left out of training, longer texts. The lesson and README show what is recorded.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from utils.experiments import word_order_task as task
from utils.experiments.buggy import encoding_without_minus
from utils.experiments.fixed_positions import FixedPositions, apart, clock, likeness, random_rows
from utils.reference.modules import TokenEmbedding, rotary_embedding

SEEDS = range(10)
WIDTH, REACH = 32, 64
EVERY, SOLVED = 5, 0.9
LEFT_OUT = (6, 11)
PARTS = {"2 to 15": slice(0, 14), "16 to 31": slice(14, 30), "32 to 63": slice(30, 62)}
SPREAD = WIDTH**-0.5  # of the word table: words then are as long as the paper's
LONGER = WIDTH**0.5  # how much longer words are with torch's spread of 1
BASES = (0.3, 0.5, 10, 30, 100, 1000, 10000)
ROTARY_BASES = (10, 100, 10000)
Table = Callable[[int], Tensor]  # seed -> (REACH, WIDTH)


def clock_of(base: float, _seed: int) -> Tensor:
    """Return the sinusoids of a base, whatever the seed."""
    return clock(REACH, WIDTH, base)


TABLES: dict[str, Table] = {
    **{f"sinusoidal, base {base:,}": partial(clock_of, base)
       for base in BASES},
    "sinusoidal, centred": lambda _: centred(clock(REACH, WIDTH, 10000)),
    "sinusoidal, centred, stretched": lambda _: stretched(centred(clock(REACH, WIDTH, 10000))),
    "minus sign lost": lambda _: encoding_without_minus(REACH, WIDTH),
    "random rows": lambda seed: random_rows(REACH, WIDTH, 1000 + seed),
}  # fmt: skip


def centred(table: Tensor) -> Tensor:
    """Take what all trained positions share from each row: distances between rows stay."""
    return table - table[: task.LENGTH].mean(0)


def stretched(table: Tensor) -> Tensor:
    """Make the trained rows as long on average as those of a clock."""
    rows: Tensor = table * (WIDTH / 2) ** 0.5 / table[: task.LENGTH].norm(dim=1).mean()
    return rows


class Trained(nn.Module):
    """A trained table of positions.

    Args:
        start: standard deviation of its entries before training.

    """

    def __init__(self, start: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(start * torch.randn(REACH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        """Add positions: (B, T, D) -> (B, T, D)."""
        return x + self.weight[: x.shape[1]]


def measure() -> dict[str, Any]:
    """Return what was found about each kind of positions, and about long words."""
    torch.set_num_threads(1)
    makers: dict[str, Callable[[int], task.OrderTagger]] = {
        name: partial(fixed, table) for name, table in TABLES.items()
    }
    makers |= {f"rotary, base {base:,}": partial(turned, float(base)) for base in ROTARY_BASES}
    makers |= {
        "learned": partial(trained, 0.02),
        "learned, longer start": partial(trained, 0.5**0.5),
        "none": lambda _: tagger(),
    }
    found: dict[str, Any] = {name: one_kind(make) for name, make in makers.items()}
    for name, table in TABLES.items():
        rows = table(0)[: task.LENGTH]
        found[name]["cosine of neighbours"] = round(likeness(rows), 3)
        found[name]["distance of neighbours"] = round(apart(rows), 3)
    return {"seeds": len(SEEDS), "left out": LEFT_OUT, "kinds": found, "long words": long_words()}


def tagger(**positions: Any) -> task.OrderTagger:
    """Return a fresh tagger whose words are as long as the paper's."""
    words = TokenEmbedding(task.VOCABULARY, WIDTH)
    task.redraw(words, SPREAD)
    return task.OrderTagger(words, WIDTH, **positions)


def fixed(table: Table, seed: int) -> task.OrderTagger:
    """Return a tagger to whose words the rows of a table are added."""
    return tagger(positions=FixedPositions(table(seed)))


def trained(start: float, seed: int) -> task.OrderTagger:
    """Return a tagger with trained positions."""
    return tagger(positions=Trained(start))


def turned(base: float, seed: int) -> task.OrderTagger:
    """Return a tagger with rotary positions."""
    return tagger(rotate=partial(rotary_embedding, base=base))


def one_kind(make: Callable[[int], task.OrderTagger]) -> dict[str, Any]:
    """Train one kind with every seed, once on all positions and once with some left out."""
    steps, beyond, unseen = [], [], []
    for seed in SEEDS:
        model = seeded(make, seed)
        steps.append(steps_until(task.train(model, 100 + seed, every=EVERY)))
        shares = task.hits(model, REACH)
        beyond.append([round(shares[part].mean().item(), 3) for part in PARTS.values()])
        model = seeded(make, seed)
        task.train(model, 100 + seed, left_out=LEFT_OUT)
        places = [place - task.BACK for place in LEFT_OUT]
        unseen.append(round(task.hits(model, task.LENGTH)[places].mean().item(), 3))
    return {
        "steps until 90%": steps,
        "beyond": dict(zip(PARTS, zip(*beyond, strict=True), strict=True)),
        "at positions left out": unseen,
    }


def seeded(make: Callable[[int], task.OrderTagger], seed: int) -> task.OrderTagger:
    """Return a model that depends on its seed alone."""
    torch.manual_seed(seed)
    return make(seed)


def steps_until(curve: list[float]) -> int | None:
    """Return the first measured step at which the accuracy is high; None if it never is."""
    high = [place for place, share in enumerate(curve) if share >= SOLVED]
    return EVERY * (high[0] + 1) if high else None


def long_words() -> dict[str, Any]:
    """Train with long words, with and without what could make up for them, at two rates."""
    sinusoids = clock(REACH, WIDTH, 10000)
    found: dict[str, Any] = {}
    for rate in (0.01, 0.002):
        for calm in (False, True):
            start = "calm start" if calm else "as it is"
            models: dict[str, Callable[[int], task.OrderTagger]] = {
                "sinusoidal": lambda _: tagger(positions=FixedPositions(sinusoids)),
                "sinusoidal, as long as the words": lambda _: tagger(
                    positions=FixedPositions(LONGER * sinusoids)
                ),
                "rotary": partial(turned, 10000.0),
            }
            for name, make in models.items():
                ends = [long_worded(make, seed, rate, calm) for seed in SEEDS]
                found[f"{name}; {start}; rate {rate}"] = ends
        ends = [task.train(seeded(models["sinusoidal"], s), 100 + s, rate=rate)[-1] for s in SEEDS]
        found[f"sinusoidal, words of the paper's length; rate {rate}"] = ends
    return {name: [round(end, 3) for end in ends] for name, ends in found.items()}


def long_worded(
    make: Callable[[int], task.OrderTagger], seed: int, rate: float, calm: bool
) -> float:
    """Return the accuracy after training with words of torch's spread.

    A calm start shortens the first queries and keys by as much as the words are longer, so that the
    first scores are as small as with words of the paper's length.
    """
    model = seeded(make, seed)
    task.redraw(model.words, 1.0)
    if calm:
        with torch.no_grad():
            model.queries_keys_values.weight[: 2 * WIDTH] /= LONGER
    return task.train(model, 100 + seed, rate=rate)[-1]
