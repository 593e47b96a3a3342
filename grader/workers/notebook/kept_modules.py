"""The course's modules, which cannot be read anew in an isolated process, can be imported again.

In a notebook people take `utils` out of `sys.modules`, or reload it, to see a change.
"""

import sys
from collections.abc import Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Self


class Kept(MetaPathFinder, Loader):
    """Gives modules back as they are.

    Args:
        modules: by their full names.

    """

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self._modules = dict(modules)

    @classmethod
    def of(cls, package: str) -> Self:
        """Keep what is loaded now of a package."""
        loaded = sys.modules.items()
        return cls({name: m for name, m in loaded if name.partition(".")[0] == package})

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module that was kept; leave all others to the next finder."""
        return ModuleSpec(fullname, self) if fullname in self._modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that was kept."""
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it has been executed."""
