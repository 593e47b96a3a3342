"""A student's cell: code whose lines Python can find, as in a notebook."""

import linecache
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


def written(source: str, name: str) -> Any:
    """Run a cell and return what it defines under a name."""
    file = f"<{name} {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"torch": torch, "nn": nn, "F": F}
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]
