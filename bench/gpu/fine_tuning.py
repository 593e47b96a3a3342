"""Lesson 07's published layers, trained to tag words: a part of `bench.gpu`.

A machine without a network gets what this needs as small files: `python -m bench.gpu.fine_tuning
FOLDER` writes the weights in float16 with only those rows of the table of words that English-EWT
uses. COURSE_CUT names that folder there; elsewhere the published files are taken.
"""

import copy
import json
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from bench.gpu.lesson import Float32
from bench.gpu.record import Figures, Found, Place
from bench.lesson_code import solution
from utils.pretrained import tagging, tiny
from utils.pretrained.english import english
from utils.pretrained.weights import published
from utils.pretrained.words import split_words
from utils.treebank.conllu import Sentence
from utils.treebank.loader import made_up_treebank

NAMES: Final = (
    "TransformerEncoder", "LearnedPositionalEncoding", "LayerNorm", "FeedForward", "as_bert",
    "load_bert", "read_safetensors", "word_pieces", "first_pieces",
)  # fmt: skip
SIZES: Final = (50, 300, 1000, 12_544)  # sentences; the last are all
ROUNDS_OF_ALL: Final = 2
TABLE: Final = "embeddings.word_embeddings.weight"
KEPT: Final = 104  # rows at the beginning of the table that conventions name


def figures(place: Place, _known: Found) -> Figures:
    """Train on more and more sentences, with products in bfloat16 and in float32."""
    lesson = solution(NAMES)
    content, vocab, n_heads = files(place)
    tensors = lesson["read_safetensors"](content)
    bert = loaded(lesson, tensors, n_heads)
    encode = partial(encoded, lesson, vocab)
    train, test = texts(place)
    for n in (4,) if place.toy else SIZES:
        yield f"{n} sentences", partial(row, bert, encode, train[:n], test, place)
        full = Float32(bert)
        yield f"{n} sentences, float32", partial(row, full, encode, train[:n], test, place)


def row(
    bert: nn.Module,
    encode: tagging.Encode,
    known: list[Sentence],
    test: list[Sentence],
    place: Place,
) -> dict[str, float]:
    """Train a copy of an encoder; return its share right, words per second, seconds."""
    names = sorted({tag for sentence in (*known, *test) for _, tag in sentence})
    data = [tagging.pieces(one, encode, names) for one in known]
    torch.manual_seed(0)
    student = copy.deepcopy(bert)
    for path, parameter in student.named_parameters():
        parameter.requires_grad_("embedding" not in path)
    width = next(student.parameters()).shape[-1]
    tagger = tagging.Tagger(student, width, len(names)).to(place.device)
    rounds, start = tagging.ROUNDS.get(len(known), ROUNDS_OF_ALL), time.perf_counter()
    tagging.train(tagger, data, rounds=rounds, rate=tagging.RATE)
    seconds = time.perf_counter() - start
    return {
        "share right": tagging.share_right(
            tagger, [tagging.pieces(s, encode, names) for s in test]
        ),
        "words per second": round(rounds * sum(map(len, known)) / seconds),
        "seconds": round(seconds, 2),
    }


def files(place: Place) -> tuple[bytes, dict[str, int], int]:
    """Return the weights' file, the vocabulary and the number of heads."""
    if place.toy:
        return tiny.content(), tiny.vocabulary(), tiny.SIZES[2]
    if folder := os.environ.get("COURSE_CUT"):
        vocab, n_heads = json.loads(Path(folder, "vocab.json").read_text(encoding="utf-8"))
        return Path(folder, "model.safetensors").read_bytes(), vocab, n_heads
    found = published()
    if not found.is_real:
        raise RuntimeError(found.note)
    return found.content, found.vocab, found.n_heads


def texts(place: Place) -> tuple[list[Sentence], list[Sentence]]:
    """Return sentences to learn from, in an order drawn once, and those of the test."""
    if place.toy:
        made_up = made_up_treebank("a toy run")
        return made_up.train, made_up.test[:4]
    train = english("train")
    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(0))
    return [train[n] for n in order.tolist()], english("test")


def loaded(lesson: dict[str, Any], tensors: dict[str, Tensor], n_heads: int) -> nn.Module:
    """Return the lesson's encoder with a file's weights, in float32."""
    n_words, width = tensors[TABLE].shape
    inner = len(tensors["encoder.layer.0.intermediate.dense.bias"])
    n_layers = sum(name.endswith("intermediate.dense.bias") for name in tensors)
    bert: nn.Module = lesson["TransformerEncoder"](n_words, width, n_heads, n_layers, inner)
    lesson["as_bert"](bert, len(tensors["embeddings.position_embeddings.weight"]))
    lesson["load_bert"](bert, tensors)
    return bert


def encoded(
    lesson: dict[str, Any], vocab: dict[str, int], words: Sequence[str]
) -> tuple[list[int], list[int]]:
    """Return a sentence's ids and the places of its words' first pieces."""

    def ids(word: str) -> list[int]:
        return [vocab[p] for part in split_words(word) for p in lesson["word_pieces"](part, vocab)]

    found: tuple[list[int], list[int]] = lesson["first_pieces"](words, ids)
    return found


def cut(folder: Path) -> None:
    """Write the published weights in float16, with the rows that English-EWT uses."""
    lesson, real = solution(NAMES), published()
    sentences = [[word for word, _ in s] for part in ("train", "test") for s in english(part)]
    encode = partial(encoded, lesson, real.vocab)
    used = sorted({*range(KEPT), *(i for words in sentences for i in encode(words)[0])})
    pieces = list(real.vocab)
    tensors = lesson["read_safetensors"](real.content)
    tensors[TABLE] = tensors[TABLE][used]
    folder.mkdir(parents=True, exist_ok=True)
    vocab = {pieces[old]: new for new, old in enumerate(used)}
    (folder / "vocab.json").write_text(json.dumps([vocab, real.n_heads]), encoding="utf-8")
    header, numbers = {}, bytearray()
    for name, tensor in tensors.items():
        content = tensor.half().numpy().tobytes()
        ends = [len(numbers), len(numbers) + len(content)]
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": ends}
        numbers += content
    head = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + numbers)


if __name__ == "__main__":
    cut(Path(sys.argv[1]))
