"""Why a student's test can never fail, as far as its code shows: an assert of a tuple, for example.

It is told of tests alone that were seen to raise nothing, whatever version they were tried on.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from utils.checks.exercise import Mistake
from utils.checks.observe.answer_code import with_those_beside

FINDS_NOTHING: Final = "finds_nothing"  # the mistake of a test that accepts every version
RANDOM_TEST: Final = "random_test"  # the mistake of one that decides by chance
_MOST: Final = 2
_CATCHING: Final = frozenset(("AssertionError", "Exception", "BaseException"))
_YES_OR_NO: Final = frozenset(
    ("allclose", "isclose", "equal", "all", "any", "isinstance", "array_equal", "isfinite", "bool")
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def reasons_of(answer: Any) -> frozenset[str]:
    """Return why a test never fails, from its own code and that of functions beside it."""
    trees = [_read(inspect.getsource, function) for function in with_those_beside(answer)]
    return _reasons([one for tree in trees for one in _functions(tree)])


def reasons_in(cells: Iterable[str], name: str) -> frozenset[str]:
    """Return why a test of this name never fails, from the code of a notebook's cells."""
    trees = [_read(str, cell) for cell in cells]
    known = {one.name: one for tree in trees for one in _functions(tree)}
    found: dict[str, Function] = {}
    todo = [name]
    while todo:
        if (one := todo.pop()) in known and one not in found:
            found[one] = known[one]
            todo += [node.id for node in ast.walk(known[one]) if isinstance(node, ast.Name)]
    return _reasons(list(found.values()))


def with_reasons(mistake: Mistake | None, reasons: Collection[str]) -> Mistake | None:
    """Put in the place of the hint for a test that accepts everything why it never fails."""
    if mistake is None or mistake.name != FINDS_NOTHING:
        return mistake
    seen = [text for text in _SAYS if text in reasons]
    return replace(mistake, hint=" ".join(seen[:_MOST])) if seen else mistake


def _read(source: Callable[[Any], str], of: Any) -> ast.Module:
    try:
        return ast.parse(textwrap.dedent(source(of)))
    except (OSError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.Module([], [])


def _functions(tree: ast.Module) -> list[Function]:
    return [one for one in tree.body if isinstance(one, Function)]


def _reasons(functions: list[Function]) -> frozenset[str]:
    """Return what is seen in a test, the first function, or in others that it calls."""
    if not functions:
        return frozenset()
    nodes = [node for one in functions for node in ast.walk(one)]
    found = {text for text, applies in _OF_A_NODE.items() if any(map(applies, nodes))}
    own = functions[0]
    found |= {text for text, applies in _OF_A_TEST.items() if applies(own)}
    if any(isinstance(node, (ast.Assert, ast.Raise)) for node in nodes):
        return frozenset(found)
    found |= {text for text, applies in _WITHOUT_ASSERT.items() if any(map(applies, nodes))}
    return frozenset(found or {_NO_ASSERT})


def _asserts_what_is_true(node: ast.AST) -> bool:
    return isinstance(node, ast.Assert) and not _is_pair(node) and _is_true(node.test)


def _is_pair(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple) and bool(node.test.elts)
    )


def _is_true(value: ast.expr) -> bool:
    """Return whether an expression counts as true whatever is computed."""
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
        return any(map(_is_true, value.values))
    if isinstance(value, ast.Constant):
        return bool(value.value)
    if isinstance(value, (ast.List, ast.Set)):
        return bool(value.elts)
    return isinstance(value, (ast.Lambda, ast.JoinedStr, ast.GeneratorExp))


def _asserts_the_same(node: ast.AST) -> bool:
    """Return whether a value is asserted to equal itself."""
    if not isinstance(node, ast.Assert):
        return False
    test = node.test
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Eq, ast.Is)):
        sides = [test.left, test.comparators[0]]
    elif isinstance(test, ast.Call) and _called(test) in {"allclose", "equal", "array_equal"}:
        owner = [test.func.value] if isinstance(test.func, ast.Attribute) else []
        sides = (test.args if len(test.args) > 1 else [*owner, *test.args])[:2]
    else:
        return False
    return len({ast.dump(side) for side in sides}) == 1 < len(sides)


