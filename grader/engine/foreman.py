"""A warm process that grades one submission at a time, each in processes of its own.

    the judging process: judges and records; runs no student code
      └ foreman: torch imported, no secret in memory; is told where a job lies, never reads it
          └ attendant: one job, one sitting; reads it, watches over it, hands on what came, ends
              └ the isolated process: the student's code

The attendant exists so that nothing of one submission is left in the memory that the next one is
copied from. Foremen are started anew, not forked from the judging process, for the same reason.
"""

import gc
import importlib
import itertools
import json
import os
import pickle
import pkgutil
import struct
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any, Final, NoReturn

import torch

from grader.engine.remote import SITTINGS, Server, Sitting
from grader.engine.wire import Message, encode
from grader.engine.worker import work
from grader.isolation import CannotIsolate, Ended, Limits, Supervisor
from utils.checks.observation import Observation, plain

LENGTH: Final = struct.Struct("<Q")
READY: Final = b"ready\n"
MORE: Final = 10  # the code with which an attendant ends where another sitting follows


def warm_up() -> None:
    """Import what lessons import, oracles and mistakes excepted, and prepare matplotlib."""
    import matplotlib  # noqa: PLC0415 (only foremen pay for these imports)

    matplotlib.use("agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    for name in _harmless_modules():
        importlib.import_module(name)
    _silence_checks()
    torch.set_num_threads(1)
    _rehearse()
    figure = plt.figure()
    figure.text(0, 0, "fonts are found and read once, here")
    figure.canvas.draw()
    plt.close(figure)
    gc.collect()
    gc.freeze()  # what is never collected is never written to, and stays shared


def _rehearse() -> None:
    """Compute what exercises compute, so that no copy has to find and load it for itself."""
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Dropout(0.1))
    x = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    hidden = torch.arange(3) > 1
    weights = (x @ x.transpose(-2, -1)).masked_fill(hidden, -torch.inf).softmax(-1)
    y = torch.einsum("bts,bsd->btd", weights, layer(x)) / x.std(-1, keepdim=True)
    torch.autograd.grad(torch.cat([y, x]).double().sum(), [x, *layer.parameters()])
    encode(Message("rehearsal", 0, Observation({"y": plain(y)})))


def _harmless_modules() -> list[str]:
    import utils  # noqa: PLC0415

    found = [m.name for m in pkgutil.walk_packages(utils.__path__, "utils.")]
    apart = ("utils.checks.", "utils.lab", "utils.exchange")
    probes = [name for name in found if name.endswith(".probes")]
    return ["utils.checks", *probes, *(name for name in found if not name.startswith(apart))]


class _NoCheck:
    """Stands for ``check`` while grading: visible checks in other cells show nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_kwargs: None


def _silence_checks() -> None:
    import utils.checks  # noqa: PLC0415

    utils.checks.check = _NoCheck()  # type: ignore[assignment]


def run(supervisor: Supervisor, jobs: IO[bytes], results: IO[bytes]) -> None:
    """Take job files' names, a line each, until there are no more; answer each with results."""
    results.write(READY)
    results.flush()
    for line in jobs:
        job = Path(os.fsdecode(line.rstrip(b"\n")))
        for sitting in itertools.count():
            pid = os.fork()
            if pid == 0:
                attend(supervisor, job, sitting, results)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if code != MORE:
                break
        if code:
            results.write(LENGTH.pack(0))  # the attendant died: no result, and the judge is told
            results.flush()


def attend(supervisor: Supervisor, job: Path, number: int, results: IO[bytes]) -> NoReturn:
    """Run one sitting of a job to its end, hand on what came, and end this process."""
    code = 1
    try:
        sitting = sit(supervisor, job, number)
        body = pickle.dumps((asdict(sitting.ended), sitting.verdicts, sitting.more))
        results.write(LENGTH.pack(len(body)) + body)
        results.flush()
        code = MORE if sitting.more else 0
    finally:
        os._exit(code)


def sit(supervisor: Supervisor, job: Path, number: int) -> Sitting:
    """Run one sitting; another follows while the student's own test gives verdicts."""
    server = Server(json.loads(job.read_bytes()), number)
    task = supervisor.start(
        lambda channel: work(server.steps, channel.send, channel.ask), answer=server.reply
    )
    server.draw(seed_of(job).read_bytes())  # not before: the task is a copy of this process
    ended = supervisor.poll()[task]
    verdicts = tuple(server.verdicts())
    more = bool(verdicts) and number + 1 < SITTINGS
    return Sitting(replace(ended, messages=tuple(server.rest)), verdicts, more)


def seed_of(job: Path) -> Path:
    """The file beside a job's that holds what its orders are drawn from."""
    return job.with_suffix(".seed")


def await_ready(results: IO[bytes]) -> None:
    """Wait, on the judging side, until a foreman is warm.

    Raises:
        CannotIsolate: this machine cannot isolate; says what is missing.
        RuntimeError: the foreman ended instead; its own words are on stderr.
    """
    line = results.readline()
    if line and line != READY:
        raise CannotIsolate(json.loads(line))
    if not line:
        raise RuntimeError("a grading process could not start; see the lines above")


def read_result(results: IO[bytes]) -> Sitting | None:
    """Read one result, on the judging side; None where attendant or foreman died."""
    head = results.read(LENGTH.size)
    size = LENGTH.unpack(head)[0] if len(head) == LENGTH.size else 0
    body = results.read(size)
    if not size or len(body) < size:
        return None
    # Written by an attendant, in which no student code ran; the student's messages stay bytes.
    ended, verdicts, more = pickle.loads(body)
    return Sitting(Ended(**ended), verdicts, more)


def main(arguments: list[str]) -> None:
    """Be a foreman: arguments are limits as ``name=value`` and perhaps ``no-isolation``."""
    warm_up()
    pairs = dict(argument.split("=") for argument in arguments if "=" in argument)
    defaults = asdict(Limits())
    limits = Limits(**{name: type(defaults[name])(float(v)) for name, v in pairs.items()})
    try:
        supervisor = Supervisor(limits, isolate="no-isolation" not in arguments)
    except CannotIsolate as error:
        sys.stdout.write(json.dumps(str(error)) + "\n")
    else:
        run(supervisor, sys.stdin.buffer, sys.stdout.buffer)
