"""Search the settings of lesson 06: `python -m bench.tagging_search DIR` resumes where it stopped.

The rotary encoder and the bidirectional LSTM are searched alike, one number after the other, by the
mean dev accuracy of three seeds. Then all models are trained with what was found, six seeds each
(of the two deeper ones, the encoder uses its initial settings, the LSTM those found). Every run is
saved in bench/results/tagging_search.json as soon as it is done. Runs called "earlier" come from
searches with D = 128 and other initial numbers. "explored" there holds more of them, trained
without CAC's dev file and measured on all of it.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from bench.fused_rotary import make_rotary
from bench.lesson_code import NEEDED, solution
from bench.record import RESULTS, about
from utils.experiments.word_order_task import redraw
from utils.reference.modules import TransformerEncoder, rotary_embedding
from utils.training.baseline_encoders import BiLSTMEncoder, PerWordEncoder, units_for
from utils.training.config import ON_A_CPU, Settings
from utils.training.trainer import fit
from utils.treebank.affixes import WithAffixes, affix_tables, affix_vocabularies
from utils.treebank.loader import Treebank, load_treebank, tags_of, words_of
from utils.treebank.taggers import Examiner, Scores, most_frequent_tag, with_suffixes

# What students write, and the layer of the contest that hears of neighbours.
LESSON = SimpleNamespace(**solution((*NEEDED, "WithNeighbours")))
FILE = RESULTS / "tagging_search.json"
LAST = 3  # last epochs, whose dev accuracies are averaged: one alone is noisier


@dataclass(frozen=True)
class Trial:
    """One run: the model and all its numbers.

    Attributes:
        model: per-word, bilstm, sinusoidal, no positions, rotary or rotary with neighbours.
        settings: sizes and training.
        std: standard deviation of the initial embeddings.
        attention_dropout: dropout rate on the rotary encoder's attention weights.
        norm_first: whether the encoders are pre-norm.

    """

    model: str
    settings: Settings
    std: float = 1.0
    attention_dropout: float = 0.0
    norm_first: bool = True


class Data:
    """A treebank as ids, for one pair of minimum counts."""

    def __init__(self, treebank: Treebank, settings: Settings) -> None:
        self.treebank = treebank
        train = words_of(treebank.train)
        everything = [*train, *words_of(treebank.dev), *words_of(treebank.test)]
        self.lexicon = LESSON.build_vocab(everything)
        self.vocab = LESSON.build_vocab(train, settings.min_count)
        self.kinds = affix_vocabularies(train, LESSON.build_vocab, settings.affix_min_count)
        self.tables = affix_tables(self.lexicon, self.vocab, self.kinds)
        self.tags = sorted({tag for tags in tags_of(treebank.train) for tag in tags})
        number = {tag: index for index, tag in enumerate(self.tags)}
        self.pairs = [
            ([self.lexicon[word] for word, _ in s], [number[tag] for _, tag in s])
            for s in treebank.train
        ]
        self.lengths = [len(ids) for ids, _ in self.pairs]
        self.examiner = Examiner(treebank.train)

    def batches(self, max_tokens: int) -> Callable[[torch.Generator], list[Any]]:
        """Return the function that gives `fit` its batches."""

        def make(generator: torch.Generator) -> list[Any]:
            groups = LESSON.bucket_batches(self.lengths, max_tokens, generator)
            return [LESSON.collate([self.pairs[i] for i in group]) for group in groups]

        return make

    def scores(self, model: nn.Module, split: str) -> Scores:
        """Tag dev or test and score the tags."""
        gold = getattr(self.treebank, split)
        return self.examiner.score(
            gold, LESSON.tag_sentences(model, words_of(gold), self.lexicon, self.tags, 64)
        )


def build(trial: Trial, data: Data) -> Any:
    """Make a trial's model."""
    s = trial.settings
    torch.manual_seed(s.seed)
    encoder = make_encoder(trial, len(data.vocab))
    tagger = LESSON.Tagger(encoder, len(data.tags), [len(kind) for kind in data.kinds])
    if trial.std != 1.0:
        for table in (encoder.embedding, *tagger.features):
            redraw(table, trial.std)
    return WithAffixes(tagger, *data.tables, word_dropout=s.word_dropout)


