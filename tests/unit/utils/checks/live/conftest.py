"""The kernel of the tests of `utils.kernel`."""

from tests.unit.utils.kernel.conftest import kernel, module_kernel

__all__ = ["kernel", "module_kernel"]
