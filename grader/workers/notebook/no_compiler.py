"""torch without its compiler, which takes seconds to load and needs programs that are not there.

Optimisers, gradients of gradients and checkpoints ask for it, only to tell it to leave them alone.
"""

import sys
from collections.abc import MutableSequence
from types import ModuleType
from typing import Any, Final

import torch

from grader.workers.notebook.inert import Inert

COMPILER: Final = ("torch._dynamo", "torch._dynamo.config", "torch._inductor",
                   "torch._inductor.config", "torch._decomp.decompositions_for_jvp")  # fmt: skip
SPREAD: Final = "torch.distributed.tensor"  # comparing tensors asks whether they are of its kind


def go_without() -> None:
    """Put stand-ins in place of torch's compiler: what is to be compiled stays as it is."""
    for name in COMPILER:
        _put(name, NoCompiler(name))
    _put(SPREAD, ModuleType(SPREAD))
    vars(sys.modules[SPREAD])["DTensor"] = type("DTensor", (), {})
    vars(torch)["compile"] = unchanged
    vars(torch.jit)["script"] = unchanged


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
