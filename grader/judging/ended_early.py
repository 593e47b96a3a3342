"""What a student is told about cells and exercises that did not come to their end."""

from collections.abc import Iterator, Sequence

from grader.reading.cell_notes import MOST_TOLD, plain_code
from grader.reading.plan import Plan, Step
from grader.workers.progress import Event, What

Lines = Sequence[Sequence[str]]  # of each step: split once, as events may be many


def ended_early(plan: Plan, events: Sequence[Event]) -> tuple[str, ...]:
    """Return a sentence for each step that failed, was stopped, or was left out."""
    known = [event for event in events if 0 <= event.step < len(plan.steps)]
    lines = [step.source.splitlines() for step in plan.steps] if known else []
    told = (sentence for event in known for sentence in _told(plan, lines, event))
    return tuple(dict.fromkeys(told))[:MOST_TOLD]


def _told(plan: Plan, lines: Lines, event: Event) -> Iterator[str]:
    step = plan.steps[event.step]
    what = f"The answer of {step.exercise}" if step.exercise else step.label
    if event.what == What.STOPPED:
        yield f"{what} did not come to its end and was stopped{_where(plan, lines, event)}."
    elif event.what == What.FAILED and not step.exercise:
        yield f"{what} failed with {event.error}{_where(plan, lines, event)}."


def _where(plan: Plan, lines: Lines, event: Event) -> str:
    """Return the line, read from the plan: what the process says of it is a number alone."""
    place: Step | None = plan.steps[event.cell] if 0 <= event.cell < len(plan.steps) else None
    if place is None or not 0 < event.line <= len(lines[event.cell]):
        return ""
    elsewhere = f" of {place.label}" if place is not plan.steps[event.step] else ""
    code = plain_code(lines[event.cell][event.line - 1].strip())
    return f" in line {event.line}{elsewhere}, `{code}`"
