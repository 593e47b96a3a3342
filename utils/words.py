"""Small parts of sentences that are made from what was found."""

from collections.abc import Sequence

_PARTS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 8: "an eighth", 10: "a tenth"}


def listed(parts: Sequence[str]) -> str:
    """Join words as a sentence does: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: "no axes", "1 line", "3,000 lines"."""
    if number != 1:
        thing = thing.removesuffix("is") + "es" if thing.endswith("is") else f"{thing}s"
    return f"{number:,} {thing}" if number else f"no {thing}"


def axes(places: Sequence[int]) -> str:
    """Return the names of some axes: "axis 0", "axes 0, 1 and 2"."""
    return f"{'axis' if len(places) == 1 else 'axes'} {listed(list(map(str, places)))}"


def share(whole: int) -> str:
    """Return what one part of so many is called: "half", "a third", "one part in 12"."""
    return _PARTS.get(whole, f"one part in {whole}")


def an(word: str) -> str:
    """Return a word with its article: "an int", "a SyntaxError"."""
    return f"{'an' if word[:1].lower() in tuple('aeiou') else 'a'} {word}"


def elapsed(seconds: float) -> str:
    """Return a duration as people say it: "less than a second", "1 second", "12 seconds"."""
    return counted(round(seconds), "second") if seconds >= 1 else "less than a second"
