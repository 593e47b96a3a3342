"""Observations as bytes: a fixed schema in JSON, no pickle, and nothing taken on trust.

The bytes come from a process that ran student code. ``decode`` therefore accepts only what
``encode`` can make, within bounds, and raises WireError for all else. Of a key that is given twice
the last one counts.
"""

import base64
import json
import math
import re
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
import numpy as np
from msgspec import Meta

from grader.notebook_limits import parts_of
from utils.checks.observation import Array, Observation, Other, Plain, Problem, ProblemKind

Dtype = Literal[
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"
]  # fmt: skip
Kind = Literal[
    "stub", "exception", "return", "check", "chance", "kept", "nothing", "attribute", "forbidden",
    "backward",
]  # fmt: skip
DTYPES: Final[tuple[Dtype, ...]] = get_args(Dtype)
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
NAMES: Final = {np.dtype(name): name for name in DTYPES}  # dtype.name itself is slow
ARRAY_BYTES: Final = 1 << 20  # of one array
MOST_ITEMS: Final = 4096  # of one list or table
MOST_DEPTH: Final = 6
MOST_TEXT: Final = 2000
MOST_AXES: Final = 8
# Small parts of JSON take 50 times their size in memory. The most that right answers need: 4,200 in
# a message, 16,000 in all.
MOST_PARTS: Final = 20_000
MOST_PARTS_IN_ALL: Final = 200_000  # of one submission
_TOO_MUCH: Final = Problem(
    ProblemKind.RETURN, "What comes back has many more parts than what is asked for."
)
# How a message begins. Its question is read from there, for most of those who pass it on need no
# more; a message that says another one later is none.
HEAD: Final = re.compile(rb'\{"exercise": ?"(\w{1,60})", ?"case": ?(\d{1,4})\b')


class WireError(Exception):
    """The bytes are not an observation."""


class _Marked(msgspec.Struct, forbid_unknown_fields=True):
    """What JSON has no form for: one of these."""

    array: tuple[Dtype, "_Shape", bytes] | None = None
    other: "_Text | None" = None
    items: "_List | None" = msgspec.field(default=None, name="list")
    table: "_Table | None" = None


_Text = Annotated[str, Meta(max_length=MOST_TEXT)]
_Size = Annotated[int, Meta(ge=0, le=ARRAY_BYTES)]
_Shape = Annotated[list[_Size], Meta(max_length=MOST_AXES)]
_Integer = Annotated[int, Meta(gt=-(1 << 63), le=(1 << 63) - 1)]
_Value = _Integer | float | bool | _Text | _Marked | None
_List = Annotated[list[_Value], Meta(max_length=MOST_ITEMS)]
_Table = Annotated[list[tuple[_Text, _Value]], Meta(max_length=MOST_ITEMS)]


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    exercise: str
    case: Annotated[int, Meta(ge=0, lt=MOST_ITEMS)]
    values: _Table
    gradients: _Table
    changed: Annotated[list[_Text], Meta(max_length=64)]
    problem: tuple[Kind, _Text, _Text] | None


@dataclass(frozen=True)
class Message:
    """One observation and the question that it answers."""

    exercise: str
    case: int
    observation: Observation


def encode(message: Message) -> bytes:
    """Write a message; where it would be more than is read, one that says so."""
    raw = _encode(message)
    if len(raw) > MOST_PARTS and parts_of(raw) > MOST_PARTS:
        return _encode(replace(message, observation=Observation(problem=_TOO_MUCH)))
    return raw


def _encode(message: Message) -> bytes:
    seen = message.observation
    problem = seen.problem
    data = {
        "exercise": message.exercise,
        "case": message.case,
        "values": _pack_table(seen.values),
        "gradients": _pack_table(seen.gradients),
        "changed": list(seen.changed),
        "problem": problem and [problem.kind, problem.message[:MOST_TEXT], problem.line[:400]],
    }
    return json.dumps(data).encode()


def question_of(raw: bytes) -> tuple[str, int] | None:
    """Return the exercise and case that a message is about; None if it begins like no message."""
    head = HEAD.match(raw)
    return head and (head[1].decode(), int(head[2]))


def decode(raw: bytes) -> Message:
    """Read a message.

    Raises:
        WireError: something in it is not as ``encode`` writes it.

    """
    if parts_of(raw) > MOST_PARTS:
        raise WireError("too many values")
    try:
        told = msgspec.convert(json.loads(raw), _Message)
        _require(question_of(raw) == (told.exercise, told.case))
        values, gradients = _plain_table(told.values, 0), _plain_table(told.gradients, 0)
        changed = tuple(map(encodable, told.changed))
    except (ValueError, RecursionError) as error:
        raise WireError(str(error)) from None
    problem = told.problem and Problem(
        ProblemKind(told.problem[0]), *map(encodable, told.problem[1:])
    )
    return Message(told.exercise, told.case, Observation(values, gradients, changed, problem))


def _pack_table(table: Any) -> list[list[Any]]:
    return [[name, pack(value)] for name, value in table.items()]


def pack(value: Plain) -> Any:
    """Return one plain value in a form that JSON can hold."""
    if isinstance(value, np.ndarray):
        return _pack_array(value)
    if isinstance(value, Other):
        return {"other": value.description[:MOST_TEXT]}
    if isinstance(value, list):
        return {"list": [pack(item) for item in value]}
    if isinstance(value, dict):
        return {"table": _pack_table(value)}
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return {"other": "a number beyond 64 bits"}
    return value[:MOST_TEXT] if isinstance(value, str) else value


def _pack_array(value: Array) -> Any:
    name = NAMES.get(value.dtype)
    if name is None or value.nbytes > ARRAY_BYTES or value.ndim > MOST_AXES:
        return {"other": f"a {value.dtype} tensor of shape {value.shape}"}
    content = base64.b64encode(value.tobytes()).decode()
    return {"array": [name, list(value.shape), content]}


def unpack(data: Any) -> Plain:
    """Read what `pack` wrote.

    Raises:
        WireError: it is not in the schema.

    """
    try:
        return _plain(msgspec.convert(data, _Value), 0)
    except (ValueError, RecursionError) as error:
        raise WireError(str(error)) from None


def _plain_table(table: _Table, depth: int) -> dict[str, Plain]:
    return {encodable(name): _plain(value, depth + 1) for name, value in table}


def _plain(value: _Value, depth: int) -> Plain:
    _require(depth <= MOST_DEPTH)
    if isinstance(value, str):
        return encodable(value)
    if not isinstance(value, _Marked):
        return value
    _require(msgspec.structs.astuple(value).count(None) == 3)
    if value.array is not None:
        return _array(*value.array)
    if value.other is not None:
        return Other(encodable(value.other))
    if value.table is not None:
        return _plain_table(value.table, depth)
    return [_plain(item, depth + 1) for item in value.items or ()]


def _array(dtype: Dtype, shape: list[int], content: bytes) -> Array:
    size = math.prod(shape) * np.dtype(dtype).itemsize
    _require(size == len(content) and size <= ARRAY_BYTES)
    found = np.frombuffer(content, np.uint8 if dtype == "bool" else dtype).reshape(shape)
    return found != 0 if dtype == "bool" else found.copy()  # torch needs it writable


def encodable(text: str) -> str:
    """Replace what no file can hold (a lone surrogate) with question marks."""
    return text.encode("utf-8", "replace").decode()


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("not in the schema")
