"""What a graded copy says: in verdict.json beside it, which the course's own engine writes.

Copies that nbgrader's own autograde made have none, nor have those of earlier versions of the
course. Of these is read what stands in the notebook as data, without trust: nbgrader writes copies
from the kernel that ran the student's code, so anything may stand where a verdict is expected.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct, field

from grader.course.beside import OUTCOME, VERDICT
from grader.errors import CourseError
from grader.regular_file import Unreadable, read_plain
from utils.checks.mime import MIME
from utils.checks.points import left_of_the_idea

NOT_ENTERED: Final = ".not-entered"  # beside a graded copy whose scores the gradebook may lack
GRADED: Final = "graded"
FAILED: Final = "grader error"
MOST_BYTES: Final = 64 << 20  # of a copy
MOST_JSON: Final = 50_000  # characters of a verdict in a notebook
T = TypeVar("T")
Share = Annotated[float, Meta(ge=0, le=1)]


class FirstTry(NamedTuple):
    """An exercise in the first graded hand-in that had it written.

    Attributes:
        submission: fingerprint of the hand-in.
        share: of the points, 0 to 1.

    """

    submission: str
    share: Share


class Named(NamedTuple):
    """A known mistake that a verdict named."""

    exercise: str
    mistake: str
    message: str


class Cause(Struct, frozen=True):
    """A known mistake, and what is said of it."""

    name: str
    message: str
    hint: str


class ShownCase(Struct, frozen=True):
    """A case, and whether it passed."""

    name: str
    passed: bool


class ShownVerdict(Struct, frozen=True):
    """What is known of a graded verdict.

    Attributes:
        exercise: its id.
        points: what the exercise is worth.
        earned: the share of the points.
        is_stub: whether the exercise was left as it was.
        idea: whether every case of the exercise's idea passed.
        demands: what was asked beside the idea -> whether the answer does it.
        cases: easiest first.
        mistake: the known mistake that explains what was seen, if one does.
        second: another one, if only both together explain it.
        symptoms: true sentences, where no known mistake explains it.

    """

    points: float
    exercise: str = ""
    earned: Share = 0.0
    is_stub: bool = field(name="stub", default=False)
    idea: bool = False
    demands: dict[str, bool] = {}
    cases: tuple[ShownCase, ...] = ()
    mistake: Cause | None = None
    second: Cause | None = None
    symptoms: tuple[str, ...] = ()

    @property
    def causes(self) -> list[Cause]:
        """The known mistakes that explain what was seen: none, one or two."""
        return [cause for cause in (self.mistake, self.second) if cause is not None]

    @property
    def is_unnamed(self) -> bool:
        """Whether a wrong answer was tried that no known mistake explains."""
        return not self.is_stub and not self.idea and not self.causes

    @property
    def missed(self) -> list[str]:
        """What was asked beside the idea and is missed."""
        return [demand for demand, met in self.demands.items() if not met]

    @property
    def idea_earned(self) -> float:
        """The share of the points that the idea earned, before what is missed took its part."""
        met = len(self.demands) - len(self.missed)
        return min(1.0, self.earned / left_of_the_idea(met, len(self.demands)))


class Picture(Struct, frozen=True):
    """A matrix: rows of numbers as text, each with how dark it is drawn (None: not finite)."""

    label: str
    rows: tuple[tuple[tuple[str, Share | None], ...], ...]


class Answer(Struct, frozen=True):
    """One exercise in a graded copy.

    Attributes:
        source: the student's own code.
        verdict: None if nothing was judged.
        case: the case that is shown, if there are several.
        message: what was expected there and what came back instead, in a sentence.
        details: the first entries that differ.
        line: the student's line that is to blame, if one is.
        pictures: what was expected and the result, if they are worth looking at.
        notes: sentences beside the verdict, for example why an answer was refused.

    """

    source: str = ""
    score: float = 0.0
    verdict: ShownVerdict | None = None
    case: str = ""
    message: str = ""
    details: tuple[str, ...] = ()
    line: str = ""
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def seen(self) -> str:
        """What was expected and the result, as text."""
        first = f"Case “{self.case}”: {self.message}" if self.case else self.message
        line = [f"in your line: {self.line}"] if self.line else []
        return "\n  ".join([first, *self.details, *line])


class GradedCopy(Struct, frozen=True):
    """What autograded/<student>/<lesson>/ says of a submission.

    Attributes:
        status: the course's engine's; "graded" for a copy that nbgrader's own made.
        submission: fingerprint of what was graded, if it was noted.
        notebook: fingerprint of the copy that all this is of.
        notes: sentences for the student about the notebook as a whole.
        judged_by: exercise -> fingerprint of what judged it.
        first_tries: exercise -> how right it was at first; nothing of what was never written, or
            was graded by nbgrader's own engine.
        answers: exercise -> what was judged of it.
        is_ours: whether the course's engine made it, not nbgrader's own.
        is_whole: whether all that was found out is here; else the copy has no verdict.json.

    """

    status: str = GRADED
    submission: str = ""
    notebook: str = ""
    notes: tuple[str, ...] = ()
    judged_by: dict[str, str] = {}
    first_tries: dict[str, FirstTry] = {}
    answers: dict[str, Answer] = {}
    is_ours: bool = True
    is_whole: bool = True

    @property
    def mistakes(self) -> tuple[Named, ...]:
        """The known mistakes that were named, in notebook order."""
        verdicts = [a.verdict for a in self.answers.values() if a.verdict is not None]
        return tuple(Named(v.exercise, x.name, x.message) for v in verdicts for x in v.causes)


def copy_path(folder: Path, student: str, lesson: str) -> Path:
    """Return where a graded copy is."""
    return folder / "autograded" / student / lesson / f"{lesson}.ipynb"


def is_entered(folder: Path, student: str, lesson: str) -> bool:
    """Return whether the gradebook has the scores of a graded copy, as far as the copy says."""
    return not copy_path(folder, student, lesson).with_name(NOT_ENTERED).exists()


def read_copy(folder: Path, student: str, lesson: str) -> GradedCopy | None:
    """Read a graded copy in the course's folder; None if there is none, or it cannot be read."""
    with suppress(CourseError):
        return copy_at(copy_path(folder, student, lesson))
    return None


