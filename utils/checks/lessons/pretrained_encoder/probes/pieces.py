"""Probes of words in pieces."""

from typing import Any

from utils.checks.authoring.calling import unpack
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw


def _piece_inputs(words: list[str], pieces: str) -> Inputs:
    return {"words": words, "vocab": {piece: n for n, piece in enumerate(pieces.split())}}


def _call_pieces(answer: Any, i: Inputs) -> dict[str, object]:
    return {f"pieces of {word!r}": answer(word, i["vocab"]) for word in i["words"]}


def _first_inputs(lengths: list[int], repeated: bool = False) -> Inputs:
    """Draw pieces for words of so many pieces; the last word may be the first one again."""
    draw = Draw(lengths=lengths)
    words = [f"word{number}" for number in range(len(lengths))]
    drawn = {
        word: (draw.integers(30_000, length, low=1000).tolist() if length else [])
        for word, length in zip(words, lengths, strict=True)
    }
    if repeated:
        words[-1] = words[0]
    return {"words": words, "pieces": drawn}


def _call_first(answer: Any, i: Inputs) -> dict[str, object]:
    table = i["pieces"]
    found = answer(i["words"], lambda word: list(table[word]))
    return unpack(found, "ids", "first pieces")


PROBES = by_exercise(
    Probe(
        "word_pieces",
        _piece_inputs,
        _call_pieces,
        (
            case("two pieces", True, words=["playing"], pieces="play ##ing pl [UNK]"),
            case("a known word", words=["player"], pieces="play player ##er [UNK]"),
            case(
                "the longest first",
                words=["unhappily"],
                pieces="un unhapp ##happily ##ily ##i [UNK]",
            ),
            case("a last letter", words=["cats"], pieces="cat ##s ca ##t [UNK]"),
            case("a word of one letter", words=["a", "b"], pieces="a ##b ab [UNK]"),
            case("nothing fits", words=["xylem"], pieces="a ##b ##lem [UNK]"),
            case("the rest does not fit", words=["untied"], pieces="un ##t [UNK]"),
            case("no way back", words=["abc"], pieces="ab a ##bc [UNK]"),
            case("inside and in front", words=["sings"], pieces="s ings ##ing ##s sing [UNK]"),
            case("only in front", words=["ions"], pieces="##ion ##s i ons [UNK]"),
            case("only inside", words=["going"], pieces="##go ##ing ing go [UNK]"),
            case("a piece twice", words=["murmurs"], pieces="mur ##mur ##s ##m [UNK]"),
            case(
                "an empty word",
                demand="an empty word",
                words=[""],
                pieces="un ##t [UNK]",
            ),
        ),
        gradient=False,
    ),
    Probe(
        "first_pieces",
        _first_inputs,
        _call_first,
        (
            case("words of one piece", True, lengths=[1, 1, 1]),
            case("words of several pieces", lengths=[2, 1, 3]),
            case("one word", lengths=[3]),
            case("a word without pieces", lengths=[2, 0, 1, 3]),
            case("two words without pieces", lengths=[0, 0, 2]),
            case("a word that comes again", lengths=[3, 1, 3], repeated=True),
            case("five words", lengths=[4, 1, 2, 1, 3]),
        ),
        gradient=False,
    ),
)
