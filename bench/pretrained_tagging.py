"""Ways to tag words with few tagged sentences: `python -m bench pretrained_tagging`.

Lesson 07 shows them. Beside its own functions and the published weights there are a dictionary with
endings and a small encoder from scratch; English-EWT, tags are parts of speech.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from bench.pretrained import UNTOLD, lesson_names
from utils.pretrained import tagging
from utils.pretrained.english import EVERY, SEEDS, drawn, english, probe_layers
from utils.reference.modules import TransformerEncoder
from utils.treebank.conllu import Sentence

SCRATCH = {50: 60, 100: 40, 300: 25, 1000: 15}  # sentences to learn from -> rounds
SMALL = 64  # D of the encoder from scratch
Shares = dict[str, list[float]]  # number of sentences -> a share for each seed


def measure() -> dict[str, Shares]:
    """Return, by way and number of sentences, the share of test words that are tagged right."""
    lesson = lesson_names((*UNTOLD, '"one run"', '"pairs"'))
    torch.set_num_threads(1)
    encoder, encode = lesson["bert"].eval(), _encode(lesson)
    probed = probe_layers(lesson["words_and_states"], tuple(SCRATCH), SEEDS)
    tests = english("test")[::EVERY]

    def by_state(state: int) -> Shares:
        return {n: [run[state] for run in runs] for n, runs in probed.items()}

    def from_scratch(n: int, seed: int) -> float:
        small, rounds = _small(len(lesson["lab"].files.vocab), seed), SCRATCH[n]
        return tagging.few_sentences(small, encode, SMALL, n, seed, rounds=rounds, rate=3e-3)

    def trained_on(n: int, seed: int) -> float:
        return tagging.published_layers(encoder, encode, lesson["lab"].files.sizes[1], n, seed)

    return {
        "from scratch": _each(from_scratch),
        "dictionary with endings": _each(lambda n, seed: by_dictionary(drawn(n, seed), tests)),
        "linear on state 6, frozen": by_state(6),
        "linear on state 2, frozen": by_state(2),
        "layers trained on": _each(trained_on),
    }


def _each(way: Callable[[int, int], float]) -> Shares:
    return {str(n): [way(n, seed) for seed in SEEDS] for n in SCRATCH}


def by_dictionary(known: list[Sentence], tests: list[Sentence]) -> float:
    """Tag a word as most often before, else as words of its ending, else with the commonest tag."""
    counts: dict[str, Counter[str]] = {}
    for word, tag in (pair for sentence in known for pair in sentence):
        for key in _keys(word):
            counts.setdefault(key, Counter())[tag] += 1
    pairs = [pair for sentence in tests for pair in sentence]
    tagged = [
        next(counts[key] for key in _keys(w) if key in counts).most_common(1)[0][0]
        for w, _ in pairs
    ]
    return round(sum(a == b for a, (_, b) in zip(tagged, pairs, strict=True)) / len(pairs), 4)


def _keys(word: str) -> list[str]:
    return [word, f" {word.lower()}", *(f"-{word.lower()[-n:]}" for n in (4, 3, 2, 1)), ""]


def _encode(lesson: dict[str, Any]) -> tagging.Encode:
    return lambda words: lesson["first_pieces"](words, lesson["encode"])


def _small(n_words: int, seed: int) -> Any:
    torch.manual_seed(seed)
    encoder = TransformerEncoder(n_words, SMALL, 4, 2, 128, tagging.LONGEST)
    nn.init.normal_(encoder.embedding.weight, std=SMALL**-0.5)
    return encoder
