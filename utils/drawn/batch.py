"""Padded batches side by side: sentences in colour, what fills them up to the longest in grey."""

from collections.abc import Mapping, Sequence

from utils.drawn.frame import Drawn, line, words
from utils.palette import BLUE, GREEN, GREY, ORANGE, SKY

WIDE, GAP, ROW, TOP = 370, 40, 8, 34  # in CSS pixels: a batch, between two, a sentence, the head
COLOURS = (BLUE, ORANGE, GREEN, SKY)  # of sentences, in turn


def padded_batches(batches: Mapping[str, Sequence[int]]) -> Drawn:
    """Show batches of sentences side by side, a row for each sentence and a square for each token.

    Args:
        batches: what a batch is called -> how many words its sentences have; none is empty.

    """
    token = WIDE / max(max(lengths) for lengths in batches.values())
    shares = [1 - sum(lengths) / (max(lengths) * len(lengths)) for lengths in batches.values()]
    heads = [f"{name}: {share:.0%} padding" for name, share in zip(batches, shares, strict=True)]
    drawing = [
        words((WIDE + GAP) * place, 18, head, class_="strong") + _rows(place, lengths, token)
        for place, (head, lengths) in enumerate(zip(heads, batches.values(), strict=True))
    ]
    end = TOP + ROW * max(map(len, batches.values()))
    drawing.append(words(0, end + 18, "a row: a sentence; a square: a token; grey: padding"))
    size = (WIDE + GAP) * len(batches) - GAP, end + 28
    told = [
        f"{head}, sentences of {_span(lengths)} words"
        for head, lengths in zip(heads, batches.values(), strict=True)
    ]
    alt = f"Batches, padded to their longest sentence; {'; '.join(told)}."
    return Drawn("What padding costs", alt, "".join(drawing), size)


def _span(lengths: Sequence[int]) -> str:
    least, most = min(lengths), max(lengths)
    return f"{least} to {most}" if least < most else f"{most}"


def _rows(place: int, lengths: Sequence[int], token: float) -> str:
    """Draw one batch; all its rows are as long as the longest sentence."""
    left, longest = (WIDE + GAP) * place, max(lengths)
    squares = {"stroke_width": ROW - 2, "stroke_dasharray": f"{token - 1:.2f} 1"}
    drawn = []
    for row, length in enumerate(lengths):
        y, end = TOP + ROW * row, left + token * length
        colour = COLOURS[row % len(COLOURS)]
        drawn.append(line(left, y, f"{end:.1f}", y, stroke=colour, **squares))
        full = f"{left + token * longest:.1f}"
        drawn.append(line(f"{end:.1f}", y, full, y, stroke=GREY, opacity=0.35, **squares))
    return "".join(drawn)
