"""Find a submission's answers: in their own cells, or in others if those are not written.

All places are those among the code cells. A stub, whatever its cell is called, writes no answer.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from grader.authoring.lesson import Lesson
from grader.reading.known_cells import known
from grader.reading.submission import SubmittedCell
from grader.static_analysis.written import answers_in

Answers = Sequence[Mapping[str, bool]]  # of each cell: what it defines, and whether it writes it
Places = Mapping[str, int | None]


def answers_of(
    lesson: Lesson, cells: Sequence[SubmittedCell], sources: Mapping[int, str]
) -> Answers:
    """Return which exercises each cell defines, and whether it writes their answers.

    Args:
        lesson: the trusted lesson.
        cells: the code cells as submitted.
        sources: what runs of each cell, by its index.

    """
    stubs = known(lesson).stubs
    return [answers_in(sources.get(cell.index, ""), stubs) for cell in cells]


def home_of(name: str, cells: Sequence[SubmittedCell], answers: Answers) -> int | None:
    """Return where an exercise is written.

    That is the last cell of its name if one of them writes it, whatever later cells bind: they may
    try something out. Else it is the last cell that does write it, as in the notebook.
    """
    own = [place for place, cell in enumerate(cells) if cell.name == name]
    written = [place for place, found in enumerate(answers) if found.get(name)]
    if not set(own).isdisjoint(written):
        # The halves of a cell that was split both count, and a copy of the stub does not.
        return max(place for place in own if answers[place].get(name, True))
    stubs = [place for place, found in enumerate(answers) if name in found]
    return max(written or own or stubs, default=None)


def places_of(cells: Sequence[SubmittedCell], homes: Places) -> Places:
    """Return where exercises are to be observed: at their tests, or behind answers below these."""
    return {name: _place(name, cells, home) for name, home in homes.items()}


def _place(name: str, cells: Sequence[SubmittedCell], home: int | None) -> int | None:
    tests = [place for place, cell in enumerate(cells) if cell.name == f"test_{name}"]
    if tests and (home is None or tests[-1] > home):
        return tests[-1]
    return home


def in_order(places: Places, end: int) -> dict[str, int]:
    """Return each place, or that of an earlier exercise if later; the end if there is none."""
    found = (end if place is None else place for place in places.values())
    return dict(zip(places, accumulate(found, max), strict=True))


def hiding(homes: Places, places: Places, answers: Answers) -> dict[str, tuple[int, int]]:
    """Return where answers stand that are defined anew before they are observed, by their stubs.

    Returns:
        exercise -> the place of its answer, and that of the stub.

    """
    found = {}
    for name, home in homes.items():
        if home is not None and answers[home].get(name):
            between = range(home + 1, (places[name] or 0) + 1)
            stubs = [place for place in between if answers[place].get(name) is False]
            found.update({name: (home, stubs[-1])} if stubs else {})
    return found


def defined_anew(cells: Sequence[SubmittedCell], homes: Places, answers: Answers) -> dict[str, int]:
    """Return where an answer that stands in its own cell is written once more, further down."""
    found = {}
    for name, home in homes.items():
        if home is not None and cells[home].name == name:
            below = [place for place in range(home + 1, len(cells)) if answers[place].get(name)]
            found.update({name: below[-1]} if below else {})
    return found
