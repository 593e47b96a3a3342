"""Training in several processes, one for each GPU, as one process would: what the script runs.

    torchrun --standalone --nproc_per_node=2 train.py

Each process holds a copy of the model. The processes share each batch, and their gradients are
summed before the step, so that all copies take the same step. `train_step` is yours and knows
nothing about this. `torchrun` numbers the processes and restarts all of them when one has died.
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

from utils.errors import UserError
from utils.experiments.device import best_device
from utils.training.checkpoint import load_checkpoint, save_checkpoint
from utils.training.config import Settings
from utils.training.trainer import Batch, Batches, Epoch, History, Rates, TrainStep, fit

NO_TAG = -100
STRIDE = 1_000_003  # between the seeds of steps and processes


class NotTrainedYet(UserError):
    """There is no training result; the message says where it was expected."""


@dataclass(frozen=True)
class Member:
    """One of the processes that train together.

    Attributes:
        rank: its number, from 0; the first process prints and writes for all.
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
    """Train with `fit` in however many processes there are, and write the best model to a file.

    Apart from rounding, the result is that of one process with the same batches; with dropout,
    each process draws its own. Training that was stopped resumes from a checkpoint, which is named
    like `file` but ends in .checkpoint.

    Args:
        make_model: makes the untrained model, seeded by the settings.
        batches: as for `fit`; each process takes its share of each batch.
        train_step: your `train_step`.
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
    """Load the weights that `train_parallel` wrote to a file into a model, and return the curves.

    Raises:
        NotTrainedYet: the file is missing or cannot be read.

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
    """Return a GPU for each process on this machine, or the CPU for all if GPUs are too few."""
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
    """Give every process its own file with the content of the first process's checkpoint.

    So all resume from the same epoch, even without a shared disk, and only one writes to `path`.
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
    """Measure accuracy in the first process, and tell the others."""
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
    """A training step in which each process takes its share of the batch.

    Args:
        train_step: your `train_step`; its loss is the mean over the words that it is given.
        model: a model on the member's device; all processes get the first one's weights.
        member: this process.
        settings: the source of the seed.

    """

    def __init__(
        self, train_step: TrainStep, model: nn.Module, member: Member, settings: Settings
    ) -> None:
        self.train_step, self.member, self.seed = train_step, member, settings.seed
        self.weight = 1.0  # of this process in the current step
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
        """Train on this process's share, and return the mean loss over the whole batch."""
        share, self.weight = share_of(batch, self.member.rank, self.member.size)
        if self.member.rank > 0:  # its own dropout; the first process draws as a single one would
            step = scheduler.last_epoch * self.member.size + self.member.rank
            torch.manual_seed(self.seed + STRIDE * step)
        loss = self.train_step(self.model, share, optimizer, scheduler, device, clip)
        part = loss * self.weight if self.weight else 0.0
        total = torch.tensor(part, dtype=torch.float64, device=device)
        dist.all_reduce(total)
        return total.item()


def share_of(batch: Batch, rank: int, size: int) -> tuple[Batch, float]:
    """Return a process's share of a batch.

    It takes every `size`-th sentence, so that shares are about equally long, and drops needless
    padding.

    Args:
        batch: ids (B, T), lengths (B,), tags (B, T).
        rank: number of the process.
        size: number of processes.

    Returns:
        The share, and its fraction of the batch's words, from 0 to 1. If there are fewer
        sentences than processes, the others borrow one with a weight of 0, because all have to
        take part in the step.

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
    """Sum the processes' gradients, each times its weight; DDP calls this during backward.

    Each gradient comes from a mean over the words of one share. Weighted by the share's fraction
    of all words, they sum to the gradient of the mean over all words, before train_step clips it.
    """
    gradients = bucket.buffer()
    if step.weight > 0:
        gradients.mul_(step.weight)
    else:
        gradients.zero_()  # a mean over no words may be NaN
    work = dist.all_reduce(gradients, async_op=True)
    assert work is not None
    summed: torch.futures.Future[Tensor] = work.get_future().then(lambda done: done.value()[0])
    return summed
