"""Settings for all tests."""

import gc
import random
from collections.abc import Iterator

import matplotlib
import pytest
import torch
from hypothesis import settings

from tests.fork_server import one_fork_server
from tests.tiers import WHOLE, left_out, system_of, tables_of

# Shared machines are slow at times, and a run must be the same everywhere.
settings.register_profile("course", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("course")
matplotlib.use("agg")
torch.set_num_threads(1)
# On a machine with no accelerator, torch.manual_seed keeps three stack traces of each call.
WITH_ACCELERATOR = torch.accelerator.is_available()

# Modules and tests stay until the end: to look for garbage among them takes as long as a fifth of
# all imports, and again and again later.
gc.disable()
AS_PYTHON_STARTS = (700, 10, 10)  # not as tests/startup has it: tests run as our code does


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the parts of the tests that this run leaves to a full one."""
    left = [item for item in items if part_of(item) in left_out()]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if part_of(item) not in left_out()]


def part_of(item: pytest.Item) -> str | None:
    """The part that a test belongs to, if it is one that may be left out."""
    if item.get_closest_marker("whole"):
        return WHOLE
    params = item.callspec.params if hasattr(item, "callspec") else {}
    exercise = params.get("exercise") or getattr(params.get("cell"), "exercise", None)
    if exercise and item.get_closest_marker("table"):
        return tables_of(exercise)
    return system_of(item.path.relative_to(item.config.rootpath).as_posix())


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*AS_PYTHON_STARTS)
    gc.enable()


@pytest.fixture(autouse=True)
def _one_seed() -> None:
    """What draws without a seed of its own draws the same whatever ran before, on any machine."""
    random.seed(0)
    if WITH_ACCELERATOR:
        torch.manual_seed(0)
    else:
        torch.default_generator.manual_seed(0)


@pytest.fixture(scope="module", name="one_fork_server")
def _one_fork_server() -> Iterator[None]:
    """All pools of a module's tests, and of other modules' that ask for it, in one fork server."""
    with one_fork_server():
        yield
