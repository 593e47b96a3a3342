"""Train by several processes, one for each GPU, as one process would: what the script runs.

    torchrun --standalone --nproc_per_node=2 train.py

Each process holds a copy of the model. A batch is divided over them, and the gradients are added
up before the step, so that all copies take the same one. `train_step` is yours and knows nothing of
this. `torchrun` gives each process its number and starts all of them again when one has died.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR
from tqdm import tqdm

from utils.checkpoint import load_checkpoint, save_checkpoint
from utils.environment import best_device
from utils.errors import UserError
from utils.fit import Batch, Batches, Epoch, History, Rates, TrainStep, fit
from utils.settings import Settings

NO_TAG = -100
STRIDE = 1_000_003  # between the seeds of steps and processes


class NotTrainedYet(UserError):
    """There is no result of a training; the message says where it was looked for."""


@dataclass(frozen=True)
class Member:
    """One process among those that train together.

    Attributes:
        rank: its number, from 0; the first one speaks and writes for all.
        size: number of processes.
        device: where it computes.

    """

    rank: int
    size: int
    device: torch.device


def train_parallel(
    make_model: Callable[[], nn.Module],
    batches: Batches,
    train_step: TrainStep,
    accuracy: Callable[[nn.Module], float],
    settings: Settings,
    *,
    file: Path,
    rates: Rates | None = None,
) -> History:
    """Train with `fit`, in as many processes as there are, and write the best model to a file.

    The result is that of one process with the same batches, but for rounding; with dropout, each
    process draws its own. Stopped in the middle, training goes on from `file`.checkpoint.

    Args:
        make_model: makes the untrained model, seeded by the settings.
        batches: as for `fit`, whole ones: each process takes its share of each.
        train_step: yours.
        accuracy: as for `fit`; only the first process measures.
        settings: as for `fit`.
        file: where `load_trained` finds the best model and the curves.
        rates: as for `fit`.

    """
    with _member() as member, _silent_but_the_first(member), tempfile.TemporaryDirectory() as own:
        torch.manual_seed(settings.seed)
        model = make_model().to(member.device)
        history = fit(
            model,
            batches,
            train_step if member.size == 1 else SharedStep(train_step, model, member, settings),
            lambda model: _measured_once(accuracy, model, member),
            settings,
            title=file.stem,
            device=str(member.device),
            rates=rates,
            checkpoint=_same_checkpoint(file.with_suffix(".checkpoint"), Path(own), member),
            after_epoch=lambda history: _tell(history, settings),
        )
        if member.rank == 0:
            save_checkpoint(file, {"model": model.state_dict(), "history": asdict(history)})
    return history


def load_trained(file: Path | str, model: nn.Module) -> History:
    """Give a model the weights that `train_parallel` wrote to a file, and return the curves.

    Raises:
        NotTrainedYet: there is no such file, or none that can be read.

    """
    state = load_checkpoint(Path(file))
    if state is None:
        raise NotTrainedYet(f"{file} is not there or cannot be read: did training end well?")
    model.load_state_dict(state["model"])
    history = state["history"]
    epochs = [Epoch(**epoch) for epoch in history["epochs"]]
    return History(history["losses"], history["rates"], epochs)


@contextlib.contextmanager
def _member() -> Iterator[Member]:
    """Join the other processes that torchrun started; without torchrun there are none."""
    if "LOCAL_RANK" not in os.environ:
        yield Member(0, 1, torch.device(best_device()))
        return
    device = _own_device(int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"]))
    if device.type == "cuda":
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device)
    else:
        dist.init_process_group("gloo")
    try:
        yield Member(dist.get_rank(), dist.get_world_size(), device)
    finally:
        dist.destroy_process_group()


def _own_device(local_rank: int, n_local: int) -> torch.device:
    """A GPU for each process of this machine; where they are too few, the CPU for all."""
    if torch.cuda.device_count() >= n_local:
        return torch.device("cuda", local_rank)
    return torch.device("cpu")


@contextlib.contextmanager
def _silent_but_the_first(member: Member) -> Iterator[None]:
    if member.rank == 0:
        how = "one process" if member.size == 1 else f"{member.size} processes"
        sys.stdout.write(f"{how} on {'GPU' if member.device.type == 'cuda' else 'CPU'}\n")
        yield
        return
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def _same_checkpoint(path: Path, own: Path, member: Member) -> Path:
    """Give every process what the first one's checkpoint holds, in a file of its own.

    So all go on from the same epoch, also where they share no disk, and only one writes to `path`.
    """
    if member.size == 1:
        return path
    held = [path.read_bytes() if member.rank == 0 and path.exists() else None]
    dist.broadcast_object_list(held)
    if member.rank == 0:
        return path
    if held[0] is not None:
        (own / path.name).write_bytes(held[0])
    return own / path.name


def _measured_once(
    accuracy: Callable[[nn.Module], float], model: nn.Module, member: Member
) -> float:
    """Let the first process measure, and tell the others."""
    measured = torch.zeros((), dtype=torch.float64, device=member.device)
    if member.rank == 0:
        measured += accuracy(model)
    if member.size > 1:
        dist.broadcast(measured, 0)
    return measured.item()


def _tell(history: History, settings: Settings) -> None:
    epoch = history.epochs[-1]
    tqdm.write(
        f"epoch {len(history.epochs)} of {settings.epochs}: loss {epoch.loss:.3f}, "
        f"dev {epoch.accuracy:.1%}, {epoch.words / epoch.seconds:,.0f} words/s",
        file=sys.stdout,
    )


class SharedStep:
    """A step of training in which each process takes its share of the batch.

    Args:
        train_step: yours; its loss is the mean over the words that it is given.
        model: on the member's device; all processes get the first one's weights.
        member: this process.
        settings: for the seed.

    """

    def __init__(
        self, train_step: TrainStep, model: nn.Module, member: Member, settings: Settings
    ) -> None:
        self.train_step, self.member, self.seed = train_step, member, settings.seed
        self.weight = 1.0  # of this process in the present step
        devices = [member.device] if member.device.type == "cuda" else None
        self.model = DistributedDataParallel(model, devices)
        self.model.register_comm_hook(self, _weighted_sum)

    def __call__(  # noqa: PLR0917 (the arguments of train_step)
        self,
        model: nn.Module,
        batch: Batch,
        optimizer: Optimizer,
        scheduler: LambdaLR,
        device: torch.device,
        clip: float,
    ) -> float:
        """Train on the share, and give the mean loss over the whole batch."""
        share, self.weight = share_of(batch, self.member.rank, self.member.size)
        if self.member.rank > 0:  # dropout of its own; the first one's is that of one process
            step = scheduler.last_epoch * self.member.size + self.member.rank
            torch.manual_seed(self.seed + STRIDE * step)
        loss = self.train_step(self.model, share, optimizer, scheduler, device, clip)
        part = loss * self.weight if self.weight else 0.0
        total = torch.tensor(part, dtype=torch.float64, device=device)
        dist.all_reduce(total)
        return total.item()


def share_of(batch: Batch, rank: int, size: int) -> tuple[Batch, float]:
    """Cut a process's sentences out of a batch.

    Every `size`-th sentence, so that shares are about equally long, without needless padding.

    Args:
        batch: ids (B, T), lengths (B,), tags (B, T).
        rank: of the process.
        size: number of processes.

    Returns:
        The share, and its part in all words of the batch, from 0 to 1. Where there are fewer
        sentences than processes, one is lent to the others, with a weight of 0: all have to take
        part in the step.

    """
    ids, lengths, tags = batch
    rows = slice(rank, None, size) if rank < len(ids) else slice(0, 1)
    longest = max(1, int(lengths[rows].max()))
    share = ids[rows, :longest], lengths[rows], tags[rows, :longest]
    words = int((share[2] != NO_TAG).sum()) if rank < len(ids) else 0
    return share, words / max(1, int((tags != NO_TAG).sum()))


def _weighted_sum(
    step: SharedStep,
    bucket: dist.GradBucket,  # type: ignore[name-defined]
) -> torch.futures.Future[Tensor]:
    """Add the processes' gradients up, each by its weight: DDP asks for this in backward.

    Each comes from a mean over the words of its share. Weighted by the share's part in all words,
    they sum to the gradient of the mean over all of them, before train_step clips it.
    """
    gradients = bucket.buffer()
    if step.weight > 0:
        gradients.mul_(step.weight)
    else:
        gradients.zero_()  # a mean over no word may be NaN
    work = dist.all_reduce(gradients, async_op=True)
    assert work is not None
    summed: torch.futures.Future[Tensor] = work.get_future().then(lambda done: done.value()[0])
    return summed
