"""Train an encoder of pieces to tag words, which it reads at their first pieces."""

import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from utils.experiments.device import best_device
from utils.experiments.train import bar
from utils.pretrained.english import EVERY, drawn, english
from utils.pretrained.training import CLIP, short_numbers
from utils.treebank.conllu import Sentence

Encode = Callable[[Sequence[str]], tuple[list[int], list[int]]]  # words -> ids, first pieces
BATCH, WARM_UP, LONGEST = 16, 0.1, 512  # sentences, a share of all steps, pieces
RATE, ROUNDS = 3e-4, {50: 12, 100: 8, 300: 4, 1000: 3}  # for published layers; by sentences


class Pieces(NamedTuple):
    """A sentence: ids of its pieces, places of its words' first ones, and numbers of its tags."""

    ids: list[int]
    firsts: list[int]
    tags: list[int]


class Tagger(nn.Module):
    """An encoder, and a linear layer that scores the tags of words at their first pieces.

    Args:
        encoder: (B, T) -> (B, T, D), padding is id 0.
        width: D.
        n_tags: number of tags.

    """

    def __init__(self, encoder: nn.Module, width: int, n_tags: int) -> None:
        super().__init__()
        self.encoder, self.output = encoder, nn.Linear(width, n_tags)

    def forward(self, batch: Sequence[Pieces]) -> Tensor:
        """Score the tags of all words of a batch, (words, tags)."""
        ids = pad_sequence([torch.tensor(one.ids) for one in batch], batch_first=True)
        vectors = self.encoder(ids.to(self.output.weight.device))
        scores: Tensor = self.output(torch.cat([vectors[n, b.firsts] for n, b in enumerate(batch)]))
        return scores


def published_layers(encoder: nn.Module, encode: Encode, width: int, n: int, seed: int) -> float:
    """Train a copy of a published encoder's layers on n sentences of English-EWT.

    The table of words stays as it is.

    Args:
        encoder: with an `embedding`; left as it is.
        encode: words -> ids of a sentence, and the places of its words' first pieces.
        width: D.
        n: how many sentences.
        seed: of the draw of sentences, their order, dropout and the new layer.

    Returns:
        share of the words of every third test sentence that are tagged right.

    """
    student = copy.deepcopy(encoder)
    student.get_submodule("embedding").requires_grad_(requires_grad=False)
    return few_sentences(student, encode, width, n, seed, rounds=ROUNDS[n], rate=RATE)


def few_sentences(
    encoder: nn.Module, encode: Encode, width: int, n: int, seed: int, *, rounds: int, rate: float
) -> float:
    """Train an encoder on n sentences of English-EWT; return its share of test words right."""
    tests = english("test")[::EVERY]
    names = sorted({tag for sentence in tests for _, tag in sentence})
    data = [pieces(one, encode, names) for one in drawn(n, seed)]
    torch.manual_seed(seed)
    tagger = Tagger(encoder, width, len(names)).to(best_device())
    train(tagger, data, rounds=rounds, rate=rate)
    return share_right(tagger, [pieces(one, encode, names) for one in tests])


def train(tagger: Tagger, data: Sequence[Pieces], *, rounds: int, rate: float) -> None:
    """Train a tagger where it is, in batches drawn anew in each round."""
    learning = [p for p in tagger.train().parameters() if p.requires_grad]
    optimizer, steps = torch.optim.AdamW(learning, rate), rounds * -(-len(data) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (WARM_UP * steps), (steps - step) / steps)
    )
    with bar(f"learning from {len(data)} sentences", steps) as progress:
        for _ in range(rounds):
            for rows in torch.split(torch.randperm(len(data)), BATCH):
                batch = [data[row] for row in rows.tolist()]
                with short_numbers(tagger):
                    loss = F.cross_entropy(tagger(batch), _tags(batch).to(learning[0].device))
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(learning, CLIP)
                optimizer.step()
                schedule.step()
                progress.update()


def pieces(sentence: Sentence, encode: Encode, names: Sequence[str]) -> Pieces:
    """Cut a sentence into pieces; a tag that no test sentence has counts as the first."""
    ids, firsts = encode([word for word, _ in sentence])
    places = [place for place in firsts if place < LONGEST]
    tags = [names.index(tag) if tag in names else 0 for _, tag in sentence]
    return Pieces(ids[:LONGEST], places, tags[: len(places)])


@torch.no_grad()
def share_right(tagger: nn.Module, data: Sequence[Pieces]) -> float:
    """Return the share of words that are tagged right, in eval mode."""
    tagger.eval()
    batches = [data[start : start + 2 * BATCH] for start in range(0, len(data), 2 * BATCH)]
    hits = [tagger(batch).argmax(-1).cpu() == _tags(batch) for batch in batches]
    return round(torch.cat(hits).double().mean().item(), 4)


def _tags(batch: Sequence[Pieces]) -> Tensor:
    return torch.tensor([tag for one in batch for tag in one.tags])
