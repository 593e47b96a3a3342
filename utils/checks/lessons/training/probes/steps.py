"""Probes of learning rates, training steps and tagging."""

import contextlib
import copy
import warnings
from typing import Any

import torch
from torch import Tensor

from utils.checks.authoring.calling import mode_of
from utils.checks.authoring.determinism import settled
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.training.probes.data import untouched
from utils.checks.lessons.training.probes.watched import (
    BACKWARD_PRECISION,
    LOSS_PRECISION,
    Elsewhere,
    LossWatch,
    Model,
    MoveWatch,
    Optimizer,
    Scheduler,
    TaggingModel,
    as_if_on_a_gpu,
)
from utils.checks.observation import describe
from utils.checks.observe.substitution import borrowed

COLLATE = "utils.reference.tagging.reference_collate"
TOKEN_LOSS = "utils.reference.tagging.reference_token_loss"

# Facts that only cases with this `looks` observe, so that a mistake costs only once.
SIDE_FACTS = {
    "train mode while it runs": "mode",
    "what comes back": "returned",
    "autocast around the model on a GPU": "autocast",
    LOSS_PRECISION: "autocast",
    BACKWARD_PRECISION: "autocast",
    "the ids are on the device": "device",
    "the tags are on the device": "device",
    "train mode while tagging": "mode",
    "train mode afterwards": "mode",
    "gradients are recorded": "gradients",
    "the ids are put where the model is": "device",
    "a batch is past batch_size": "batches",
    "one sentence at a time": "batches",
    "sentences are read more than once": "batches",
}


def _looked_at(facts: dict[str, object], looks: str) -> dict[str, object]:
    return {said: fact for said, fact in facts.items() if SIDE_FACTS.get(said, looks) == looks}


def _call_rate(answer: Any, i: Inputs) -> dict[str, object]:
    if i["step"] >= 1:
        return {"rate": answer(i["step"], i["d_model"], i["warmup"])}
    raised = "no error"
    try:
        answer(i["step"], i["d_model"], i["warmup"])
    except NotImplementedError:
        raise
    except Exception as error:
        raised = type(error).__name__
    return {f"for step {i['step']}": raised}


def _step_inputs(
    *,
    lengths: list[int],
    scale: float = 0.3,
    clip: float | None = None,
    leftover: float = 0.0,
    steps: int = 1,
    looks: str = "",
    **params: Any,
) -> Inputs:
    draw = Draw(lengths=lengths, **params)
    pairs = [(draw.integers(params["V"], n, low=2), draw.integers(params["C"], n)) for n in lengths]
    ids, sizes, tags = borrowed(COLLATE)([(x.tolist(), y.tolist()) for x, y in pairs])
    return {
        "batch": (ids, sizes, tags),
        "table": draw.normal(params["V"], params["D"]),
        "weight": draw.normal(params["C"], params["D"], scale=scale),
        "bias": draw.normal(params["C"], scale=scale),
        "options": () if clip is None else (clip,),
        "leftover": leftover,
        "steps": steps,
        "looks": looks,
    }


def _call_step(answer: Any, i: Inputs) -> dict[str, object]:
    model = Model(i["table"], i["weight"], i["bias"])
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, i["leftover"])
    optimizer = Optimizer(model)
    before = [part.clone() for part in i["batch"]]
    results: dict[str, object] = {}
    for step in range(1, i["steps"] + 1):
        found = _one_step(answer, i, model.begin(), optimizer)
        results |= {f"step {step}: {said}": fact for said, fact in found.items()}
    if i["steps"] > 1:
        results["learning rate afterwards"] = optimizer.param_groups[0]["lr"]
    same = all(map(torch.equal, before, i["batch"]))
    return results | {"the batch is as it was": same}


