"""One-place changes of calls, axes, names and slices, as people get tensor code wrong."""

import ast
import itertools
from collections.abc import Callable

from grader.mutation.edits import Edit, Edits, Site, changed, exchanged, without
from grader.mutation.nodes import constant, inside, integer, is_library, is_loaded
from grader.mutation.words import called

_OTHER_FUNCTION = {
    "sin": ("cos",), "cos": ("sin",), "max": ("min",), "min": ("max",), "amax": ("amin",),
    "argmax": ("argmin",), "mean": ("sum",), "sum": ("mean",), "tril": ("triu",),
    "softmax": ("log_softmax", "sigmoid"),
    "log_softmax": ("softmax",), "tanh": ("sigmoid", "relu"), "relu": ("tanh", "sigmoid"),
    "sqrt": ("square",), "rsqrt": ("sqrt", "reciprocal"), "exp": ("exp2",), "log": ("log2",),
    "square": ("abs",), "var": ("std",), "any": ("all",), "all": ("any",),
    "triu": ("tril",), "zeros": ("ones",), "ones": ("zeros",), "append": ("extend",),
    "split": ("chunk",), "stack": ("cat",), "cat": ("stack",), "repeat": ("repeat_interleave",),
    "repeat_interleave": ("repeat",),
}  # fmt: skip
_AXES = (-1, -2, 0, 1)
_OF_EVERYTHING = {"sum", "mean", "max", "amax", "min", "argmax", "var", "std", "all", "any", "norm"}
_TWICE = {"softmax", "log_softmax", "tanh", "relu", "masked_fill", "norm", "dropout"}
_ON_TOP = ("softmax(-1)", "sigmoid()", "tanh()", "relu()")
_OVER_AN_AXIS = {
    "softmax", "log_softmax", "sum", "mean", "max", "amax", "min", "argmax", "cumsum", "var", "std",
    "all", "any", "unsqueeze", "squeeze", "stack", "cat", "flip", "norm", "chunk", "select", "size",
}  # fmt: skip


def calls(site: Site) -> Edits:
    """Leave a function out, take a similar one, or change what it is given."""
    call, of = site.node, site.words.of
    if not isinstance(call, ast.Call):
        return
    name = called(call)
    kept = _passed_through(call)
    if kept is not None:
        yield Edit(kept, f"`{name}` were left out")
    for other in _OTHER_FUNCTION.get(name, ()):
        yield Edit(changed(call, func=_renamed(call.func, other)), f"`{other}` stood for `{name}`")
    for one, other_place in itertools.combinations(range(len(call.args)), 2):
        yield Edit(
            changed(call, args=exchanged(call.args, one, other_place)),
            f"{of(call.args[one])} and {of(call.args[other_place])} were exchanged in `{name}`",
        )
    for place, keyword in enumerate(call.keywords):
        if keyword.arg is not None:
            less = changed(call, keywords=without(call.keywords, place))
            yield Edit(less, f"`{name}` were called without `{keyword.arg}`")
    if name in _TWICE and _is_method(call):
        again = changed(call.func, value=call)
        yield Edit(changed(call, func=again), f"`{name}` were applied twice")
    if name in ("transpose", "permute", "t") and _is_method(call):
        shape = ast.Attribute(call, "shape", ast.Load())
        cut = ast.Call(changed(call.func, attr="reshape"), [shape], [])
        yield Edit(cut, f"the axes of {of(call)} were made by reshape, not by `{name}`")
    if len(call.args) > 1:
        yield Edit(
            changed(call, args=call.args[:-1]), f"`{name}` were called without {of(call.args[-1])}"
        )


def results(site: Site) -> Edits:
    """Apply a further function to what is returned, or to its first part."""
    if not isinstance(site.parent, ast.Return) and not _is_first_returned(site):
        return
    if isinstance(site.node, (ast.Tuple, ast.Constant)) or not isinstance(site.node, ast.expr):
        return
    for text in _ON_TOP:
        source = ast.parse(f"result.{text}", mode="eval").body
        assert isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute)
        on_top = changed(source, func=changed(source.func, value=site.node))
        yield Edit(on_top, f"`{called(source)}` were applied to the result as well")


def _is_first_returned(site: Site) -> bool:
    return isinstance(site.parent, ast.Tuple) and site.index == 0 and site.field == "elts"


def fillings(site: Site) -> Edits:
    """Fill what is masked with another number."""
    call = site.node
    if not isinstance(call, ast.Call) or called(call) not in ("masked_fill", "where", "full"):
        return
    for place, argument in enumerate(call.args):
        if "inf" in ast.dump(argument) and isinstance(argument, (ast.UnaryOp, ast.Call)):
            for value in (0.0, -1.0, 1e-9, -1e-9):
                args = [*call.args[:place], constant(value), *call.args[place + 1 :]]
                yield Edit(
                    changed(call, args=args), f"`{called(call)}` put {value:g} for minus infinity"
                )


def _passed_through(call: ast.Call) -> ast.expr | None:
    """Return what a call would give if it did nothing: its object, or its first argument."""
    if isinstance(call.func, ast.Attribute) and not is_library(call.func.value):
        if isinstance(call.func.value, ast.Name) and call.func.value.id == "self":
            return call.args[0] if call.args else None
        return call.func.value
    return call.args[0] if call.args else None


