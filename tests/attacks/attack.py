"""What an attack is, and how its submission is made of a lesson."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from grader.authoring.notebook import source_notebook
from tests.course.lesson_runs import all_lessons

LESSON = "02_attention"
GRADED = ("graded",)
Notebook = dict[str, Any]


@dataclass(frozen=True)
class Attack:
    """A submission, what it tries, and what must come out.

    Attributes:
        name: a few words.
        tries: what would be gained if it worked.
        code: cells put before all others.
        answers: exercise id -> the cell's source in place of the stub (or of the right answer).
        right: start from right answers instead of stubs.
        last: cells put behind all others.
        change: what is done to the finished notebook (as data); may return bytes instead.
        status: what may come out.
        score: points that must come out, as a share of all: 0 where nothing may be gained, 1 where
            a right answer must not be hurt, None where any is fine.
        holds: exercises that must keep their points (for attacks that harm themselves).
        lesson: whose notebook it is.
        burns: computes for as long as it is let, so it is let for a short time.
    """

    name: str
    tries: str
    code: Sequence[str] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    right: bool = False
    last: Sequence[str] = ()
    change: Callable[[Notebook], Notebook | bytes] | None = None
    status: Sequence[str] = GRADED
    score: float | None = 0.0
    holds: Sequence[str] = ()
    lesson: str = LESSON
    burns: bool = False

    def submission(self) -> bytes:
        """The notebook as it would be handed in."""
        notebook = json.loads(_texts(self.lesson)[self.right])
        for cell in notebook["cells"]:
            if cell.get("id") in self.answers:
                cell["source"] = self.answers[cell["id"]]
        first, last = map(_code_cells, (self.code, self.last))
        notebook["cells"] = [*first, *notebook["cells"], *last]
        made = self.change(notebook) if self.change is not None else notebook
        return made if isinstance(made, bytes) else json.dumps(made).encode()


def _code_cells(sources: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"cell_type": "code", "source": s, "metadata": {}, "outputs": [], "execution_count": None}
        for s in sources
    ]


@cache
def _texts(name: str) -> tuple[str, str]:
    """Return a lesson's notebook with stubs, and with right answers."""
    lesson = all_lessons()[name]
    return lesson.release_path.read_text(encoding="utf-8"), json.dumps(source_notebook(lesson))
