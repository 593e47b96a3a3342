"""Lesson 06 from top to bottom, as a script: a part of `bench.gpu`.

Its cells run in order in one namespace, as in the notebook, without Jupyter and without pictures.
The contest's runs are made one by one, so that each is a figure of its own. At the end each network
is trained once more with everything in float32.
"""

import contextlib
import io
import re
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bench.gpu.record import Figures, Found, Place, is_known, told
from bench.gpu.stand_ins import Silent
from bench.lesson_code import CARRIED, cells, solution

NAME = "06_training"
CARRIED_NAMES = (
    "scaled_dot_product_attention",
    "TokenEmbedding",
    "rotary_embedding",
    "TransformerEncoder",
)
CONTEST = "models[name], histories[name] = train_one("  # in the cell that trains all contenders
# What the lesson imports from here is given to it: pictures, checks, a kernel's history, a device.
GIVEN = re.compile(
    r"(?m)^(import matplotlib|from utils import drawn, plots"
    r"|from utils\.(checks|plots(\.sentences)?|progress\.guesses|training\.live_plot"
    r"|notebook\.(carry|history|lend)|experiments\.device) import).*$"
)
SIZES = "replace(settings_for(device))"  # where the lesson says that sizes may be changed
TOY = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "epochs": 1, "most_sentences": 60}
FLOAT32, REST, WHOLE = ", float32", "the rest of the lesson", "whole lesson, seconds"


class Float32(nn.Module):
    """A model that computes in float32, whatever autocast is asked for around it.

    Args:
        model: the model.

    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to logits (B, T, C)."""
        with torch.autocast(ids.device.type, enabled=False):
            logits: Tensor = self.model(ids)
        return logits


class Lesson:
    """The lesson's namespace after the cells before the contest, and what is left to run.

    Args:
        place: where it computes, and whether with tiny sizes.

    """

    def __init__(self, place: Place) -> None:
        sources = cells(NAME)
        contest = next(i for i, source in enumerate(sources) if CONTEST in source)
        self.names = given(place, sources)
        self.after = sources[contest + 1 :]
        start = time.perf_counter()
        with quietly():
            for source in sources[:contest]:
                exec(compile(adapted(source), f"<{NAME}>", "exec"), self.names)
        self.seconds = time.perf_counter() - start
        self.names |= {"models": {}, "histories": {}}

    def setting(self) -> dict[str, Any]:
        """Return the data and the sizes."""
        treebank, settings = self.names["treebank"], self.names["settings"]
        return {
            "treebank": str(treebank).split("\n")[0],
            "sentences to learn from": len(self.names["train"]),
            "settings": vars(settings),
            "seconds up to the contest": round(self.seconds, 1),
        }

    def look_ups(self) -> dict[str, dict[str, float]]:
        """Return the two dictionaries' rows of the scoreboard."""
        known = (name for name in self.names["scores"] if name in self.names["look_ups"])
        return {name: shares(self.names["scores"][name]) for name in known}

    def row(self, name: str) -> dict[str, Any]:
        """Train a network as the contest does, and return its row of the scoreboard."""
        names, start = self.names, time.perf_counter()
        model, history = self._trained(name)
        trained = time.perf_counter()
        words = [[word for word, _ in sentence] for sentence in names["treebank"].test]
        tagged = names["tag_sentences"](model, words, names["lexicon"], names["tag_names"])
        end = time.perf_counter()
        return curves(history) | {
            "test": shares(names["examiner"].score(names["treebank"].test, tagged)),
            "parameters": sum(p.numel() for p in model.parameters()),
            "seconds": round(trained - start, 2),
            "words per second, tagging": round(sum(map(len, words)) / (end - trained)),
        }

    def _trained(self, name: str) -> tuple[nn.Module, Any]:
        found: tuple[nn.Module, Any] = self.names["train_one"](self.names["contenders"][name], name)
        self.names["models"][name], self.names["histories"][name] = found
        return found

    def in_float32(self, name: str, known: Found) -> dict[str, Any]:
        """Train a network with everything in float32, and compare with the contest's run."""
        make = self.names["contenders"][name]
        _, history = self.names["train_one"](lambda s: Float32(make(s)), name + FLOAT32)
        found = curves(history)
        row: Any = known.get(name)
        if is_known(row):
            pairs = zip(row["loss by epoch"], found["loss by epoch"], strict=True)
            gaps = [round(ours - full, 5) for ours, full in pairs]
            speed = row["words per second"] / found["words per second"]
            found |= {"loss of the contest's run minus this": gaps}
            found |= {"words per second of the contest's run over this": round(speed, 3)}
        return found

    def rest(self) -> dict[str, Any]:
        """Run all cells after the contest: the scoreboard, faults, less text, predictions."""
        for name in self.names["contenders"]:
            if name not in self.names["models"]:
                self._trained(name)
        failed, start = {}, time.perf_counter()
        for source in self.after:
            try:
                exec(compile(adapted(source), f"<{NAME}>", "exec"), self.names)
            except TimeoutError:
                raise
            except Exception as error:
                failed[source.strip().split("\n")[0]] = told(error)
        found = {"seconds": round(time.perf_counter() - start, 1)}
        return found | ({"cells that failed": failed} if failed else {})


def figures(place: Place, known: Found) -> Figures:
    """Run the lesson figure by figure."""
    lesson = Lesson(place)
    contenders = list(lesson.names["contenders"])
    yield "setting", lesson.setting
    yield "dictionaries", lesson.look_ups
    for name in contenders:
        yield name, partial(aside, partial(lesson.row, name))
    yield REST, partial(aside, lesson.rest)
    yield WHOLE, partial(whole, known, contenders)
    for name in contenders:
        yield name + FLOAT32, partial(aside, partial(lesson.in_float32, name, known))


def whole(known: Found, contenders: list[str]) -> float:
    """Add up what the lesson takes, as a student runs it."""
    runs = [known[name]["seconds"] for name in (*contenders, REST)]
    return round(float(known["setting"]["seconds up to the contest"] + sum(runs)), 1)


def given(place: Place, sources: list[str]) -> dict[str, Any]:
    """Return what stands in for the imports that a script can do without."""
    silent = Silent()
    carried = solution(CARRIED_NAMES)
    return {
        **{name: carried[name] for name in CARRIED_NAMES},
        **dict.fromkeys(("plt", "plots", "pictures", "drawn", "LiveCurves", "check"), silent),
        **dict.fromkeys(("show_tags", "guess", "reveal", "summary"), silent),
        "best_device": lambda: place.device.type,
        "cells_run": lambda: sources,
        "changes": TOY if place.toy else {},
        "__name__": NAME,
    }


def adapted(source: str) -> str:
    """Leave out a cell's imports of what is given, and let the sizes be changed."""
    changed = SIZES.replace("))", "), **changes)")
    return CARRIED.sub("", GIVEN.sub("", source)).replace(SIZES, changed)


def curves(history: Any) -> dict[str, Any]:
    """Return a run's losses, its best accuracy on dev and its speed."""
    return {
        "dev, best epoch": round(history.best.accuracy, 4),
        "loss by epoch": [round(epoch.loss, 5) for epoch in history.epochs],
        "words per second": round(history.words_per_second),
    }


def shares(scores: Any) -> dict[str, float]:
    """Return rounded accuracies."""
    return {name: round(value.share, 4) for name, value in vars(scores).items()}


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Keep what the lesson prints to itself."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def aside(figure: Any) -> Any:
    """Measure a figure quietly in a folder of its own: the lesson writes checkpoints and files."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(Path(folder)), quietly():
        return figure()