def _renamed(function: ast.expr, name: str) -> ast.expr:
    if isinstance(function, ast.Attribute):
        return ast.Attribute(value=function.value, attr=name, ctx=ast.Load())
    return ast.Attribute(value=ast.Name("torch", ast.Load()), attr=name, ctx=ast.Load())


def axes(site: Site) -> Edits:
    """Let a function run over another axis, or over everything."""
    call = site.node
    if not isinstance(call, ast.Call) or called(call) not in _OVER_AN_AXIS:
        return
    name = called(call)
    for place, argument in enumerate(call.args):
        for axis in _other_axes(argument):
            args = [*call.args[:place], constant(axis), *call.args[place + 1 :]]
            yield Edit(changed(call, args=args), f"`{name}` ran over axis {axis}")
    for place, keyword in enumerate(call.keywords):
        if keyword.arg == "dim":
            for axis in _other_axes(keyword.value):
                new = changed(keyword, value=constant(axis))
                keywords = [*call.keywords[:place], new, *call.keywords[place + 1 :]]
                yield Edit(changed(call, keywords=keywords), f"`{name}` ran over axis {axis}")
    if name in _OF_EVERYTHING:
        kept = [] if _is_method(call) else call.args[:1]
        everything = changed(call, args=kept, keywords=[])
        yield Edit(everything, f"`{name}` ran over the whole tensor")


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and not is_library(call.func.value)


def _other_axes(node: ast.expr) -> list[int]:
    if isinstance(node, ast.Name) and node.id in ("dim", "axis"):
        return list(_AXES)
    axis = integer(node)
    return [] if axis is None or abs(axis) > 3 else [n for n in _AXES if n != axis]


def slices(site: Site) -> Edits:
    """Leave out an end of a slice, or an index; or move an end by one."""
    node = site.node
    if isinstance(node, ast.Slice):
        for end, word, limit in (("lower", "began", "start"), ("upper", "ended", "end")):
            edge = getattr(node, end)
            if edge is not None:
                if integer(edge) != 0 or end == "upper":
                    open_ = changed(node, **{end: None})
                    yield Edit(open_, f"a slice {word} at the {limit} of the axis")
                for step, how in ((ast.Add(), "later"), (ast.Sub(), "earlier")):
                    moved = ast.BinOp(edge, step, ast.Constant(1))
                    yield Edit(changed(node, **{end: moved}), f"a slice {word} one {how}")
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield Edit(node.value, f"the whole of {site.words.of(node.value)} were taken, not a part")


def names(site: Site) -> Edits:
    """Take another parameter, or another of the answer's modules of one kind."""
    node, of = site.node, site.words.of
    if not is_loaded(site):
        return
    name = _own_name(node)
    for group in site.names:
        if name in group:
            for other in sorted(group - {name}):
                new = changed(node, **{"id" if isinstance(node, ast.Name) else "attr": other})
                yield Edit(new, f"{of(new)} stood where {of(node)} belongs{inside(site)}")


def _own_name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    owner = getattr(node, "value", None)
    is_own = isinstance(node, ast.Attribute) and isinstance(owner, ast.Name) and owner.id == "self"
    return node.attr if is_own and isinstance(node, ast.Attribute) else ""


def collections(site: Site) -> Edits:
    """Exchange what is returned, shorten a loop, or use one object for many."""
    node = site.node
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        if isinstance(site.parent, ast.Return):
            swapped = changed(node, elts=exchanged(node.elts, 0, 1))
            yield Edit(swapped, "the two results were returned in the other order")
        elif isinstance(site.parent, ast.Subscript):
            yield Edit(changed(node, elts=exchanged(node.elts, 0, 1)), "two indices were exchanged")
    if isinstance(node, ast.ListComp) and len(node.generators) == 1:
        again = ast.BinOp(ast.List([node.elt], ast.Load()), ast.Mult(), _count(node))
        if _count_is_range(node):
            yield Edit(again, "one and the same object stood in every place of a list")
        for generator in node.generators:
            if generator.ifs:
                open_ = changed(generator, ifs=[])
                yield Edit(changed(node, generators=[open_]), "a list left nothing out")
    if isinstance(node, ast.Call) and called(node) == "range" and len(node.args) == 1:
        (count,) = node.args
        less = ast.BinOp(count, ast.Sub(), ast.Constant(1))
        yield Edit(changed(node, args=[less]), "a loop ran one step fewer")
        yield Edit(changed(node, args=[ast.Constant(1), count]), "a loop began one step late")
    if isinstance(node, ast.IfExp):
        yield Edit(node.body, "a choice were always made the first way")
        yield Edit(node.orelse, "a choice were always made the second way")


def _count_is_range(node: ast.ListComp) -> bool:
    source = node.generators[0].iter
    return isinstance(source, ast.Call) and called(source) == "range" and len(source.args) == 1


def _count(node: ast.ListComp) -> ast.expr:
    source = node.generators[0].iter
    return source.args[0] if isinstance(source, ast.Call) and source.args else ast.Constant(1)


OPERATORS: tuple[Callable[[Site], Edits], ...] = (
    calls, axes, fillings, names, slices, collections, results,
)  # fmt: skip
