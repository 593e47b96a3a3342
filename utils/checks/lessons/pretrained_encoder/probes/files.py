"""Probe of reading a file of tensors, which is written here."""

import json
import struct
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw
from utils.checks.observation import AnswerError, ProblemKind, describe

_KINDS = {
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
}
_CODES = {"F32": "f", "I64": "q", "F16": "e"}


def _file_inputs(
    tensors: list[str], metadata: bool = False, turned: bool = False, written: bool = False
) -> Inputs:
    """Write a file of tensors such as "F32 2x3"; its header names them turned round, if asked."""
    draw, header, body = Draw(tensors=tensors), dict[str, Any](), b""
    if metadata:
        header["__metadata__"] = {"format": "pt"}
    for number, kind_and_shape in enumerate(tensors):
        kind, sizes = kind_and_shape.split()
        shape = [int(size) for size in sizes.split("x")]
        numbers = _packed(kind, draw.normal(*shape, scale=3.0).flatten().tolist())
        offsets = [len(body), len(body) + len(numbers)]
        header[f"layer.{number}.weight"] = {"dtype": kind, "shape": shape, "data_offsets": offsets}
        body += numbers
    named = list(header.items())
    text = json.dumps(dict(named[::-1] if turned else named)).encode()
    return {"content": struct.pack("<Q", len(text)) + text + body, "written": written}


def _packed(kind: str, numbers: list[float]) -> bytes:
    if kind == "BF16":  # the upper half of a float32
        return b"".join(struct.pack("<f", number)[2:] for number in numbers)
    whole = [int(10 * number) for number in numbers] if kind == "I64" else numbers
    return struct.pack(f"<{len(whole)}{_CODES[kind]}", *whole)


def _call_reader(answer: Any, i: Inputs) -> dict[str, object]:
    before = bytes(bytearray(i["content"]))
    found = answer(i["content"])
    if not isinstance(found, Mapping) or not all(map(_is_tensor, found.values())):
        kind = ProblemKind.NOTHING if found is None else ProblemKind.RETURN
        says = f"It should return a dictionary of tensors, not {describe(found)}."
        raise AnswerError(kind, says)
    results: dict[str, object] = {"names": sorted(map(str, found))}
    for name in sorted(found):
        results[f"shape of {name}"] = list(found[name].shape)
        results[f"dtype of {name}"] = str(found[name].dtype)
        results[str(name)] = found[name].to(torch.float64)
    return results | (_written_into(found, i["content"], before) if i["written"] else {})


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor)


def _written_into(found: Mapping[str, Tensor], content: bytes, before: bytes) -> dict[str, object]:
    """Write into each tensor, see what else changes, and put the content back."""
    others_stay = True
    for name, tensor in found.items():
        rest = {other: found[other].clone() for other in found if other != name}
        tensor.add_(1)
        others_stay &= all(torch.equal(found[other], kept) for other, kept in rest.items())
    return {
        "writing into a tensor leaves the content alone": content == before,
        "writing into a tensor leaves the others alone": others_stay,
    }


PROBES = by_exercise(
    Probe(
        "read_safetensors",
        _file_inputs,
        _call_reader,
        (
            case("one tensor", required=True, tensors=["F32 5"]),
            case("a matrix behind it", tensors=["F32 4", "F32 2x3"]),
            case("whole numbers", tensors=["F32 6", "I64 4", "F32 3x2"]),
            case("short numbers", tensors=["F16 2x4", "BF16 3", "F32 5"]),
            case("with metadata", tensors=["F32 3x4", "I64 5", "F32 2"], metadata=True),
            case("named from the last to the first", tensors=["F32 7", "F32 3x2"], turned=True),
            case(
                "tensors that are written into",
                demand="tensors with memory of their own",
                tensors=["F32 4", "F32 2x5"],
                written=True,
            ),
        ),
        gradient=False,
    ),
)
