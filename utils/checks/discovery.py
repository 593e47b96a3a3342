"""Find a table in each module of a package, so that nobody has to maintain a list of modules."""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from typing import Any


def collect(package: str, path: Iterable[str], table: str) -> Mapping[str, Any]:
    """Merge the tables of all modules of a package that have one.

    Args:
        package: the package's name.
        path: where its modules are.
        table: the tables' name; they map ids to what they hold.

    Raises:
        ValueError: two modules hold the same id.

    """
    merged: dict[str, Any] = {}
    for found in pkgutil.iter_modules(path, f"{package}."):
        entries: Mapping[str, Any] = getattr(importlib.import_module(found.name), table, {})
        if twice := merged.keys() & entries.keys():
            raise ValueError(f"{found.name} holds {', '.join(sorted(twice))}, as another does")
        merged |= entries
    return merged
