"""Probes of what is done with words and batches: vocabulary, padding, buckets."""

import copy
from typing import Any

import torch

from utils.checks.authoring.calling import unpack
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw
from utils.checks.observation import AnswerError, ProblemKind, describe
from utils.checks.observe.torch_state import seeded

SEEDS = {"with a seed": 11, "with the same seed": 11, "with another seed": 12}

Batches = list[list[int]]


def untouched(name: str, before: object, after: object) -> dict[str, object]:
    """Report whether the caller's list is unchanged (the engine watches tensors only)."""
    return {f"the {name} are as they were": before == after}


def _vocab_inputs(text: list[str], min_count: int | None = None) -> Inputs:
    return {"sentences": [line.split() for line in text], "min_count": min_count}


def _call_vocab(answer: Any, i: Inputs) -> dict[str, object]:
    before = copy.deepcopy(i["sentences"])
    options = [] if i["min_count"] is None else [i["min_count"]]
    vocabulary = answer(i["sentences"], *options)
    return {"vocabulary": vocabulary, **untouched("sentences", before, i["sentences"])}


def _collate_inputs(lengths: list[int]) -> Inputs:
    draw = Draw(lengths=lengths)
    pairs = [(draw.integers(60, n, low=2), draw.integers(9, n)) for n in lengths]
    for ids, _ in pairs:
        ids[len(ids) // 2 :][:1] = 1  # an unknown word, which has a tag like any other
    return {"batch": [(ids.tolist(), tags.tolist()) for ids, tags in pairs]}


def _call_collate(answer: Any, i: Inputs) -> dict[str, object]:
    before = copy.deepcopy(i["batch"])
    parts = unpack(answer(i["batch"]), "ids", "lengths", "tags")
    return parts | untouched("lists", before, i["batch"])


def _bucket_inputs(
    max_tokens: int, lengths: list[int] | None = None, N: int = 0, longest: int = 0  # noqa: N803
) -> Inputs:  # fmt: skip
    drawn = Draw(N=N, longest=longest).integers(longest + 1, N, low=1).tolist() if N else lengths
    return {"lengths": list(drawn or ()), "max_tokens": max_tokens, "mixed": bool(N)}


def _call_buckets(answer: Any, i: Inputs) -> dict[str, object]:
    """Return eight runs as they are; they are judged where no student code runs."""
    before, given = list(i["lengths"]), (i["lengths"], i["max_tokens"])
    drawn = {
        title: _plain_batches(answer(*given, torch.Generator().manual_seed(seed)))
        for title, seed in SEEDS.items()
    }
    runs = drawn | _two_epochs(answer, given) | _without_generator(answer, given)
    return runs | untouched("lengths", before, i["lengths"])


def _two_epochs(answer: Any, given: tuple[Any, ...]) -> dict[str, object]:
    generator = torch.Generator().manual_seed(SEEDS["with a seed"])
    return {
        f"epoch {number} with one generator": _plain_batches(answer(*given, generator))
        for number in (1, 2)
    }


def _without_generator(answer: Any, given: tuple[Any, ...]) -> dict[str, object]:
    """Return what torch's own generator decides, with two seeds, and leave that one as it was."""
    runs: dict[str, object] = {}
    for title, seed in (("", 0), (", another seed", 1), (", the same seed", 0)):
        with seeded(seed):
            of_torch = f"{title} of torch's own" if title else ""
            runs[f"without a generator{of_torch}"] = _plain_batches(answer(*given))
    return runs


def _plain_batches(batches: object) -> Batches:
    """Copy the batches, after checking that they are lists of lists of plain ints."""
    if not isinstance(batches, list):
        kind = ProblemKind.NOTHING if batches is None else ProblemKind.RETURN
        raise AnswerError(kind, f"It should return a list of batches, not {describe(batches)}.")
    for batch in batches:
        if not isinstance(batch, list):
            raise AnswerError(
                ProblemKind.RETURN, f"A batch should be a list, not {describe(batch)}."
            )
        strange = next((index for index in batch if type(index) is not int), None)
        if strange is not None:
            raise AnswerError(
                ProblemKind.RETURN, f"A batch should hold plain ints, not {describe(strange)}."
            )
    return [list(batch) for batch in batches]


PROBES = by_exercise(
    Probe(
        "build_vocab",
        _vocab_inputs,
        _call_vocab,
        (
            case("two sentences", True, text=["stůl stůl stůl na stole", "na lavici"]),
            case("ties", text=["b c a d", "d c b a", "c e e c"]),
            case("words seen twice or more", text=["b a a c", "a c d b", "c c"], min_count=2),
            case("capital letters, points", text=["Praha praha PRAHA .", "praha Praha je ."]),
            case(
                "letters with marks, one written in two ways",  # as one sign, and as c and its hook
                text=["čas den cesta", "den c\u030cas čas", "čin čas c\u030cas dům"],
            ),
            case("no word at all", demand="no word at all", text=["", "", ""]),
        ),
        gradient=False,
    ),
    Probe(
        "collate",
        _collate_inputs,
        _call_collate,
        (
            case("three sentences", True, lengths=[3, 5, 2]),
            case("one sentence", lengths=[4]),
            case("equal lengths", lengths=[3, 3]),
            case("an empty sentence", demand="an empty sentence", lengths=[0, 2, 4]),
            case("nothing but empty sentences", demand="an empty sentence", lengths=[0, 0]),
            case("one word among others", lengths=[1, 6]),
        ),
        gradient=False,
    ),
    Probe(
        "bucket_batches",
        _bucket_inputs,
        _call_buckets,
        (
            case("six sentences", True, lengths=[5, 2, 9, 4, 7, 3], max_tokens=12),
            case("mixed lengths", N=400, longest=60, max_tokens=260),
            case("a sentence past the budget", lengths=[3, 30, 2, 4, 25], max_tokens=10),
            case("equal lengths", lengths=[4, 4, 4, 4, 4, 4, 4], max_tokens=12),
            case("no sentences", demand="no sentences", lengths=[], max_tokens=10),
            case(
                "one sentence, and too long",
                demand="sentences all past the budget",
                lengths=[50],
                max_tokens=10,
            ),
            case(
                "empty sentences", demand="empty sentences", lengths=[0, 4, 0, 6, 3], max_tokens=7
            ),
        ),
        gradient=False,
    ),
)
