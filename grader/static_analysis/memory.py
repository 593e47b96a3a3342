"""Say whether a student's own test might remember something from one call to the next.

A test that remembers can tell versions apart without knowing which are right, and is tried more
than once for that (see grader.workers.trials). One that plainly cannot is tried once. Only what is
known to keep nothing counts as such: what is written in any other way is tried twice, and loses
nothing by that.
"""

import ast
import itertools
import math
import symtable
from collections.abc import Sequence
from typing import Final

from grader.static_analysis.cells import as_python, kept, statements
from grader.static_analysis.guarded import guarded
from grader.static_analysis.names import Scope, dotted
from grader.static_analysis.program import Program, read_program
from grader.static_analysis.unusual import CALLS, OWN, USUAL_NAMES, unusual_if_readable

BUILTINS: Final = {
    "AssertionError", "Exception", "False", "IndexError", "None", "RuntimeError", "True",
    "TypeError", "ValueError", "abs", "all", "any", "bool", "dict", "enumerate", "float", "int",
    "isinstance", "len", "list", "map", "max", "min", "print", "range", "reversed", "round", "set",
    "slice", "sorted", "str", "sum", "tuple", "zip",
}  # fmt: skip
# Not the modules that these import, where anything may be kept; and no abstract class, which keeps
# what is registered. Nothing of typing: it keeps what was overloaded, and what stood in brackets.
PURE: Final[dict[str, set[str]]] = {
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"},
    "itertools": {name for name in vars(itertools) if not name.startswith("_")},
    "math": {name for name in vars(math) if not name.startswith("_")},
}
MODULES: Final = {"torch", "functional", "linalg", "nn", "rnn", "testing", "utils"}
# Of torch: what computes from what it is given, and keeps nothing.
TORCH: Final = {
    "abs", "all", "allclose", "any", "arange", "argmax", "argmin", "argsort", "assert_close",
    "baddbmm", "bmm", "bool", "cat", "chunk", "clone", "concat", "cumsum", "device", "diag",
    "diagonal", "dot", "double", "e", "einsum", "equal", "exp", "eye", "finfo", "flatten", "flip",
    "float", "float32", "float64", "full", "full_like", "gather", "Generator", "inf", "int",
    "int32", "int64", "isclose", "isfinite", "isinf", "isnan", "layer_norm", "linspace", "log",
    "log_softmax", "logical_and", "logical_not", "logical_or", "long", "manual_seed",
    "masked_fill", "matmul", "max", "mean", "min", "mm", "nan", "no_grad", "norm", "normal",
    "normalize", "ones", "ones_like", "outer", "pad", "pad_sequence", "permute", "pi", "pow",
    "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "relu", "repeat_interleave",
    "reshape", "roll", "scaled_dot_product_attention", "sigmoid", "sin", "softmax", "sort",
    "split", "sqrt", "square", "squeeze", "stack", "std", "sum", "tanh", "Tensor", "tensor",
    "tile", "transpose", "tril", "triu", "unsqueeze", "var", "where", "zeros", "zeros_like",
}  # fmt: skip
LEFT_OVER: Final = {"data_ptr", "new", "new_empty", "resize_"}  # shows what memory held before
# Beside CALLS, what changes a module for everybody. Found in any cell, it spoils all tests.
CHANGES: Final = CALLS | {"delattr", "setattr", "vars"}
METHODS: Final = USUAL_NAMES | {"__call__", "__iter__", "__post_init__", "__repr__"}
NO_PLAIN_CODE: Final = (
    ast.Await, ast.ClassDef, ast.Global, ast.Import, ast.ImportFrom, ast.Nonlocal, ast.Yield,
    ast.YieldFrom,
)  # fmt: skip
MOST_NODES: Final = 4000  # of a test: Python's tables of a longer one take long to go through


def may_remember(sources: Sequence[str], test: str) -> bool:
    """Return whether a test might keep something between calls, by what a notebook's cells say.

    It might if they cannot be read.
    """
    return guarded(lambda: _may_remember(sources, test), cautious=True)


def _may_remember(sources: Sequence[str], test: str) -> bool:
    program = read_program(sources)
    written = program.definitions.get(test, [])
    if len(written) != 1 or not isinstance(function := written[0].code, ast.FunctionDef):
        return True
    if unusual_if_readable(sources) or "*" in program.aliases:
        return True
    if any(map(_changes_others, sources)) or len(written[0].nodes) > MOST_NODES:
        return True
    if not _is_plain(function, written[0].nodes):
        return True
    names = _names_from_outside(_cell_of(test, sources), test)
    return not _keep_nothing(names, written[0].nodes, program)


@kept
def _changes_others(source: str) -> bool:
    """Return whether a cell might change what a test uses: a module, a name of Python's."""
    return any(_changes(node) for statement in statements(source) for node in statement.nodes)


def _changes(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return dotted(node).partition(".")[0] not in OWN
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name.startswith("__") and node.name not in METHODS
    return isinstance(node, ast.Global) or (isinstance(node, ast.Name) and node.id in CHANGES)


def _is_plain(test: ast.FunctionDef, nodes: Sequence[ast.AST]) -> bool:
    """Return whether a function keeps nothing by its form, whatever its names stand for.

    Chance may be used: each trial begins with a seed of its own.
    """
    if test.decorator_list or test.args.defaults or any(test.args.kw_defaults):
        return False
    return not any(isinstance(node, NO_PLAIN_CODE) or _shows_memory(node) for node in nodes)


def _keep_nothing(names: set[str], nodes: Sequence[ast.AST], program: Program) -> bool:
    """Return whether nothing that a function takes from the notebook outlives its call."""
    scope = Scope(nodes, program.aliases)
    chains = (dotted(node) for node in scope.nodes())
    paths = (scope.resolve(chain) for chain in chains if chain.partition(".")[0] in names)
    return all(_is_known(name, program) for name in names) and all(map(_is_pure, paths))


def _shows_memory(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in LEFT_OVER


def _cell_of(test: str, sources: Sequence[str]) -> str:
    """Return the cell that defines a test."""
    return next(s for s in sources if any(test in one.bound for one in statements(s)))


def _names_from_outside(cell: str, test: str) -> set[str]:
    """Return the names that a test's body, and functions within it, take from the notebook.

    The compiler's own tables say so. They are made from the cell's text: to make a text of a syntax
    tree fails on what is deep, and on long numbers.
    """
    tables = symtable.symtable(as_python(cell), "a cell", "exec").get_children()
    (own,) = (table for table in tables if table.get_name() == test)
    waiting, found = [own], set[str]()
    while waiting:
        table = waiting.pop()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        waiting += table.get_children()
    return found


def _is_known(name: str, program: Program) -> bool:
    """Return whether a name is one import's or Python's own, and nothing else binds it."""
    if name in program.definitions or name in program.ambiguous:
        return False
    return name in program.aliases or name in BUILTINS


def _is_pure(path: str) -> bool:
    """Return whether what a path leads to keeps nothing: no module, which could be changed."""
    root, *rest = path.split(".")
    if root in PURE:
        return len(rest) == 1 and rest[0] in PURE[root]
    return root in BUILTINS or (
        root == "torch" and MODULES.issuperset(rest[:-1]) and rest[-1:] != [] and rest[-1] in TORCH
    )
