"""What a student reads about an answer that is not there: which cell should have made it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.sandbox import Ending
from grader.workers.progress import error_name

LEFT_OUT: Final = {
    Ending.TIMED_OUT: "ran too long and was stopped",
    Ending.CRASHED: "ended the notebook's process",
}


@dataclass(frozen=True)
class Failed:
    """What failed in a cell.

    Attributes:
        error: its type's name; "" if the clock stopped it.
        names: what the statement would have bound; None if it ended its cell.

    """

    error: str
    names: frozenset[str] | None = None

    def hides(self, name: str) -> bool:
        """Return whether a name may be missing for it."""
        return self.names is None or name in self.names


Failures = Mapping[int, Sequence[Failed]]


def defines(source: str, name: str) -> bool:
    """Return whether a cell's code has a line that defines a name."""
    return re.search(rf"^(?:def|class)\s+{name}\b|^{name}\s*=", source, re.MULTILINE) is not None


def why_absent(name: str, steps: Sequence[Mapping[str, Any]], failed: Failures) -> str:
    """Say why an answer is not there.

    Args:
        name: the exercise.
        steps: the steps that were done or left out, as plain data.
        failed: what failed in a step's cell, by the step's number.

    """
    homes = [step for step in steps if defines(step["source"] or step.get("left_out", ""), name)]
    if not homes:
        return f"There is no `{name}`: no cell that ran defines it."
    label = homes[-1]["label"]
    cell = label[:1].lower() + label[1:]
    if "left_out" in homes[-1]:
        return f"There is no `{name}`: {cell} {LEFT_OUT[homes[-1]['ended']]}."
    errors = [f.error for f in failed.get(homes[-1]["number"], ()) if f.hides(name)]
    if not errors:
        return f"There is no `{name}` any more: {cell} defined it, and a later cell removed it."
    if not errors[0]:
        return f"There is no `{name}`: {cell} ran too long and was stopped."
    return f"There is no `{name}`: {cell} failed with {error_name(errors[0])}."