def _one_step(answer: Any, i: Inputs, model: Model, optimizer: Optimizer) -> dict[str, object]:
    """Take one step; return what was noted during it and what is there afterwards."""
    away = i["looks"] in {"device", "autocast"}
    device, batch = torch.device("cuda" if away else "cpu"), i["batch"]
    # In a single step the rate stays: what a scheduler does shows in the case with two.
    scheduler = Scheduler(optimizer, by=4.0 if i["steps"] > 1 else 1.0)
    with (
        warnings.catch_warnings(),
        as_if_on_a_gpu() if away else contextlib.nullcontext(),
        LossWatch(model),
    ):
        warnings.simplefilter("ignore")
        given = tuple(part.as_subclass(Elsewhere) for part in batch) if away else batch
        loss = answer(model, given, optimizer, scheduler, device, *i["options"])
    model.noted.setdefault(LOSS_PRECISION, "bfloat16")  # computed by hand: it cannot be seen
    moved = {"the tags are on the device": getattr(given[2], "moved", True)}
    return {
        **_looked_at(model.noted | moved, i["looks"]),
        **_looked_at({"what comes back": _kind(loss)}, i["looks"]),
        "loss": loss.item() if isinstance(loss, Tensor) and loss.numel() == 1 else loss,
        "table afterwards": model.table.detach().clone(),
        "weight afterwards": model.weight.detach().clone(),
        "bias afterwards": model.bias.detach().clone(),
    }


def _kind(loss: object) -> str:
    return "a plain number" if type(loss) is float else describe(loss)


def _tagging_inputs(
    *,
    text: list[str],
    known: str,
    tags: str,
    batch_size: int | None = None,
    train: bool = False,
    looks: str = "",
) -> Inputs:
    names, sentences = ["<pad>", "<unk>", *known.split()], [line.split() for line in text]
    draw, n_tags = Draw(known=known, tags=tags), len(tags.split())
    return {
        "weight": draw.normal(len(names), n_tags),
        "places": draw.normal(1 + max(map(len, sentences), default=0), n_tags, scale=1.0),
        "sentences": sentences,
        "vocab": {name: number for number, name in enumerate(names)},
        "tags": tags.split(),
        "batch_size": batch_size,
        "train": train,
        "looks": looks,
    }


def _call_tagging(answer: Any, i: Inputs) -> dict[str, object]:
    model = TaggingModel(i["weight"], i["places"]).train(i["train"])
    before, known = copy.deepcopy(i["sentences"]), dict(i["vocab"])
    options = () if i["batch_size"] is None else (i["batch_size"],)

    def tag(model: Any) -> Any:
        return answer(model, i["sentences"], i["vocab"], i["tags"], *options)

    def tag_again() -> Any:
        return tag(TaggingModel(i["weight"], i["places"]).train(i["train"]))

    with MoveWatch(model) as watch:
        tagged = settled(lambda: tag(model), None, anew=tag_again)
    most, rows = i["batch_size"] or 32, max(model.rows, default=0)
    facts: dict[str, object] = {
        "train mode while tagging": model.trained,
        "train mode afterwards": mode_of(model),
        "gradients are recorded": model.recorded,
        "the ids are put where the model is": watch.moved,
        "a batch is past batch_size": _past(rows, most, len(i["sentences"])),
        "one sentence at a time": rows == 1 and sum(model.rows) >= len(i["sentences"]),
        "features given to the model": model.featured,
        "sentences are read more than once": sum(model.rows) > len(i["sentences"]),
    }
    said = _looked_at(facts, i["looks"]) | untouched("sentences", before, i["sentences"])
    kept = (
        {"the vocabulary is as it was": known == i["vocab"]} if i["looks"] == "vocabulary" else {}
    )
    return {"tags": tagged, **said, **kept}


def _past(rows: int, most: int, sentences: int) -> bool | str:
    """Return whether a batch has too many rows, and if so, how many."""
    if rows <= most:
        return False
    return "all in one" if rows == sentences else "by one" if rows == most + 1 else "by several"