def copy_at(path: Path) -> GradedCopy:
    """Read a graded copy; a verdict.json that is of another notebook counts for nothing.

    Raises:
        CourseError: it is no notebook, far too large, or cannot be read.

    """
    try:
        data, told = (read_plain(x, MOST_BYTES + 1) for x in (path, path.with_name(VERDICT)))
    except Unreadable as error:
        raise CourseError(f"{error}, then run the same command") from None
    known = _as(GradedCopy, told, msgspec.json.decode) if told else None
    is_its = known is not None and known.notebook == fingerprint(data or b"")
    return known if known is not None and is_its else _of_notebook(data or b"")


def fingerprint(data: bytes) -> str:
    """Identify a submission, or a copy, by its content."""
    return hashlib.sha256(data).hexdigest()


def _as(kind: type[T], data: Any, read: Any = msgspec.convert) -> T | None:
    """Return data as a type; None if it is something else."""
    with suppress(msgspec.MsgspecError, RecursionError, ValueError):
        found: T = read(data, type=kind)
        return found
    return None


def _of_notebook(data: bytes) -> GradedCopy:
    """Read what a copy without verdict.json says; what is odd in it counts as nothing."""
    try:
        notebook = json.loads(data) if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        notebook = None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise CourseError("its graded copy cannot be read; grade it again with --regrade")
    about = _dict(_dict(notebook.get("metadata")).get(OUTCOME))
    parts: dict[str, Any] = {name: _as(kind, about.get(name)) for name, kind in _PARTS.items()}
    tries = _dict(about.get("first_tries")).items()
    first = {name: found for name, x in tries if (found := _as(FirstTry, x)) is not None}
    return GradedCopy(
        **{name: part for name, part in parts.items() if part},
        first_tries=first,
        answers=_answers([cell for cell in notebook["cells"] if isinstance(cell, dict)]),
        is_ours=bool(about),
        is_whole=False,
    )


_PARTS: Final = {
    "status": str, "submission": str, "notes": tuple[str, ...], "judged_by": dict[str, str],
}  # fmt: skip


def _answers(cells: list[dict[str, Any]]) -> dict[str, Answer]:
    """Return exercise -> what its cell and its test's say."""
    named = {_grade_id(cell): cell for cell in cells}
    tests = [name for name in named if name.startswith("test_")]
    names = [name.removeprefix("test_") for name in tests]
    return {
        name: _answer(_joined(named.get(name, {}).get("source")), named[test])
        for name, test in zip(names, tests, strict=True)
    }


def _answer(source: str, test: dict[str, Any]) -> Answer:
    """Read an exercise: of the outputs that are verdicts the last counts."""
    outputs = test.get("outputs")
    listed = [x for x in (outputs if isinstance(outputs, list) else []) if isinstance(x, dict)]
    found = Answer(source, notes=tuple(_notes(listed)))
    for data in (_dict(output.get("data")) for output in listed):
        text = _joined(data.get(MIME))
        verdict = _as(ShownVerdict, text, msgspec.json.decode) if len(text) <= MOST_JSON else None
        if verdict is not None:
            score = round(verdict.earned * verdict.points, 2)
            shown = _joined(data.get("text/plain"))
            found = Answer(source, score, verdict, message=shown, notes=found.notes)
    return found


def _notes(outputs: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what was printed and raised beside the verdict, without tracebacks."""
    for output in outputs:
        text = _joined(output.get("text")).strip()
        if output.get("output_type") == "error":
            text = f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
        if text:
            yield text


def _grade_id(cell: dict[str, Any]) -> str:
    name = _dict(_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")
    return name if isinstance(name, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _joined(value: object) -> str:
    """Return a text that a notebook keeps whole or in lines; "" for anything else."""
    parts = value if isinstance(value, list) else [value]
    return "".join(part for part in parts if isinstance(part, str))
