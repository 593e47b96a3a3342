"""What padding costs: batches of the lesson's tagger made in three ways, a part of `bench.gpu`."""

import os
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from bench.lesson_code import solution
from bench.speed.models import Size
from bench.speed.timing import Care, Run, in_turns
from utils.treebank.conllu import Sentence
from utils.treebank.synthetic import made_up_sentences

LESSON = Size(128, 4, 3, 256, batch=32, length=32)


def padding() -> dict[str, Any]:
    """Measure what three ways of making batches waste, and their words per second (one epoch)."""
    name, sentences = treebank()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    lengths = [len(sentence) for sentence in sentences]
    draw = torch.Generator().manual_seed(0)
    order = torch.randperm(len(lengths), generator=draw).tolist()
    ways = {
        "random, 32 sentences": cut(order, 32),
        "sorted by length, 32 sentences": cut(sorted(order, key=lambda i: lengths[i]), 32),
        "bucket_batches, 1024 tokens": solution()["bucket_batches"](lengths, 1024, draw),
    }
    runs = {way: lesson_epoch(sentences, groups, device) for way, groups in ways.items()}
    seconds = {
        way: statistics.median(s) for way, s in in_turns(runs, device, Care(rounds=3)).items()
    }
    rows = {
        way: {
            "waste": round(waste(lengths, groups), 3),
            "batches": len(groups),
            "words per second": round(sum(lengths) / seconds[way]),
        }
        for way, groups in ways.items()
    }
    return {"treebank": name, "device": device.type} | rows


def treebank() -> tuple[str, list[Sentence]]:
    """Return the treebank that COURSE_DATA names, else made-up sentences, which need no network."""
    if not os.environ.get("COURSE_DATA"):
        return "made-up language", made_up_sentences(1500, 0)
    from utils.treebank.loader import load_treebank  # noqa: PLC0415 (shows progress bars; not everywhere)

    found = load_treebank()
    return found.name, found.train


def cut(order: list[int], count: int) -> list[list[int]]:
    """Cut an order into batches of `count` sentences."""
    return [order[start : start + count] for start in range(0, len(order), count)]


def waste(lengths: Sequence[int], groups: Sequence[Sequence[int]]) -> float:
    """Return the share of all positions that are padding."""
    positions = sum(max(lengths[i] for i in group) * len(group) for group in groups)
    return 1 - sum(lengths) / positions


def lesson_epoch(
    sentences: Sequence[Sentence], groups: Sequence[Sequence[int]], device: torch.device
) -> Run:
    """Return a run that trains the solution's tagger on all batches, with the solution's step."""
    names = solution()
    words = numbered(word for sentence in sentences for word, _ in sentence)
    tags = numbered(tag for sentence in sentences for _, tag in sentence)
    pairs = [([2 + words[w] for w, _ in s], [tags[t] for _, t in s]) for s in sentences]
    batches = [names["collate"]([pairs[i] for i in group]) for group in groups]
    s = LESSON
    torch.manual_seed(0)
    encoder = names["TransformerEncoder"](2 + len(words), s.d_model, s.n_heads, s.n_layers, s.d_ff)
    model = names["Tagger"](encoder, len(tags)).to(device)
    optimizer = AdamW(model.parameters(), 1e-3, fused=True)
    scheduler = LambdaLR(optimizer, lambda _: 1.0)

    def epoch() -> None:
        for batch in batches:
            names["train_step"](model, batch, optimizer, scheduler, device, 1.0)

    return epoch


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Assign numbers from 0 to the sorted names."""
    return {name: number for number, name in enumerate(sorted(set(names)))}
