"""Measure lesson 06 and training on a GPU: `python -m bench gpu [PART...] [--toy] [--out FILE]`.

The parts, in this order unless some are named:

- `lesson`: lesson 06's own code from top to bottom on the treebank that COURSE_DATA names, with the
  sizes that it takes on a GPU: the scoreboard, words per second, seconds, and the losses in bf16
  beside those in float32;
- `training`, `padded`, `inference`: words per second of the solution's encoder (plain, fused,
  compiled, packed) beside `nn.TransformerEncoder`, at D = 1024, 12 layers, 512 tokens, and the
  share of the most that the device can do;
- `lstm`: the encoder's time beside an LSTM's at 500 tokens, and the taggers of lesson 06;
- `fine-tuning`: lesson 07's published layers trained on 50 to all sentences of English-EWT.

It needs torch 2.11 or later and nothing else. Each figure is saved in bench/results/gpu.json as
soon as it is known. A call ends within --seconds (540); what it did not reach, the same command
measures the next time, without repeating what is known for this GPU. To measure anew, remove the
file or name another one. Without a GPU, or with --toy, everything is tried on the CPU at tiny
sizes, and the file is gpu-toy.json in the current folder.
"""

import os
import subprocess
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from bench.gpu.record import Figures, Found, Place, Record, is_known, measured, told
from bench.gpu.stand_ins import provide_tqdm
from bench.record import RESULTS
from bench.record import machine as any_machine
from bench.speed.timing import clear

SECONDS = 540.0  # of a call: a minute less than ten


@dataclass(frozen=True)
class Part:
    """A part of the measurements.

    Attributes:
        figures: (place, what is known of this part) -> names, and what measures each.
        seconds: the most that a call spends on it.

    """

    figures: Callable[[Place, Found], Figures]
    seconds: float


def _part(module: str, function: str, seconds: float) -> Part:
    """Make a part that imports its module late: an import that fails fails only this part."""

    def figures(place: Place, known: Found) -> Figures:
        made: Figures = getattr(import_module(module), function)(place, known)
        return made

    return Part(figures, seconds)


PARTS = {
    "lesson": _part("bench.gpu.lesson", "figures", 360.0),
    "training": _part("bench.gpu.speed", "training", 420.0),
    "padded": _part("bench.gpu.speed", "padded", 300.0),
    "inference": _part("bench.gpu.speed", "inference", 240.0),
    "lstm": _part("bench.gpu.lstm", "figures", 180.0),
    "fine-tuning": _part("bench.gpu.fine_tuning", "figures", 300.0),
}


def here(place: Place) -> dict[str, Any]:
    """Return where, when and with what a part is measured."""
    cuda = place.device.type == "cuda"
    return any_machine() | {
        "toy": place.toy,
        "driver": driver() if cuda else None,
        "cuDNN": torch.backends.cudnn.version() if cuda else None,
        "float32 products": torch.get_float32_matmul_precision(),
        "TF32 in cuDNN": torch.backends.cudnn.allow_tf32 if cuda else None,
    }


def driver() -> str:
    """Return the version of the GPU's driver."""
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(ask, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.split("\n")[0].strip()


def run_part(name: str, place: Place, record: Record, end: float) -> None:
    """Measure what is not known yet of a part, until the time is over."""
    machine = here(place)
    if record.is_complete(name, machine):
        return
    known, end = record.begin(name, machine), min(end, time.monotonic() + PARTS[name].seconds)
    failed = ""
    try:
        for figure, run in PARTS[name].figures(place, known):
            if not is_known(known.get(figure)):
                record.put(name, figure, measured(run, end))
                clear(place.device)  # what a failed figure leaves would crowd the next one out
    except Exception as error:
        failed = told(error)
    record.end(name, failed)


def measure(
    parts: Sequence[str], place: Place, out: Path, seconds: float = SECONDS
) -> dict[str, Any]:
    """Measure parts and return everything that the file holds then."""
    end, record = time.monotonic() + seconds, Record(out)
    for name in parts or PARTS:
        run_part(name, place, record, end)
    return record.parts


def options(arguments: Sequence[str]) -> Namespace:
    """Read the command line."""
    parser = ArgumentParser(prog="python -m bench gpu", description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(PARTS)}")
    parser.add_argument("--toy", action="store_true", help="tiny sizes, on the CPU")
    parser.add_argument("--out", type=Path, help="file of the figures; what it holds is kept")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="most that the call takes")
    found = parser.parse_args(arguments)
    if unknown := set(found.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}; there are {list(PARTS)}")
    return found


def main(arguments: Sequence[str]) -> None:
    """Measure as the command line says."""
    chosen = options(arguments)
    toy = chosen.toy or not torch.cuda.is_available()
    provide_tqdm()
    os.environ["TQDM_DISABLE"] = "1"
    if toy:
        os.environ.setdefault("COURSE_DATA", "made-up")  # no network is asked
    place = Place(torch.device("cpu" if toy else "cuda"), toy)
    out = chosen.out or (Path("gpu-toy.json") if toy else RESULTS / "gpu.json")
    measure(chosen.parts, place, out, chosen.seconds)
    print(f"saved in {out}")
