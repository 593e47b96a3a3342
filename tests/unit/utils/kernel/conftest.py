"""One kernel for each module of tests."""

from collections.abc import Iterator

import pytest

from tests.unit.utils.kernel.kernel import SET_UP, Kernel, running_kernel

NAMES = ("stable_softmax", "MultiHeadAttention", "predict_score_spread", "f", "oops", "kept")


@pytest.fixture(scope="module")
def module_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel that has run a lesson's first cell."""
    with running_kernel(tmp_path_factory.mktemp("02_attention")) as made:
        made.run(SET_UP)
        yield made


@pytest.fixture
def kernel(module_kernel: Kernel) -> Kernel:
    """The kernel, where no answer is known."""
    module_kernel.forget(*NAMES)
    return module_kernel