def make_encoder(trial: Trial, vocab_size: int) -> Any:
    """Make one of the six encoders; the LSTM gets the Transformer's number of parameters."""
    s = trial.settings
    drop = {"dropout": s.dropout, "layer_dropout": s.layer_dropout}
    if trial.model == "per-word":
        return PerWordEncoder(vocab_size, s.d_model, s.n_layers, s.d_ff, **drop)
    encoder: Any = TransformerEncoder(
        vocab_size,
        s.d_model,
        s.n_heads,
        s.n_layers,
        s.d_ff,
        dropout=s.layer_dropout,
        norm_first=trial.norm_first,
    )
    if trial.model == "bilstm":
        units = units_for(parameters(encoder.layers), s.d_model, s.lstm_layers)
        return BiLSTMEncoder(vocab_size, s.d_model, s.lstm_layers, units, **drop)
    if trial.model.startswith("rotary"):
        base, attention_dropout = s.rotary_base, trial.attention_dropout
        make_rotary(encoder, s.n_heads, rotary_embedding, base, attention_dropout=attention_dropout)
    if trial.model == "no positions":
        encoder.positions = nn.Identity()
    if trial.model == "rotary with neighbours":
        layers = (LESSON.WithNeighbours(layer, s.d_model) for layer in encoder.layers)
        encoder.layers = nn.ModuleList(layers)
    encoder.positions = nn.Sequential(nn.Dropout(s.dropout), encoder.positions)
    return encoder


def parameters(module: nn.Module) -> int:
    """Count a module's parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


def run(trial: Trial, treebank: Treebank) -> dict[str, Any]:
    """Train and measure a trial, and return what goes into the record."""
    data = Data(treebank, trial.settings)
    model, seconds = build(trial, data), 0.0

    def train_step(*arguments: Any) -> float:
        nonlocal seconds
        start = time.process_time()  # other work on the machine does not count
        loss: float = LESSON.train_step(*arguments)
        seconds += time.process_time() - start
        return loss

    history = fit(
        model,
        data.batches(trial.settings.max_tokens),
        train_step,
        lambda model: data.scores(model, "dev").overall.share,
        trial.settings,
        device="cpu",
    )
    words = sum(epoch.words for epoch in history.epochs)
    return {
        "trial": asdict(trial),
        "dev": mean(epoch.accuracy for epoch in history.epochs[-LAST:]),
        "test": shares(data.scores(model, "test")),
        "dev by epoch": [round(epoch.accuracy, 4) for epoch in history.epochs],
        "loss by epoch": [round(epoch.loss, 4) for epoch in history.epochs],
        "words per second of processor time": round(words / seconds),
        "parameters": parameters(model),
        "parameters without embeddings": parameters(model.tagger.encoder)
        - parameters(model.tagger.encoder.embedding),
    }


def shares(scores: Scores) -> dict[str, float]:
    """Return rounded accuracies."""
    return {name: round(value.share, 4) for name, value in vars(scores).items()}


CONTEST = replace(ON_A_CPU, most_sentences=None)  # the notebook's sizes, with all sentences
START = Trial("rotary", CONTEST, std=0.03, norm_first=False)
# Tried one after the other; a value is kept if it is better on dev than the best before.
AXES: list[tuple[str, str, list[Any]]] = [
    ("both", "rate", [5e-3, 12e-3]),
    ("bilstm", "rate", [3e-3]),
    ("both", "dropout", [0.4, 0.6]),
    ("both", "std", [0.001]),
    ("both", "word_dropout", [0.2]),
    ("both", "layer_dropout", [0.1]),
    ("rotary", "norm_first", [True]),
    ("rotary", "n_heads", [2, 8]),
    ("rotary", "rotary_base", [10.0, 1000.0]),
    ("bilstm", "lstm_layers", [1]),
]
# The same contest again, without a new search.
DEEPER: dict[str, Any] = {"n_layers": 3, "n_heads": 8}
ENOUGH = 0.001  # smaller gains on dev are taken for chance
SEEDS = (0, 1, 2)  # of the search; their mean is what counts
FINAL_SEEDS = (0, 1, 2, 3, 4, 5)


def changed(trial: Trial, name: str, value: Any) -> Trial:
    """Return the trial with one number changed, in the trial or in its settings."""
    if hasattr(trial.settings, name):
        return replace(trial, settings=replace(trial.settings, **{name: value}))
    return replace(trial, **{name: value})


class Record:
    """The file of all runs; a run that is in it is not repeated."""

    def __init__(self, treebank: Treebank, path: Path = FILE) -> None:
        self.treebank, self.path = treebank, path
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.content: dict[str, Any] = {**found, **about(), "data": str(treebank).split("\n")[0]}
        self.content.setdefault("runs", [])

    def run(self, trial: Trial, why: str) -> dict[str, Any]:
        """Return a trial's result from the file, or run it now."""
        wanted = asdict(trial)
        for known in self.content["runs"]:
            if known["trial"] == wanted:
                return dict(known)
        result = {"why": why} | run(trial, self.treebank)
        self.content["runs"].append(result)
        self.save()
        print(why, f"dev {result['dev']:.4f}", result["test"], flush=True)
        return result

    def save(self) -> None:
        """Write the file, whole or not at all."""
        half = self.path.with_suffix(".part")
        half.write_text(json.dumps(self.content, indent=1) + "\n", encoding="utf-8")
        half.replace(self.path)


