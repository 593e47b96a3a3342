"""torch as a notebook's process has it: all of it in memory, none of it in files.

What torch has not loaded holds right answers too (a norm in numpy among its own tests, a rotation
in its exports), and code that can be read can be run past every import that is refused. So torch's
folders are empty for that process. What torch loads only when it is used is loaded before.
"""

import importlib.util
import linecache
import logging
import sys
from collections.abc import Iterator, MutableSequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import torch

from grader.workers.inert import Inert

NAMES: Final = ("torch", "torchgen", "functorch")
# What honest work loads late: printing tensors, derivatives by vmap, devices, saving, timing.
LATE: Final = (
    "functorch",
    "torch._subclasses.schema_check_mode",
    "torch.fx.experimental.symbolic_shapes",
    "torch.nested._internal.ops",
    "torch.nn.utils.prune",
    "torch.utils._device",
    "torch.utils.benchmark",
    "torch.utils.checkpoint",
    "torch.utils.flop_counter",
    "torch.utils.serialization.config",
)
# torch's compiler takes seconds to load. Optimisers, gradients of gradients and checkpoints ask
# for it, only to tell it to leave them alone.
COMPILER: Final = ("torch._dynamo", "torch._dynamo.config", "torch._inductor",
                   "torch._inductor.config", "torch._decomp.decompositions_for_jvp")  # fmt: skip
SPREAD: Final = "torch.distributed.tensor"  # comparing tensors asks whether they are of its kind


def load_the_rest() -> None:
    """Load what torch would look for in its files later, and put stand-ins for its compiler."""
    for name in COMPILER:
        _put(name, NoCompiler(name))
    _put(SPREAD, ModuleType(SPREAD))
    vars(sys.modules[SPREAD])["DTensor"] = type("DTensor", (), {})
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)  # a GPU is not missed
    for name in LATE:
        importlib.import_module(name)
    vars(torch)["compile"] = unchanged
    vars(torch.jit)["script"] = unchanged  # it reads the sources of torch's functions
    note_files_without_lines()


def note_files_without_lines() -> None:
    """Let nobody look again and again for lines of files that are not there.

    torch writes down stack traces (torch.manual_seed does so at every call), and each of their
    lines would be looked for once more.
    """
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and (module.__name__.partition(".")[0] in NAMES):
            linecache.cache[file] = (0, None, [], file)  # None: it is not looked at again


def folders() -> Iterator[Path]:
    """Yield the folders of torch's packages."""
    for name in NAMES:
        spec = importlib.util.find_spec(name)
        for place in (spec and spec.submodule_search_locations) or ():
            yield Path(place)


def unchanged(function: Any = None, *_args: object, **_named: object) -> Any:
    """Return a function as it is; without one, a decorator that does."""
    return unchanged if function is None else function


class NoCompiler(Inert, ModuleType):
    """What torch asks of its compiler where there is none: to leave code and settings alone."""

    __path__: MutableSequence[str] = []  # noqa: RUF012 (a package without modules, as its base has it)
    error_on_nested_fx_trace = False


def _put(name: str, module: ModuleType) -> None:
    sys.modules[name] = module
    above, _, own = name.rpartition(".")
    setattr(sys.modules[above], own, module)