def _is_yes_or_no(value: ast.expr | None) -> bool:
    """Return whether an expression is a comparison, or a call that answers with yes or no."""
    if isinstance(value, ast.Call):
        return _called(value) in _YES_OR_NO
    return isinstance(value, (ast.Compare, ast.BoolOp)) or (
        isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
    )


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _stands_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and _is_yes_or_no(node.value)


def _is_kept(node: ast.AST) -> bool:
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_yes_or_no(node.value)


def _returns_an_outcome(test: Function) -> bool:
    kept = {name.id for node in ast.walk(test) if isinstance(node, ast.Assign) and _is_kept(node)
            for name in node.targets if isinstance(name, ast.Name)}  # fmt: skip
    returned = [node.value for node in ast.walk(test) if isinstance(node, ast.Return)]
    return any(
        _is_yes_or_no(value)
        or (isinstance(value, ast.Constant) and isinstance(value.value, bool))
        or (isinstance(value, ast.Name) and value.id in kept)
        for value in returned
    )


def _catches(node: ast.AST) -> bool:
    """Return whether an AssertionError that is raised inside ends here."""
    if isinstance(node, ast.Try):
        caught = [one for one in node.handlers if one.type is None or _names(one.type) & _CATCHING]
        raised = any(isinstance(x, ast.Raise) for one in caught for x in ast.walk(one))
        inside = any(isinstance(x, (ast.Assert, ast.Raise)) for one in node.body
                     for x in ast.walk(one))  # fmt: skip
        return bool(caught) and inside and not raised
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    return any(
        isinstance(call, ast.Call)
        and _called(call) in {"suppress", "raises"}
        and any(_names(argument) & _CATCHING for argument in call.args)
        for call in calls
    )


def _names(value: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}


def _prints(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _called(node) == "print"


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield what stands in a function itself, and not in one inside it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (Function, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)


def _is_a_generator(test: Function) -> bool:
    return isinstance(test, ast.AsyncFunctionDef) or any(
        isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _own_nodes(test)
    )


def _asserts_in_what_is_never_called(test: Function) -> bool:
    inner = [node for node in _own_nodes(test) if isinstance(node, Function)]
    used = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return any(
        one.name not in used and any(isinstance(x, ast.Assert) for x in ast.walk(one))
        for one in inner
    )


def _ends_before_an_assert(test: Function) -> bool:
    places = [n for n, line in enumerate(test.body) if isinstance(line, ast.Return)]
    after = test.body[places[0] + 1 :] if places else []
    return any(isinstance(node, ast.Assert) for line in after for node in ast.walk(line))


_NO_ASSERT: Final = "There is no `assert` in it, and no `raise`: nothing can make it fail."
# What a student reads -> whether a node of the code, or a test as a whole, is like that.
_OF_A_NODE: Final[Mapping[str, Callable[[ast.AST], bool]]] = {
    "`assert (a, b)` never fails: a pair of brackets with a comma inside is a tuple, and one that "
    "holds something counts as true. Write `assert a, b`.": _is_pair,
    "It catches AssertionError itself, so that no failing assert gets out: leave that "
    "out.": _catches,
    "It asserts what is true whatever comes back, such as a text, a number or a list that is not "
    "empty.": _asserts_what_is_true,
    "It compares a value with itself, which is always the same.": _asserts_the_same,
    "A comparison stands on a line of its own, and nothing happens if it is false: write `assert` "
    "before it.": _stands_alone,
}
_OF_A_TEST: Final[Mapping[str, Callable[[Function], bool]]] = {
    "`yield` or `async` keeps its lines from running when it is called: leave it "
    "out.": _is_a_generator,
    "Its `assert` stands in a function inside it that is never called.": (
        _asserts_in_what_is_never_called
    ),
    "A `return` ends it before its `assert` is reached.": _ends_before_an_assert,
    "It returns an outcome, which nobody looks at: `assert` it instead.": _returns_an_outcome,
}
_WITHOUT_ASSERT: Final[Mapping[str, Callable[[ast.AST], bool]]] = {
    "It keeps an outcome under a name and does nothing with it: `assert` it.": _is_kept,
    "It only prints, and nobody reads that: `assert` what must hold.": _prints,
}
_SAYS: Final = (*_OF_A_NODE, *_OF_A_TEST, *_WITHOUT_ASSERT, _NO_ASSERT)
