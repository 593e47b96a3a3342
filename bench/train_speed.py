"""Speed of training on a CPU, and the cost of padding: `python -m bench train_speed`.

The solution's encoder, plain and with fused attention, is compared with `nn.TransformerEncoder`
side by side and in turns in one run; results are medians. `python -m bench.train_speed padding`
measures one part of it. What a GPU makes of it: see `bench.gpu`.
"""

import json
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import torch
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from bench.__main__ import RESULTS, about, keep
from bench.lesson_code import solution
from bench.speed_models import FUSED, SOLUTION, TORCH, Size
from bench.speed_tasks import forward, forward_backward, inference, table
from bench.speed_timing import Care, Run, in_turns
from utils.treebank.conllu import Sentence
from utils.treebank.synthetic import made_up_sentences

NAME = "train_speed"
LESSON = Size(128, 4, 3, 256, batch=32, length=32)
BASE = Size(512, 8, 6, 2048, batch=4, length=64)  # the paper's size, and the exercise's defaults
CPU_SIZES = (LESSON, Size(256, 8, 4, 1024, batch=8, length=128), BASE)
NOT_YET = "not yet measured"


def measure(parts: Sequence[str] = ()) -> dict[str, Any]:
    """Measure all parts or the named ones; the others keep their earlier results."""
    path = RESULTS / f"{NAME}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}
    found = {part: before.get(part, NOT_YET) for part in PARTS}
    if unknown := set(parts) - set(PARTS):
        sys.exit(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for part in parts or PARTS:
        print(part, flush=True)
        found[part] = machine() | PARTS[part]()
    return found


def machine() -> dict[str, Any]:
    """Return where a part is measured."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    found = {"GPU": gpu, "CUDA": torch.version.cuda, "threads": torch.get_num_threads()}
    return about() | found | {"load before": round(os.getloadavg()[0], 2)}


def cpu() -> dict[str, Any]:
    """Compare the solution with torch in float32, without and with padding."""
    tasks = {"forward and backward": forward_backward, "forward": forward, "inference": inference}
    found: dict[str, Any] = {}
    for size in CPU_SIZES:
        rows: dict[str, Any] = {"size": asdict(size)}
        for title, task in tasks.items():
            make = partial(table, (SOLUTION, FUSED, TORCH), size, torch.device("cpu"), task)
            rows |= {title: make(), f"{title}, with padding": make(padded=True)}
        found[f"D = {size.d_model}"] = rows
    return found


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


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "padding": padding,
    "cpu": cpu,
}


if __name__ == "__main__":
    keep(NAME, measure(sys.argv[1:]))
