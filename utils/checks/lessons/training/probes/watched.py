"""Models and training helpers that note what is done with them."""

import contextlib
from collections.abc import Iterator
from typing import Any, cast
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from utils.checks.authoring.calling import mode_of

LOSS_PRECISION = "autocast around the loss on a GPU"
BACKWARD_PRECISION = "autocast around backward on a GPU"


class Model(nn.Module):
    """A small tagger without context that notes how it is run.

    Args:
        table: (V, D), a vector for each word.
        weight: (C, D), a vector for each tag.
        bias: (C,), a number for each tag.

    """

    def __init__(self, table: Tensor, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table.detach().clone())
        self.weight, self.bias = (nn.Parameter(x.detach().clone()) for x in (weight, bias))
        self.part = nn.Identity()  # its mode can differ
        leaf: Any = self.table  # torch leaves its methods untyped
        leaf.register_hook(self._note_backward)
        self.noted: dict[str, object] = {}

    def begin(self) -> "Model":
        """Forget what was noted and set eval mode, as after an evaluation."""
        self.noted = {"backward passes": 0, "steps of the optimiser": 0}
        self.eval()
        return self

    def _note_backward(self, _gradient: Tensor) -> None:
        self._count("backward passes")
        self.noted.setdefault(BACKWARD_PRECISION, _precision("cuda"))

    def _count(self, what: str) -> None:
        self.noted[what] = cast("int", self.noted[what]) + 1

    def note_step(self) -> None:
        """Note the gradients that the optimiser gets."""
        self._count("steps of the optimiser")
        self.noted["backward() before the optimiser's step"] = bool(self.noted["backward passes"])
        found = [p.grad.flatten() for p in self.parameters() if p.grad is not None]
        length = torch.cat(found).norm().item() if found else 0.0
        self.noted["length of the gradients in that step"] = length

    def forward(self, ids: Tensor, features: object = None, mask: object = None) -> Tensor:
        """Map ids (B, T) to logits (B, T, C)."""
        facts = {
            "a mask other than the padding's is given to the model": _is_other_mask(mask, ids),
            "features given to the model": features is not None,
            "train mode while it runs": mode_of(self),
            "autocast around the model on the CPU": _precision("cpu"),
            "autocast around the model on a GPU": _precision("cuda"),
            "the ids are on the device": not isinstance(ids, Elsewhere),
        }
        self.noted = facts | self.noted  # if it runs twice, the first run counts
        return torch.tanh(self.table[ids.as_subclass(Tensor)]) @ self.weight.T + self.bias

    def to(self, *_args: Any, **_kwargs: Any) -> "Model":
        """Stay, because there may be no such device here."""
        return self


def _is_other_mask(mask: object, ids: Tensor) -> bool:
    """Return whether a mask lets words look elsewhere than at all words of their sentence."""
    if not isinstance(mask, Tensor):
        return False
    real = ids.as_subclass(Tensor) != 0
    allowed = mask.as_subclass(Tensor).bool().expand(*real.shape, real.shape[1])
    return not torch.equal(allowed[real], real.unsqueeze(1).expand_as(allowed)[real])


def _precision(device_type: str) -> str:
    if not torch.is_autocast_enabled(device_type):
        return "off"
    return str(torch.get_autocast_dtype(device_type)).removeprefix("torch.")


class LossWatch(TorchFunctionMode):
    """A mode that notes the precision in which torch's functions compute the loss.

    Args:
        model: the model that keeps the note.

    """

    LOSSES = frozenset(
        {F.cross_entropy, F.nll_loss, F.log_softmax, torch.log_softmax, torch.logsumexp}
        | {Tensor.log_softmax, Tensor.logsumexp}
    )

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Note the precision, then let torch do its work."""
        if called in self.LOSSES:
            self.model.noted.setdefault(LOSS_PRECISION, _precision("cuda"))
        return called(*args, **(kwargs or {}))


class MoveWatch(TorchFunctionMode):
    """A mode that notes whether anything but a model's own tensors is put on a named device.

    Args:
        model: the model.

    Attributes:
        moved: whether something was.

    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.own = {id(tensor) for tensor in (*model.parameters(), *model.buffers())}
        self.moved = False

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Note moves, and tensors made on a device or beside a parameter, then do the work."""
        given = kwargs or {}
        of_model = bool(args) and id(args[0]) in self.own
        named = given.get("device") is not None or any(map(_is_device, args[1:]))
        name = getattr(called, "__name__", "")
        self.moved |= (named and not of_model) or name == "cuda"
        self.moved |= of_model and name.startswith("new_")
        return called(*args, **given)


def _is_device(value: object) -> bool:
    return isinstance(value, torch.device | str)


class Optimizer:
    """Plain gradient descent with the methods of torch's optimisers, and two groups of parameters.

    The table has a group of its own, as if it had another decay: whoever clips each group by
    itself, or one of them, clips too little. torch.optim would first load a compiler, which takes
    seconds.

    Args:
        model: the model to train, which notes each step.

    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.param_groups: list[dict[str, Any]] = [
            {"params": params, "lr": 0.5} for params in ([model.table], [model.weight, model.bias])
        ]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear all gradients."""
        self.model.zero_grad(set_to_none)

    @torch.no_grad()
    def step(self) -> None:
        """Take a step against the gradients."""
        self.model.note_step()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.sub_(group["lr"] * parameter.grad)


class Scheduler:
    """A scheduler that divides the learning rate by the same number at every step."""

    def __init__(self, optimizer: Optimizer, by: float) -> None:
        self.optimizer, self.by = optimizer, by

    def step(self) -> None:
        """Set the next learning rate."""
        for group in self.optimizer.param_groups:
            group["lr"] /= self.by

    def get_last_lr(self) -> list[float]:
        """Return the learning rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]


class Elsewhere(Tensor):
    """A tensor that counts as on another device until it is moved.

    Attributes:
        moved: whether it was moved.

    """

    moved = False

    def to(self, *_args: Any, **_kwargs: Any) -> Tensor:
        """Mark it as moved and return the plain tensor."""
        self.moved = True
        return self.as_subclass(Tensor)

    cuda = to


@contextlib.contextmanager
def as_if_on_a_gpu() -> Iterator[None]:
    """Make autocast believe that there is a GPU; everything still runs on the CPU."""
    with (
        mock.patch.object(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False),
        mock.patch.object(torch.cuda, "is_bf16_supported", lambda *_, **__: True),
    ):
        yield


class TaggingModel(nn.Module):
    """A tagger whose answers depend on position and neighbours; it notes how it is run.

    With any part in train mode its answers are nonsense, as with dropout.

    Args:
        weight: (V, C), one row for each word.
        places: (T, C), one row for each position, with T as large as needed.

    """

    places: Tensor

    def __init__(self, weight: Tensor, places: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach().clone())
        self.part = nn.Identity()
        self.register_buffer("places", places)
        self.rows: list[int] = []
        self.trained, self.recorded, self.featured = False, False, False

    def forward(self, ids: Tensor, features: object = None, mask: object = None) -> Tensor:
        """Map ids (B, T) to logits (B, T, C)."""
        del mask
        self.featured |= features is not None
        self.rows.append(len(ids))
        trains = mode_of(self) is not False
        self.trained |= trains
        self.recorded |= torch.is_grad_enabled()
        real = (ids != 0).unsqueeze(-1)
        words = (self.weight[ids] + self.places[: ids.shape[1]]) * real
        around = words.sum(1, keepdim=True) / real.sum(1, keepdim=True).clamp(min=1)
        logits = words + around
        return -logits if trains else logits
