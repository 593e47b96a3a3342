"""What a fork server loads before any submission comes, and what it must not load."""

import gc
import importlib
import pkgutil
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import torch

import utils.checks
from grader.workers.lending import PACKAGE
from grader.workers.notebook import no_compiler
from grader.workers.notebook.kept_modules import Kept
from grader.workers.protocol import Message, encode
from utils.checks.observation import Observation, plain
from utils.checks.registry import probes

LESSONS: Final = "utils.checks.lessons."
APART: Final = ("utils.checks", "utils.lab")


def warm_up() -> None:
    """Import what lessons import, except oracles and mistakes, and prepare matplotlib."""
    import matplotlib  # noqa: PLC0415 (only a fork server pays for these imports)

    matplotlib.use("agg")
    from matplotlib import font_manager  # noqa: PLC0415
    from matplotlib import pyplot as plt  # noqa: PLC0415

    import_what_lessons_import()
    probes()
    require_no_answers(sys.modules)
    _silence_checks()
    no_compiler.go_without()
    torch.set_num_threads(1)
    vars(torch)["set_num_threads"] = keep_one_thread
    _rehearse()
    figure = plt.figure()
    figure.text(0, 0, "fonts are found and read once, here")
    figure.canvas.draw()
    plt.close(figure)
    remove_made_folder(Path(matplotlib.get_configdir()))
    vars(font_manager)["_get_font"].cache_clear()  # or every copy frees the fonts, which takes 3 ms
    sys.meta_path.insert(0, Kept.of("utils"))
    gc.freeze()  # what is never collected is never written to, and stays shared
    gc.enable()


def remove_made_folder(folder: Path) -> None:
    """Remove the folder that matplotlib makes where it may write to no other.

    It would do so at its end, but a fork server is killed.
    """
    if folder.parent == Path(tempfile.gettempdir()) and folder.name.startswith("matplotlib-"):
        shutil.rmtree(folder, ignore_errors=True)


def keep_one_thread(_number: int) -> None:
    """Do nothing: a notebook may ask for as many threads as its own machine has processors.

    An isolated process may not have so many, and torch ends one that does not get what it asked.
    """


def _rehearse() -> None:
    """Compute what exercises compute, so that no copy has to find and load it itself."""
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Dropout(0.1))
    x = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    hidden = torch.arange(3) > 1
    weights = (x @ x.transpose(-2, -1)).masked_fill(hidden, -torch.inf).softmax(-1)
    y = torch.einsum("bts,bsd->btd", weights, layer(x)) / x.std(-1, keepdim=True)
    torch.autograd.grad(torch.cat([y, x]).double().sum(), [x, *layer.parameters()])
    encode(Message("rehearsal", 0, Observation({"y": plain(y)})))


def import_what_lessons_import() -> None:
    """Import our packages that notebooks use; what probes need of the checks comes with them."""
    for top in pkgutil.iter_modules(utils.__path__, "utils."):
        if top.name not in APART and f"{top.name}." != PACKAGE:
            path = getattr(importlib.import_module(top.name), "__path__", [])
            for module in pkgutil.iter_modules(path, f"{top.name}."):
                setattr(
                    sys.modules[top.name],
                    module.name.rpartition(".")[2],
                    importlib.import_module(module.name),
                )


def may_stand_beside_students(module: str) -> bool:
    """Return whether a module may be loaded where student code will run, by its package.

    Of a lesson's checks only the package ``probes`` may: its neighbours hold right and wrong
    answers. Stand-ins are lent instead.

    """
    if not module.startswith(LESSONS):
        return not module.startswith(PACKAGE)
    return module.removeprefix(LESSONS).split(".")[1:2] in ([], ["probes"])


def require_no_answers(loaded: Iterable[str]) -> None:
    """Check that nothing was loaded that must not stand beside student code.

    Raises:
        RuntimeError: something was; the message names it.

    """
    for module in loaded:
        if not may_stand_beside_students(module):
            raise RuntimeError(
                f"{module} would stand beside student code: probes may import nothing of a lesson "
                "but what lies in a package called probes"
            )


class _NoCheck:
    """A stand-in for ``check`` while grading: visible checks in other cells show nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_kwargs: None


def _silence_checks() -> None:
    utils.checks.check = _NoCheck()  # type: ignore[assignment]
