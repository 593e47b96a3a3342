"""English-EWT (Universal Dependencies, CC BY-SA 4.0) and a linear probe of states."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.published import ENGLISH
from utils.treebank.conllu import Sentence, read_conllu

SIZES: Final = (50,)  # sentences to learn from
SEEDS: Final = (0, 1, 2)
LONGEST, EVERY = 60, 3  # words of a sentence to learn from; every third test sentence is looked at
STEPS, RATE, DECAY = 200, 1e-2, 1e-2


@cache
def english(split: str) -> list[Sentence]:
    """Return sentences of (word, part of speech), from COURSE_DATA or the publisher.

    Raises:
        DownloadError: they can be had from neither.

    """
    sentences = read_conllu(_file(f"en_ewt-ud-{split}.conllu"))
    return [[(word, tag.partition("|")[0]) for word, tag in sentence] for sentence in sentences]


def _file(name: str) -> Path:
    folder = Path(os.environ.get("COURSE_DATA", "") or "no folder").expanduser()
    for path in (folder / name, folder / ENGLISH.name / name):
        if path.is_file() and ENGLISH.files[name](path):
            return path
    return ENGLISH.fetched(name)


def drawn(n: int, seed: int) -> list[Sentence]:
    """Draw sentences to learn from."""
    usual = [s for s in english("train") if len(s) <= LONGEST]
    order = torch.randperm(len(usual), generator=torch.Generator().manual_seed(seed))
    return [usual[place] for place in order[:n].tolist()]


def probe_layers(
    states_of_words: Callable[[Sequence[str]], Tensor],
    sizes: Sequence[int] = SIZES,
    seeds: Sequence[int] = SEEDS,
) -> dict[str, list[list[float]]]:
    """Train a linear layer on each state, and return the shares of test words that it tags right.

    Args:
        states_of_words: the words of a sentence -> (words, states, D).
        sizes: numbers of sentences to learn from.
        seeds: of the draws.

    Returns:
        number of sentences -> for each draw, a share for each state.

    """
    tests = english("test")[::EVERY]
    names = sorted({tag for sentence in tests for _, tag in sentence})
    x_test, y_test = _features(tests, states_of_words, names)
    return {
        str(n): [
            _probed(*_features(drawn(n, seed), states_of_words, names), x_test, y_test)
            for seed in seeds
        ]
        for n in sizes
    }


def _features(
    sentences: Sequence[Sentence],
    states_of_words: Callable[[Sequence[str]], Tensor],
    names: list[str],
) -> tuple[Tensor, Tensor]:
    states = torch.cat([states_of_words([word for word, _ in one]) for one in sentences])
    known = {name: number for number, name in enumerate(names)}
    tags = [known.get(tag, 0) for sentence in sentences for _, tag in sentence]
    return states.transpose(0, 1), torch.tensor(tags)  # (states, words, D)


def _probed(x: Tensor, y: Tensor, x_test: Tensor, y_test: Tensor) -> list[float]:
    """Train one linear layer for each state, all at once."""
    mean, spread = x.mean(1, keepdim=True), x.std(1, keepdim=True) + 1e-6
    x, x_test, tags = (x - mean) / spread, (x_test - mean) / spread, int(y_test.max()) + 1
    weight = torch.zeros(len(x), x.shape[2], tags, requires_grad=True)
    bias = torch.zeros(len(x), 1, tags, requires_grad=True)
    optimizer = torch.optim.AdamW([weight, bias], RATE, weight_decay=DECAY)
    for _ in range(STEPS):
        scores = x @ weight + bias
        loss = F.cross_entropy(scores.flatten(0, 1), y.repeat(len(x))) * len(x)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        right = (x_test @ weight + bias).argmax(-1) == y_test
    return [round(share, 4) for share in right.float().mean(1).tolist()]
