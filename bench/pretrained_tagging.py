"""Ways to tag words with few tagged sentences: `python -m bench pretrained_tagging`.

Lesson 07 shows them. Beside its own functions and the published weights there are a dictionary with
endings and a small encoder from scratch; English-EWT, tags are parts of speech.
"""

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from bench.pretrained import UNTOLD, lesson_names
from utils.pretrained.english import EVERY, drawn, english, probe_layers
from utils.reference.modules import TransformerEncoder
from utils.treebank.conllu import Sentence

# sentences to learn from -> seeds of what is quick, seeds of what takes long
SIZES = {50: ((0, 1, 2), (0, 1, 2)), 100: ((0, 1, 2), (0,)), 300: ((0,), (0,)), 1000: ((0,), ())}
BATCH, RATE, WARM_UP = 16, 3e-4, 0.1
TUNED = {50: 12, 100: 8, 300: 4}  # rounds
SCRATCH = {50: 60, 100: 40, 300: 25, 1000: 15}
# Cells that measure something else.
OTHERS = (
    *UNTOLD,
    "library.SIX",
    *(f'"{x}"' for x in ("faults", "cosines", "search", "heads", "layers", "pairs")),
)
Pieces = tuple[list[int], list[int], list[int]]  # ids, places of first pieces, tags


def measure() -> dict[str, dict[str, list[float]]]:
    """Return, by way and number of sentences, the share of test words that are tagged right."""
    lesson = lesson_names(OTHERS)
    torch.set_num_threads(1)
    tests = english("test")[::EVERY]
    pieces = _Pieces(lesson, sorted({tag for sentence in tests for _, tag in sentence}))
    probed = {
        str(n): probe_layers(pieces.states, (n,), quick)[str(n)]
        for n, (quick, slow) in SIZES.items()
        if slow
    }
    found: dict[str, dict[str, list[float]]] = {
        "from scratch": {},
        "dictionary with endings": {},
        "linear on state 6, frozen": {n: [run[6] for run in runs] for n, runs in probed.items()},
        "linear on state 2, frozen": {n: [run[2] for run in runs] for n, runs in probed.items()},
        "layers trained on": {},
    }
    for n, (quick, slow) in SIZES.items():
        rows = {
            "dictionary with endings": [by_dictionary(drawn(n, s), tests) for s in quick],
            "from scratch": [
                trained(_small(lesson), pieces, drawn(n, s), tests, rounds=SCRATCH[n], seed=s)
                for s in quick
            ],
            "layers trained on": [
                trained(_whole(lesson), pieces, drawn(n, s), tests, rounds=TUNED[n], seed=s)
                for s in slow
            ],
        }
        for way, shares in rows.items():
            found[way] |= {str(n): shares} if shares else {}
            print(n, way, shares, flush=True)
    return found


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


class _Pieces:
    """Turns sentences into pieces and tags, by the lesson's own functions.

    Args:
        lesson: what its cells define.
        tags: all parts of speech.

    """

    def __init__(self, lesson: dict[str, Any], tags: list[str]) -> None:
        self.tags = tags
        self._first_pieces, self._encode = lesson["first_pieces"], lesson["encode"]
        self._encoder = lesson["bert"].eval()

    def of(self, sentence: Sentence) -> Pieces:
        """Return ids, places of first pieces and numbers of tags."""
        ids, places = self._first_pieces([word for word, _ in sentence], self._encode)
        known = [self.tags.index(tag) if tag in self.tags else 0 for _, tag in sentence]
        return ids[:512], places, known

    @torch.no_grad()
    def states(self, words: Sequence[str]) -> Tensor:
        """Return the states of words after 0 ... N layers, (words, N + 1, D)."""
        ids, places = self._first_pieces(words, self._encode)
        states = [self._encoder.embed(torch.tensor([ids]))]
        for layer in self._encoder.layers:
            states.append(layer(states[-1], None))
        return torch.stack([state[0, places] for state in states], 1)


class Tagger(nn.Module):
    """An encoder, and a linear layer that scores the tags of first pieces.

    Args:
        encoder: (B, T) -> (B, T, D).
        width: D.
        n_tags: number of tags.

    """

    def __init__(self, encoder: nn.Module, width: int, n_tags: int) -> None:
        super().__init__()
        self.encoder, self.output = encoder, nn.Linear(width, n_tags)

    def forward(self, batch: list[Pieces]) -> Tensor:
        """Score the tags of all words of a batch, (words, tags)."""
        ids = pad_sequence([torch.tensor(ids) for ids, _, _ in batch], batch_first=True)
        vectors = self.encoder(ids)
        firsts = [vectors[n, places] for n, (_, places, _) in enumerate(batch)]
        scores: Tensor = self.output(torch.cat(firsts))
        return scores


def _small(lesson: dict[str, Any]) -> tuple[nn.Module, int]:
    encoder = TransformerEncoder(len(lesson["lab"].files.vocab), 64, 4, 2, 128, 512)
    nn.init.normal_(encoder.embedding.weight, std=64**-0.5)
    return encoder, 64


def _whole(lesson: dict[str, Any]) -> tuple[nn.Module, int]:
    encoder = copy.deepcopy(lesson["bert"])
    encoder.embedding.requires_grad_(False)
    return encoder, 384


def trained(
    encoder: tuple[nn.Module, int],
    pieces: _Pieces,
    known: list[Sentence],
    tests: list[Sentence],
    *,
    rounds: int,
    seed: int,
) -> float:
    """Train a tagger on some sentences, and return its share of test words tagged right."""
    torch.manual_seed(seed)
    tagger = Tagger(*encoder, len(pieces.tags)).train()
    wanted = [p for p in tagger.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(wanted, RATE if encoder[1] > 64 else 3e-3)
    data, steps = [pieces.of(one) for one in known], rounds * -(-len(known) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / (WARM_UP * steps), (steps - n) / steps)
    )
    for _ in range(rounds):
        for rows in torch.randperm(len(data)).split(BATCH):
            batch = [data[n] for n in rows.tolist()]
            target = torch.tensor([tag for _, _, tags in batch for tag in tags])
            loss = F.cross_entropy(tagger(batch), target)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(wanted, 1.0)
            optimizer.step()
            schedule.step()
    return examined(tagger.eval(), [pieces.of(one) for one in tests])


@torch.no_grad()
def examined(tagger: Tagger, data: list[Pieces]) -> float:
    """Return the share of words tagged right."""
    hits = []
    for start in range(0, len(data), 32):
        batch = data[start : start + 32]
        target = torch.tensor([tag for _, _, tags in batch for tag in tags])
        hits.append(tagger(batch).argmax(-1) == target)
    return round(torch.cat(hits).double().mean().item(), 4)