_KNOWN = "pes Pes kočka vidí honí velký malá domu strom ."
_TAGS = "NOUN|Nom NOUN|Acc VERB ADJ|Nom PUNCT"
_TEXT = ["pes honí", "malá kočka vidí velký strom .", "kočka", "Pes vidí domu ."]
_ASKED: dict[str, Any] = {"known": _KNOWN, "tags": _TAGS}
_SIZES: dict[str, Any] = {"V": 9, "D": 4, "C": 3}

PROBES = by_exercise(
    Probe(
        "noam_rate",
        lambda step, d_model, warmup: {"step": step, "d_model": d_model, "warmup": warmup},
        _call_rate,
        (
            case("in the warm-up", True, step=300, d_model=512, warmup=4000),
            case("after the warm-up", step=9000, d_model=256, warmup=1000),
            case("the first step", step=1, d_model=128, warmup=300),
            case("step 0", demand="ValueError below step 1", step=0, d_model=64, warmup=200),
            case(
                "step -1", demand="ValueError for a step below 0", step=-1, d_model=32, warmup=100
            ),
            case("one step of warm-up", step=5, d_model=32, warmup=1),
        ),
        gradient=False,
    ),
    Probe(
        "train_step",
        _step_inputs,
        _call_step,
        (
            case("without padding", True, lengths=[3, 3], **_SIZES),
            case("padding", lengths=[5, 1, 3], **_SIZES),
            case("the model's mode", lengths=[3, 2], looks="mode", **_SIZES),
            case("what comes back", lengths=[2, 3], looks="returned", **_SIZES),
            case("two steps", lengths=[4, 2], steps=2, clip=20.0, **_SIZES),
            case("large gradients", lengths=[4, 2], scale=8.0, **_SIZES),
            case("another clip", lengths=[4, 3], clip=0.05, **_SIZES),
            case("gradients of an earlier step", lengths=[2, 5], leftover=3.0, **_SIZES),
            case(
                "autocast as on a GPU",
                demand="autocast on a GPU",
                lengths=[4, 2],
                looks="autocast",
                **_SIZES,
            ),
            case(
                "a model on a GPU",
                demand="a batch that goes to the device",
                lengths=[3, 4],
                looks="device",
                **_SIZES,
            ),
            case(
                "no real word",
                demand="a batch without a real word",
                lengths=[0, 0],
                **_SIZES,
            ),
        ),
        gradient=False,
        stand_ins={"token_loss": TOKEN_LOSS},
    ),
    Probe(
        "tag_sentences",
        _tagging_inputs,
        _call_tagging,
        (
            case("one sentence", True, text=_TEXT[1:2], **_ASKED),
            case("four sentences", text=_TEXT, **_ASKED),
            case("two at a time", text=[*_TEXT, "pes ."], batch_size=2, looks="batches", **_ASKED),
            case("unknown words", text=["pes spí", "chytrá kočka", "nikdo ."], **_ASKED),
            case("words known in other letters", text=["Malá Kočka VIDÍ .", "PES Honí"], **_ASKED),
            case("in training", text=_TEXT[:2], train=True, looks="mode", **_ASKED),
            case("in evaluation", text=_TEXT[1:3], looks="mode", **_ASKED),
            case("no gradients", text=_TEXT[2:], looks="gradients", **_ASKED),
            case(
                "a model on any device",
                demand="ids that go to where the model is",
                text=_TEXT[:3],
                looks="device",
                **_ASKED,
            ),
            case(
                "empty sentences", demand="empty sentences", text=["", "", "pes honí", ""], **_ASKED
            ),
            case(
                "the vocabulary afterwards",
                demand="a vocabulary left alone",
                text=["velký pes spí"],
                looks="vocabulary",
                **_ASKED,
            ),
            case("nothing but empty sentences", demand="empty sentences", text=["", ""], **_ASKED),
            case("batches of one", text=_TEXT[1:3], batch_size=1, **_ASKED),
            case(
                "no sentence at all",
                demand="no sentence at all",
                text=[],
                train=True,
                looks="mode",
                **_ASKED,
            ),
        ),
        gradient=False,
        stand_ins={"collate": COLLATE},
    ),
)
