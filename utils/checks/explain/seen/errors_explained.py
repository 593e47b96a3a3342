"""What usually causes an exception, by its message: torch's words, turned into a student's."""

import re
from typing import Final

from utils.checks.observation import Problem, ProblemKind

_WRITES: Final = r"before backward\(\) has run \("  # ends in how it is done
_ASSERTION: Final = r"AssertionError"
# The first pattern found in "Type: message" explains it; {1}, {2} ... stand for its groups.
_CAUSES: Final[tuple[tuple[str, str], ...]] = (
    (
        r"before Module\.__init__\(\) call|has no attribute '_(modules|parameters|buffers)'",
        "nn.Module is not set up yet: `super().__init__()` comes first in __init__.",
    ),
    (
        r"__init__\(\) takes 1 positional argument",
        "The class has no `__init__` that takes arguments: the name needs two underscores on "
        "either side, and its `def` the same indentation as that of forward.",
    ),
    (
        r"must be (?:tuple of )?(?:Symbolic )?(?:SymInts|ints?)\b.*float|'float' object cannot be",
        "A size is a float: `/` always gives one, `//` gives whole numbers.",
    ),
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        "A matrix product met inner sizes {2} and {3}, which must be equal: is a transpose "
        "missing or too many, are two arguments swapped, or is a layer skipped?",
    ),
    (
        r"batch[12] must be a 3D tensor",
        "`bmm` takes three axes and no more; with one more: `@` takes any number.",
    ),
    (
        r"batch1 and batch2|Expected size for first two dimensions|Expected batch2|size mismatch",
        "A matrix product met sizes that do not fit: is a transpose missing or too many, or are "
        "the last two axes not those to be multiplied?",
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at "
        r"non-singleton dimension (\d+)",
        "Axis {3} has size {1} in one tensor and {2} in the other: is an axis missing, are axes in "
        "another order (in a matrix product too), or is something kept from an earlier call?",
    ),
    (
        r"einsum\(\)",
        "Sizes that must be equal are not. If the einsum is yours, compare its letters with the "
        "axes of its tensors; if it is in a part that you call, compare what you pass in with "
        "what that part takes.",
    ),
    (
        r"view size is not compatible",
        "`view` fails after this transpose. Should the view come first? `reshape` would run, but "
        "may mix up the entries.",
    ),
    (
        r"shape '(\[.*?\])' is invalid for input of size (\d+)",
        "{2} entries do not fill the shape {1}: which of its sizes is not meant?",
    ),
    (
        r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
        "An axis of size {2} cannot be expanded to {1}: only axes of size 1 can.",
    ),
    (
        r"stack expects each tensor to be equal size",
        "Pieces of different sizes are stacked: which one is too short or too long? A slice that "
        "ends at -1 leaves out the last entry.",
    ),
    (
        r"Sizes of tensors must match except in dimension (\d+)",
        "Tensors are joined along axis {1} and must agree in all other axes: is another axis "
        "meant, or is one of them cut differently?",
    ),
    (
        r"expected input\[.*?\] to have (\d+) channels, but got (\d+)",
        "A convolution expects the features on the middle axis, (B, {1}, T), but found {2} "
        "there: is a transpose(1, 2) missing?",
    ),
    (
        r"bitwise_?xor|unsupported operand type\(s\) for \^",
        "`^` compares bits; a power is written `**`.",
    ),
    (
        r"[Cc]an't call numpy\(\)",
        "numpy records no gradients, so training could not go through it: stay with tensors.",
    ),
    (
        r"must have same number of dimensions: got (\d+) and (\d+)",
        "Tensors of {1} and of {2} axes are joined: give the smaller one the axis that it lacks.",
    ),
    (
        r"grad can be implicitly created only for scalar outputs",
        "A backward pass starts from one number: sum the results first.",
    ),
    (
        r"CUDA|NVIDIA|\bMPS\b|\bXPU\b",
        "Your code asks for a GPU that is not there. Put what you make where the input is, "
        "whatever that is: `device=x.device`.",
    ),
    (
        r"SystemExit",
        "`exit()` ends the whole program, and every call that waits for a result. To end a "
        "function, write `return`.",
    ),
    (
        r"RecursionError",
        "A function calls itself, directly or through another one, and never comes to an end: is a "
        "name inside it the name of the function itself?",
    ),
    (
        r"MemoryError|not enough memory|[Cc]an't allocate memory",
        "Your code asks for more memory than there is. Multiply the sizes of what your line makes: "
        "which axis should not be there?",
    ),
    (
        r"'(\w+)' object is not callable",
        "A value of type {1} is called as if it were a function: is a name used twice, or was the "
        "function called before it was passed to the check?",
    ),
    (
        r"operator\.invert|bitwise|logical_not",
        "`~`, `&` and `|` need booleans: this tensor holds numbers.",
    ),
    (
        r"leaf [Vv]ariable.* It is a parameter",
        "A parameter is changed while gradients are recorded. To load weights, do it under "
        "`with torch.no_grad():`.",
    ),
    (
        r"leaf [Vv]ariable",
        "A tensor that requires gradients is written into. Write first and ask for its gradients "
        "then, or put what is new into a tensor of another name.",
    ),
    (
        r"into that parameter before backward",
        "The backward pass comes first, with the parameters that gave the results; an optimiser's "
        "step, and every other change of them, comes after it.",
    ),
    (
        rf"{_WRITES}`\[\.\.\.\] \W+`",
        "Make a new tensor instead: `torch.where(condition, new, old)`, or `masked_fill` without "
        "an underscore. Parts that a loop computes go into a list, then through torch.stack.",
    ),
    (
        rf"{_WRITES}`(\W+)=`",
        "`x {1}= y` writes into the tensor that is there; `x = x {1} y` makes a new one.",
    ),
    (
        rf"{_WRITES}`\w+\(\.\.\., (inplace=True|out=)",
        "Leave out `{1}`: then the result is a new tensor.",
    ),
    (
        rf"{_WRITES}`(copy|fill|zero)_`",
        "Make a new tensor instead, by torch.where or torch.cat for a part, and under a name of "
        "its own for the whole.",
    ),
    (
        rf"{_WRITES}`(?!_)(\w+)_`",
        "`{1}_` writes into its tensor; `{1}`, without the underscore at its end, gives a new one: "
        "use what it returns.",
    ),
    (
        r"is a view and is being modified in-?place",
        "A loop over a tensor, unbind, split and chunk hand out views of it, and a view of this "
        "kind may not be written into: give what is new another name, collect it in a list and "
        "use torch.stack or torch.cat.",
    ),
    (
        r"with out=\.\.\. arguments don't support",
        "Leave out `out=`, which records no gradients: then the result is a new tensor.",
    ),
    (
        r"refer(?:s)? to a single memory location",
        "After expand, several entries are one number in memory, and nothing can be written into "
        "them: make a new tensor (torch.where, masked_fill without an underscore), or clone() "
        "first.",
    ),
    (
        r"modified by an in-?place operation",
        "Something that backward() needs is written into before: look for `x[...] =`, for signs "
        "such as `+=`, and for names that end in an underscore.",
    ),
    (
        r"torch\.return_types\.(max|min|median|nanmedian|mode|kthvalue|sort|topk|cummax|cummin)\b",
        "`{1}` gives two tensors here, values and indices: take `.values`.",
    ),
    (
        r"'tuple' object|not '?tuple|and 'tuple'|concatenate tuple",
        "A tuple is used as if it were one tensor. If a function of yours returns it, take it "
        "apart; if it is handed to you, as an LSTM's state is, hand it on as it is.",
    ),
    (
        r"expected scalar type|to have the same dtype|must have the same dtype|same dtype",
        "Two number types are mixed. A tensor that you make yourself needs the input's: dtype=.",
    ),
    (
        r"Boolean value of Tensor",
        "`if`, `and`, `or` and `not` need a single truth value, not a tensor of them: use "
        "torch.where, masked_fill, &, | or ~.",
    ),
    (
        r"[Dd]imension out of range",
        "Your code names an axis that the tensor does not have: count its axes.",
    ),
    (
        r"shape of the \w+ (\[.*?\]) at index \d+ does not match.* tensor (\[.*?\])",
        "A boolean index of shape {1} picks from a tensor of shape {2}: an index does not "
        "broadcast along axes of size 1; masked_fill and torch.where do.",
    ),
    (
        r"[Tt]oo many indices",
        "There are more indices in the brackets than the tensor has axes. A boolean index counts "
        "once for each of its own axes.",
    ),
    (
        r"Class values must be",
        "`one_hot` takes whole numbers from 0 to num_classes - 1: which input gives a number "
        "outside that range?",
    ),
    (
        r"ValueError: .*(?:is not in list|not in (?:list|tuple|deque))",
        "`index` and `remove` look for something that is not there: is it there for every input?",
    ),
    (
        r"IndexError|out of bounds",
        "An index lies beyond the end: check where counting begins and ends.",
    ),
    (
        r"positional arguments? but|missing \d+ required|unexpected keyword",
        "A function is called with arguments that it does not take, or without some that it "
        "needs: compare the call with the line that begins with `def`.",
    ),
    (
        r"'NoneType' object has no attribute '(\w+)'",
        "Your code asks None for `{1}`: which value can be None here?",
    ),
    (
        r"'NoneType'|(?:not|found|assign)(?: an?)? NoneType",
        "Something is None where a value is used: an argument that is not given, or a function "
        "without `return`?",
    ),
    (
        r"'Identity' object has no attribute '(\w+)'",
        "nn.Identity does nothing and has no `{1}`: is there always a layer with one in this "
        "place? You can ask any module for its parameters(); an Identity has none.",
    ),
    (
        r"AttributeError: '(\w+)' object has no attribute '(\w+)'",
        "Your code asks an object of type {1} for `{2}`, which it does not have: is it made in "
        "__init__ under exactly this name, or is the object not what you think?",
    ),
    (
        r"NameError: name '(\w+)' is not defined",
        "`{1}` is not defined in this notebook: look for its spelling, and whether its cell was "
        "run. What another lesson defines is not here unless a cell of this one fetches it.",
    ),
    (
        r"(?:NameError|UnboundLocalError).*?'(\w+)'",
        "`{1}` is used before it has a value: look for its spelling, and for the branch that "
        "skips it.",
    ),
    (r"KeyError: (.*)", "The key {1} is not in the dictionary: what should happen then?"),
    (r"ZeroDivisionError", "Something is divided by a count that can be zero."),
    (
        r"only (?:one|integer)|can only convert|can't convert",
        "A tensor of several entries is used where one number is expected.",
    ),
    (
        _ASSERTION,
        "An `assert` stopped the call. To refuse bad sizes, raise ValueError; good ones must pass.",
    ),
    (
        r"values to unpack \(expected (\d+), got (\d+)\)",
        "There are {1} names on the left of `=`, but {2} on its right: how many values are there "
        "in other cases? A shape has one number for each axis.",
    ),
    (
        r"values to unpack",
        "The names left of `=` and the values on its right differ in number.",
    ),
    (
        r"backward through the graph a second time",
        "The first backward pass frees what the next one needs: ask for all gradients in one call "
        "(autograd.grad takes a list), or keep the graph with retain_graph=True.",
    ),
    (
        r"does not require grad",
        "Your code asks for the gradient of something that records none: look for detach, "
        "no_grad, item or a new tensor on the way.",
    ),
)
_REFUSED_ELSEWHERE: Final = (
    "Something that your line calls refuses what it is given. The words of the error are its own: "
    "what do they say of its arguments?"
)
_REFUSED: Final = (
    "Your own `raise` stopped a call that should go through: is its condition too strict, or are "
    "two arguments swapped in the call?"
)


def usual_cause(problem: Problem) -> str:
    """Return what usually causes a problem, or nothing if its own sentence says all that is known.

    Args:
        problem: what stopped the answer; its message is "Type: words".

    """
    if problem.kind not in (ProblemKind.EXCEPTION, ProblemKind.BACKWARD):
        return ""
    if problem.is_raised:
        return _REFUSED
    for pattern, cause in _CAUSES:
        if match := re.search(pattern, problem.message):
            if pattern == _ASSERTION and not re.match(r"assert\b", problem.line):
                return _REFUSED_ELSEWHERE
            return cause.format("", *match.groups())
    return ""


def of_a_test(problem: Problem) -> str:
    """Return what to do about an error in which a student's own test ended.

    Args:
        problem: what stopped the test; its message is "Type: words".

    """
    if problem.kind == ProblemKind.STUB:
        return ""
    by_hand = problem.line.startswith("raise ")
    cause = "" if by_hand else usual_cause(problem)
    return cause or (
        "Your test stopped with an error, which is not a verdict. A test rejects a version by "
        "`assert`, or by raising AssertionError."
    )
