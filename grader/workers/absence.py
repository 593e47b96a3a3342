"""Take what a lesson's exercises forbid out of this process, for the rest of its life.

It happens below Python. torch's dispatcher, through which every call comes (by whatever name, from
threads, callbacks, traces and transforms alike), gets kernels that refuse in place of its own, and
nothing in the process brings those back. What torch writes in Python loses its code in place, so
that a reference kept beforehand leads to a refusal, too.
"""

import ctypes
import functools
import gc
import itertools
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, NoReturn

import torch

from utils.checks.framework.exercise import Probe
from utils.checks.framework.forbidden import Forbidden, says
from utils.checks.registry import probes

# All keys under which a CPU's tensors could find a kernel that is not a refusal.
KEYS: Final = (
    "CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor",
    "Autograd", "AutogradCPU", "FuncTorchBatched", "FuncTorchBatchedDecomposition",
    "FuncTorchVmapMode", "BatchedNestedTensor", "NestedTensorCPU", "SparseCPU", "SparseCsrCPU",
    "MkldnnCPU", "QuantizedCPU", "Meta",
)  # fmt: skip
# Parts of names in torch._C: what runs graphs with kernels of its own, past the dispatcher.
OTHER_ENGINES: Final = ("_te_", "texpr", "tensorexpr", "llga", "static_module", "can_fuse",
                        "parse_ir", "function_from_graph", "pattern_based")  # fmt: skip
# Methods that write graphs by hand, in which such an engine can be asked for as well.
BY_HAND: Final = {"Graph": ("create", "createClone", "createFusionGroup", "createCudaFusionGroup"),
                  "Node": ("g_", "gs_")}  # fmt: skip
LAYOUT: Final = "MkldnnCPU"  # tensors on which operators compute that no dispatcher sees
TO_LAYOUT: Final = "to_mkldnn"
# Methods that make, copy and show an object, beside those whose names begin with underscores.
MAKING: Final = {"extra_repr", "reset_parameters", "_reset_parameters", "flatten_parameters",
                 "_apply", "_get_name", "_init_flat_weights", "_weights_have_changed",
                 "_load_from_state_dict", "_save_to_state_dict"}  # fmt: skip
# Not loaded by torch itself: attention written in Python.
NOT_LOADED: Final = {"torch.nn.attention.flex_attention", "torch.ao.nn.quantizable", "torch.onnx"}


def take_out(asked: Iterable[Probe]) -> None:
    """Take out all that these exercises forbid; nothing brings it back."""
    parts = dict.fromkeys(part for probe in asked for part in probe.kernels)
    if not parts:
        return
    functions = [pair for part in parts for pair in in_python()[part]]
    sys.meta_path.insert(0, _NotHere(NOT_LOADED | {f.__module__ for f, _ in functions}))
    for function, refusal in functions:
        function.__code__ = refusal  # for everybody who holds it
    for part in parts:
        refuse_kernels(part)


def close_other_engines() -> None:
    """Take out torch's graph fusers, static runtime and oneDNN's tensors: no exercise needs them.

    A class cannot be taken from its base, which lists it: it loses what makes and runs an object.
    """
    fuser = sys.modules.pop("torch._C._te", None)
    if fuser is not None:
        for name in ("__init__", "run", "fallback"):
            delattr(vars(fuser)["TensorExprKernel"], name)
        vars(fuser).clear()
    for name in [n for n in vars(torch._C) if any(part in f"{n}_" for part in OTHER_ENGINES)]:
        delattr(torch._C, name)
    for kind, methods in BY_HAND.items():
        for method in methods:
            if hasattr(getattr(torch._C, kind), method):
                delattr(getattr(torch._C, kind), method)
    for space, names in kernels_of_layout().items():
        put_refusals(space, names)


def kernels_of_layout() -> Mapping[str, list[tuple[str, str]]]:
    """Return what makes tensors of oneDNN's layout, or takes them: namespace -> names and keys."""
    found: dict[str, list[tuple[str, str]]] = {}
    for full in torch._C._dispatch_get_all_op_names():
        space, _, name = full.partition("::")
        has = functools.partial(torch._C._dispatch_has_kernel_for_dispatch_key, full)
        keys = KEYS if name.partition(".")[0] == TO_LAYOUT else (LAYOUT,)
        found.setdefault(space, []).extend((name, key) for key in keys if has(key))
    return {space: names for space, names in found.items() if names}


