"""Observations as bytes: a fixed schema in JSON, no pickle, and nothing taken on trust.

The bytes come from a process that ran student code. ``decode`` therefore accepts only what
``encode`` can make, within bounds, and raises WireError for all else.
"""

import base64
import binascii
import json
import math
import re
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from grader.notebook_limits import parts_of
from utils.checks.observation import Array, Observation, Other, Plain, Problem, ProblemKind

DTYPES: Final = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool",
)  # fmt: skip
NAMES: Final = {np.dtype(name): name for name in DTYPES}  # dtype.name itself is slow
KINDS: Final = (
    "stub", "exception", "return", "check", "chance", "kept", "nothing", "attribute", "forbidden",
    "backward",
)  # fmt: skip
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
        message = _message(json.loads(raw))
        _require(question_of(raw) == (message.exercise, message.case))
        return message
    except (ValueError, TypeError, KeyError, RecursionError, binascii.Error) as error:
        raise WireError(str(error)) from None


def _message(data: Any) -> Message:
    _require(isinstance(data, dict) and len(data) == 6)
    changed = data["changed"]
    _require(isinstance(changed, list) and len(changed) <= 64)
    problem = None if data["problem"] is None else _problem(data["problem"])
    values, gradients = _unpack_table(data["values"], 0), _unpack_table(data["gradients"], 0)
    seen = Observation(values, gradients, tuple(_text(name) for name in changed), problem)
    case = data["case"]
    _require(type(case) is int and 0 <= case < MOST_ITEMS)
    return Message(_text(data["exercise"]), case, seen)


def _problem(data: Any) -> Problem:
    _require(isinstance(data, list) and len(data) == 3 and data[0] in KINDS)
    return Problem(data[0], _text(data[1]), _text(data[2]))


def _pack_table(table: Any) -> list[list[Any]]:
    return [[name, pack(value)] for name, value in table.items()]


def _unpack_table(data: Any, depth: int) -> dict[str, Plain]:
    _require(isinstance(data, list) and len(data) <= MOST_ITEMS)
    _require(all(isinstance(pair, list) and len(pair) == 2 for pair in data))
    return {_text(name): _unpack(value, depth + 1) for name, value in data}


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
        return _unpack(data, 0)
    except (ValueError, TypeError, KeyError, RecursionError, binascii.Error) as error:
        raise WireError(str(error)) from None


def _unpack(data: Any, depth: int) -> Plain:
    _require(depth <= MOST_DEPTH)
    if data is None or isinstance(data, (bool, float)):
        return data
    if isinstance(data, int):
        _require(abs(data) < 1 << 63)
        return data
    if isinstance(data, str):
        return _text(data)
    _require(isinstance(data, dict) and len(data) == 1)
    ((kind, content),) = data.items()
    return _unpack_marked(kind, content, depth)


def _unpack_marked(kind: str, content: Any, depth: int) -> Plain:
    if kind == "array":
        return _unpack_array(content)
    if kind == "other":
        return Other(_text(content))
    if kind == "table":
        return _unpack_table(content, depth)
    _require(kind == "list" and isinstance(content, list) and len(content) <= MOST_ITEMS)
    return [_unpack(item, depth + 1) for item in content]


def _unpack_array(content: Any) -> Array:
    dtype, shape, text = content
    _require(dtype in DTYPES and isinstance(shape, list) and len(shape) <= MOST_AXES)
    _require(all(type(n) is int and 0 <= n <= ARRAY_BYTES for n in shape))
    _require(isinstance(text, str))
    raw = base64.b64decode(text, validate=True)
    size = math.prod(shape) * np.dtype(dtype).itemsize
    _require(size == len(raw) and size <= ARRAY_BYTES)
    found = np.frombuffer(raw, dtype=np.uint8 if dtype == "bool" else dtype).reshape(shape)
    return found != 0 if dtype == "bool" else found.copy()  # torch needs it writable


def encodable(text: str) -> str:
    """Replace what no file can hold (a lone surrogate) with question marks."""
    return text.encode("utf-8", "replace").decode()


def _text(data: Any) -> str:
    _require(isinstance(data, str) and len(data) <= MOST_TEXT)
    return encodable(data)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("not in the schema")