def search(record: Record, start: Trial) -> Trial:
    """Change one number at a time and keep what is better on dev."""

    def dev(trial: Trial, why: str) -> float:
        runs = [record.run(changed(trial, "seed", seed), f"{why}, seed {seed}") for seed in SEEDS]
        return float(mean(run["dev"] for run in runs))

    best, most = start, dev(start, f"{start.model}: start")
    for model, name, values in AXES:
        if model in {"both", start.model}:
            base = best
            for value in values:
                trial = changed(base, name, value)
                found = dev(trial, f"{start.model}: {name} = {value}")
                if found > most + ENOUGH:
                    best, most = trial, found
    return best


def finals(rotary: Trial, bilstm: Trial) -> dict[str, Trial]:
    """Return the scoreboard's models, with what was found, and two deeper ones."""
    sinusoidal = replace(rotary, model="sinusoidal", attention_dropout=0.0)
    return {
        "per-word network": replace(rotary, model="per-word"),
        "bidirectional LSTM": bilstm,
        "bidirectional LSTM, as deep as the encoder": changed(
            bilstm, "lstm_layers", rotary.settings.n_layers
        ),
        "no positions": replace(sinusoidal, model="no positions"),
        "sinusoidal encoder": replace(sinusoidal, std=1.0),
        "sinusoidal encoder, embedding scale lowered": sinusoidal,
        "rotary encoder": rotary,
        "rotary encoder with neighbours": replace(rotary, model="rotary with neighbours"),
        "rotary encoder, deeper": _deeper(START),
        "bidirectional LSTM, as large as the deeper encoder": _deeper(bilstm),
    }


def _deeper(trial: Trial) -> Trial:
    return replace(trial, settings=replace(trial.settings, **DEEPER))


def look_ups(treebank: Treebank) -> dict[str, dict[str, float]]:
    """Score the two taggers that only look words up."""
    examiner, words = Examiner(treebank.train), words_of(treebank.test)
    kinds = {"most frequent tag": most_frequent_tag, "with suffix back-off": with_suffixes}
    return {
        name: shares(examiner.score(treebank.test, make(treebank.train).tag_sentences(words)))
        for name, make in kinds.items()
    }


def main(folder: str) -> None:
    """Search settings for both models, then train all models."""
    torch.set_flush_denormal(True)  # as in the lesson
    torch.set_num_threads(1)
    treebank = load_treebank(folder=folder)
    record = Record(treebank)
    record.content["look-ups on test"] = look_ups(treebank)
    rotary = search(record, START)
    bilstm = search(record, replace(START, model="bilstm"))
    record.content["best"] = {"rotary": asdict(rotary), "bilstm": asdict(bilstm)}
    record.save()
    for seed in FINAL_SEEDS:
        for name, trial in finals(rotary, bilstm).items():
            record.run(changed(trial, "seed", seed), f"final: {name}, seed {seed}")


if __name__ == "__main__":
    main(sys.argv[1])
