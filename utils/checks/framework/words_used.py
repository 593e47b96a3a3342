"""Which names an answer uses, so that nobody is told of a function that they do not call."""

import builtins
import dis
import inspect
import math
import re
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import torch
from torch import nn
from torch.nn import functional

# How a result gets its form can be written in a dozen ways, each with other functions.
_FORM = frozenset((
    "arange", "as_tensor", "cat", "chunk", "clone", "contiguous", "copy_", "detach", "div",
    "expand", "expand_as", "flatten", "float", "full", "long", "moveaxis", "movedim", "mul",
    "new_zeros", "ones", "outer", "permute", "range", "repeat", "repeat_interleave", "reshape",
    "select", "split", "squeeze", "stack", "swapaxes", "swapdims", "tensor", "to", "transpose",
    "type_as", "unbind", "unflatten", "unsqueeze", "view", "zeros", "zeros_like", "zip",
))  # fmt: skip
# A word that is none of torch's or Python's is a variable's, and nobody knows another's.
_KNOWN: Final = frozenset(
    name for of in (torch, torch.Tensor, functional, nn, math, builtins) for name in dir(of)
) - {"real", "imag"}  # which nobody takes for the parts of a complex number
_RANDOM = frozenset(("bernoulli", "rand", "rand_like", "randn", "randn_like", "uniform_"))
COMPARED: Final = "<"  # the word of any comparison by a sign
_COMPARE: Final = frozenset((COMPARED, "eq", "ge", "gt", "le", "lt", "ne"))
_SIGN = re.compile(r"(?<!-)>|<|[=!]=")  # but no arrow of an annotation
_QUOTED = re.compile(r"`([A-Za-z_]\w*)(?:\(…\))?`")
_WORD = re.compile(r"[A-Za-z_]\w*")


def functions_of(answer: Any) -> list[types.FunctionType]:
    """Return a function itself, or the methods of a class."""
    parts = list(vars(answer).values()) if inspect.isclass(answer) else [answer]
    return [f for f in map(inspect.unwrap, filter(callable, parts)) if inspect.isfunction(f)]


def names_in(code: types.CodeType) -> set[str]:
    """Return the global names and attributes that a piece of code uses."""
    return set(code.co_names).union(*map(names_in, _inner(code)))


def words_of(answer: Any) -> frozenset[str] | None:
    """Return every name in an answer's code, and in that of functions beside it that it calls."""
    functions = with_those_beside(answer)
    if not functions:
        return None
    return frozenset[str]().union(*(_all_names(function.__code__) for function in functions))


def with_those_beside(answer: Any) -> list[types.FunctionType]:
    """Return an answer's functions, and then those beside it that they call."""
    found = functions_of(answer)
    for function in found:  # which grows
        found += [f for f in dict.fromkeys(_called_beside(function)) if f not in found]
    return found


def words_in(lines: Collection[str]) -> frozenset[str] | None:
    """Return every word in lines of code; None if there are no lines."""
    compared = [COMPARED] if any(map(_SIGN.search, lines)) else []
    words = (word for line in lines for word in _WORD.findall(line))
    return frozenset((*words, *compared)) if lines else None


def may_be_told(sentence: str, used: Collection[str] | None) -> bool:
    """Return whether a sentence speaks of nothing that an answer does not have.

    That is a variable, a function that draws or that is about a result's form, or a comparison.

    Args:
        sentence: what a mistake made by machine is like.
        used: the answer's names; None if they are not known.

    """
    if used is None:
        return True
    if "a comparison" in sentence and not _COMPARE & set(used):
        return False
    quoted = set(_QUOTED.findall(sentence.partition(" stood for ")[0]))
    foreign = quoted - set(used)
    return not foreign or (foreign <= _KNOWN and not quoted & _FORM and not foreign & _RANDOM)


def _all_names(code: types.CodeType) -> set[str]:
    own = {*code.co_names, *code.co_varnames, *code.co_freevars}
    if any(step.opname == "COMPARE_OP" for step in dis.get_instructions(code)):
        own.add(COMPARED)
    return own.union(*map(_all_names, _inner(code)))


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    return (const for const in code.co_consts if isinstance(const, types.CodeType))


def _called_beside(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """Return the functions that stand beside one, in the same cells, and that it may call."""
    known: dict[str, Callable[..., Any]] = function.__globals__
    for name in names_in(function.__code__) & known.keys():
        for other in functions_of(known[name]) if callable(known[name]) else ():
            if other.__globals__ is known:
                yield other
