"""Probe of the loop that lets a model write."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import mode_of
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw


class Writer(nn.Module):
    """A model whose logits depend on all ids so far and on their places; it notes how it is run.

    With any part in train mode its logits are nonsense, as with dropout.

    Args:
        weight: (V, V), a row for each id.
        places: (T, V), a row for each place.

    """

    places: Tensor

    def __init__(self, weight: Tensor, places: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach().clone())
        self.part = nn.Identity()
        self.register_buffer("places", places)
        self.most, self.trained, self.recorded = 0, False, False

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to logits (B, T, V).

        Raises:
            ValueError: the ids have another number of axes.

        """
        if ids.ndim != 2:
            raise ValueError(f"the model takes ids (B, T), and was given {tuple(ids.shape)}")
        trains = mode_of(self) is not False
        self.most = max(self.most, ids.shape[1])
        self.trained |= trains
        self.recorded |= torch.is_grad_enabled()
        rows = self.weight[ids]
        so_far = rows.cumsum(1) / torch.arange(1, ids.shape[1] + 1).unsqueeze(-1)
        logits = rows + so_far + self.places[: ids.shape[1]]
        return -logits if trains else logits


def _inputs(
    *,
    new: int,
    max_len: int,
    choose: str = "",
    train: bool = False,
    looks: str = "",
    **params: Any,
) -> Inputs:
    draw = Draw(**params)
    return {
        "ids": draw.integers(params["V"], params["T"]),
        "new": new,
        "max_len": max_len,
        "choose": choose,
        "train": train,
        "looks": looks,
        "weight": draw.normal(params["V"], params["V"]),
        "places": draw.normal(params["T"] + new + 1, params["V"]),
    }


def _call(answer: Any, i: Inputs) -> dict[str, object]:
    model = Writer(i["weight"], i["places"]).train(i["train"])
    given: list[str] = []

    def choose(logits: Tensor) -> int:
        given.append(str(tuple(logits.shape)) if isinstance(logits, Tensor) else "no tensor")
        return int(logits.flatten()[-len(i["weight"]) :].argmin())  # not what is chosen by default

    options = (choose,) if i["choose"] else ()
    ids = answer(model, i["ids"], i["new"], i["max_len"], *options)
    facts: dict[str, dict[str, object]] = {
        "mode": {
            "train mode while it writes": model.trained,
            "train mode afterwards": mode_of(model),
        },
        "gradients": {"gradients are recorded": model.recorded},
        "window": {"most ids given to the model at once": model.most},
        "choice": {"shapes given to choose": ", ".join(sorted(set(given)))},
    }
    return {"ids": ids, **facts.get(i["looks"], {})}


PROBES = by_exercise(
    Probe(
        "generate",
        _inputs,
        _call,
        (
            case("one new id", True, T=4, new=1, max_len=12, V=9),
            case("three new ids", T=4, new=3, max_len=12, V=9),
            case("a long prompt", T=9, new=2, max_len=5, V=11, looks="window"),
            case("past the window", T=2, new=8, max_len=5, V=11),
            case("another choice", T=3, new=4, max_len=10, V=8, choose="least", looks="choice"),
            case("a window of one id", T=3, new=5, max_len=1, V=7),
            case("in training", T=3, new=2, max_len=8, V=6, train=True, looks="mode"),
            case("in evaluation", T=2, new=3, max_len=9, V=6, looks="mode"),
            case("no gradients", T=5, new=2, max_len=11, V=6, looks="gradients"),
            case(
                "nothing to write",
                demand="nothing to write",
                T=5,
                new=0,
                max_len=7,
                V=6,
                train=True,
                looks="mode",
            ),
        ),
        gradient=False,
    ),
)