def refuse_kernels(part: str) -> None:
    """Put refusals in place of every kernel of torch whose name holds this part."""
    for space, names in kernels()[part].items():
        put_refusals(space, names)


def put_refusals(space: str, names: Iterable[tuple[str, str]]) -> None:
    """Put refusals in place of kernels of one namespace, by name and key."""
    library = torch._C._dispatch_library("IMPL", space, "", __file__, 1)
    # Without its last reference the library would take the refusals along. This one is held by
    # nobody, so nobody can let it go.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that kernels are replaced
        for name, key in names:
            library.impl(name, key, functools.partial(_refuse, name.partition(".")[0]))


@functools.cache
def kernels() -> Mapping[str, Mapping[str, list[tuple[str, str]]]]:
    """Return the kernels that exercises may take out: part -> namespace -> names and keys."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {part: {} for part in all_parts()}
    for full, part in itertools.product(torch._C._dispatch_get_all_op_names(), found):
        space, _, name = full.partition("::")
        if part in name:
            has = functools.partial(torch._C._dispatch_has_kernel_for_dispatch_key, full)
            found[part].setdefault(space, []).extend((name, key) for key in KEYS if has(key))
    return found


@functools.cache
def in_python() -> Mapping[str, list[tuple[FunctionType, CodeType]]]:
    """Return torch's functions in Python that exercises may take out, by part of a name.

    Each comes with the code that refuses in its place. The collector knows also what decorators and
    tables hide, but not what somebody froze: that is thawed, or it would stay in the process.
    """
    gc.unfreeze()
    everything = [f for f in gc.get_objects() if type(f) is FunctionType]
    torchs = [f for f in everything if (f.__module__ or "").split(".")[0] == "torch"]
    any_part = re.compile("|".join(re.escape(plain(part)) for part in all_parts()))
    few = [f for f in torchs if any_part.search(plain(f"{full_name(f)} {f.__qualname__}"))]
    return {
        part: [(f, refusal(f, says(f.__qualname__))) for f in few if does(part, f)]
        for part in all_parts()
    }


def all_parts() -> list[str]:
    """Return every part of a kernel's name that some exercise forbids."""
    return sorted({part for probe in probes().values() for part in probe.kernels})


def does(part: str, function: FunctionType) -> bool:
    """Return whether a function's name, or that of the class that it computes for, has a part.

    A part with dots is a function's whole name. Objects of such a class can be made and shown.
    """
    if "." in part:
        return part == full_name(function)
    if part in function.__name__:
        return True
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    return plain(part) in plain(owner) and not _makes(function.__name__)


def full_name(function: FunctionType) -> str:
    """Return a function's name with its module's."""
    return f"{function.__module__}.{function.__name__}"


def plain(name: str) -> str:
    """Return a name in the form in which functions and classes write it alike."""
    return name.replace("_", "").lower()


def _makes(method: str) -> bool:
    return method in MAKING or (method.startswith("__") and method != "__call__")


def _refuse(name: str, *_args: object, **_named: object) -> NoReturn:
    raise Forbidden(says(name))


def refusal(function: FunctionType, sentence: str) -> CodeType:
    """Compile code that raises Forbidden; Python wants a function's free variables in it again."""
    free = function.__code__.co_freevars
    source = (
        f"def around({', '.join(free)}):\n"
        "    def gone(*_args, **_named):\n"
        f"        {', '.join(free) or None}\n"
        f"        from {Forbidden.__module__} import Forbidden\n"
        f"        raise Forbidden({sentence!r})\n"
        "    return gone\n"
    )
    made: dict[str, Any] = {}
    exec(source, made)
    code: CodeType = made["around"](*free).__code__
    return code


class _NotHere(MetaPathFinder):
    """Refuses to import what was taken out, afresh or for the first time."""

    def __init__(self, modules: set[str]) -> None:
        self._modules = modules

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise for a module that is not here; leave all others to the next finder."""
        if any(f"{fullname}.".startswith(f"{module}.") for module in self._modules):
            raise ModuleNotFoundError(f"{fullname} is not here while grading", name=fullname)
        return None
