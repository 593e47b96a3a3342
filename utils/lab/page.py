"""The start page: the lessons, how far the learner is, what is next, how to hand in.

It is a Markdown file that is written anew whenever JupyterLab opens it (`contents.py`), from what
the checks put on record, the notebooks as saved, and nbgrader's own list of submissions.
"""

import base64
import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from utils.drawn import own_encoder
from utils.drawn.frame import as_file
from utils.lab import guide
from utils.lab.exchange import Course
from utils.lab.handed_in import HandedIn, handed_in
from utils.lab.lessons import Lesson, is_lab, misplaced, read_lesson, was_run
from utils.lab.standing import Standing, State, standings
from utils.progress.guesses import count

NAME = "Start.md"
MARKS = {State.OPEN: "○", State.FAILS: "✗", State.PASSED: "✓", State.CHANGED: "↻"}


@dataclass(frozen=True)
class Row:
    """A lesson, how its exercises stand, and its last submission."""

    lesson: Lesson
    exercises: list[Standing]
    sent: HandedIn | None
    was_run: bool

    @property
    def passed(self) -> list[Standing]:
        """Return the exercises whose check passed and that are as they were then."""
        return [each for each in self.exercises if each.state is State.PASSED]

    @property
    def is_begun(self) -> bool:
        """Return whether anything in the lesson was checked or run."""
        return self.was_run or any(each.record is not None for each in self.exercises)

    @property
    def minutes_left(self) -> int:
        """Return how long the rest takes, by the share of points; 0 if the lesson does not say."""
        every = sum(each.points for each in self.exercises)
        left = 1 - sum(each.points for each in self.passed) / every if every else 0
        return round(int(self.lesson.minutes or 0) * left)

    @property
    def is_extra(self) -> bool:
        """Return whether the lesson may be left out."""
        return is_lab(self.lesson.name)

    @property
    def is_done(self) -> bool:
        """Return whether every exercise passed."""
        return len(self.passed) == len(self.exercises)


def write_page(course: Course, now: dt.datetime | None = None) -> None:
    """Write the start page into the learner's folder.

    Raises:
        OSError: it cannot be written.
        SettingsError: the class's settings cannot be used.

    """
    text = render(course, now or dt.datetime.now().astimezone())
    (course.learn / NAME).write_text(text, encoding="utf-8")


def render(course: Course, now: dt.datetime) -> str:
    """Return the page's text as of a moment, which decides how dates are written."""
    sent = handed_in(course)
    lessons = [read_lesson(course.source(n) / f"{n}.ipynb") for n in course.lessons()]
    rows = [
        Row(
            each,
            standings(course.learn, each),
            sent.get(each.name),
            was_run(course.learn / each.name / f"{each.name}.ipynb"),
        )
        for each in lessons
    ]
    parts = [
        "# The Transformer encoder, from scratch",
        _next(rows, course.settings.due, now),
        _so_far(rows, guesses=sum(count(course.learn, row.lesson.name)[0] for row in rows)),
        *guide.warnings(course),
        *_misplaced(course, lessons),
        _table(course, rows, now),
        guide.WHAT_COUNTS,
        "## Your exercises",
        *(_details(row, now) for row in rows),
        _encoder(rows),
        guide.how_it_goes(course),
        guide.about_the_page(when(now, now)),
    ]
    return "\n\n".join(parts) + "\n"


def _misplaced(course: Course, lessons: list[Lesson]) -> Iterator[str]:
    """Yield what to do about each notebook that neither this page nor grading finds."""
    for lesson in lessons:
        folder = course.learn / lesson.name
        if folder.is_dir() and (what_to_do := misplaced(folder, lesson)):
            yield f"**{lesson.title} has no notebook where it should be.** {what_to_do}"


def when(moment: dt.datetime, now: dt.datetime) -> str:
    """Return a moment as people write it, with the year if it is another one."""
    local = moment.astimezone(now.tzinfo)
    year = f" {local.year}" if local.year != now.year else ""
    return f"{local.day} {local:%b}{year}, {local:%H:%M}"


def _next(rows: list[Row], due: Mapping[str, dt.datetime], now: dt.datetime) -> str:
    row = next((row for row in sorted(rows, key=lambda r: r.is_extra) if not row.is_done), None)
    if row is None:
        return "**Next:** nothing is left: every exercise passes its check."
    until = _when_due(due.get(row.lesson.name), now)
    if not row.is_begun:
        return f"{_button(f'Begin: {row.lesson.title}', _notebook(row.lesson.name))}{until}"
    exercise = next(each for each in row.exercises if each.state is not State.PASSED)
    todo = {State.FAILS: "fix it", State.CHANGED: "run its check again"}
    place = f"{_notebook(row.lesson.name)}#cell-id={quote(exercise.exercise)}"
    worth = "1 point" if exercise.points == 1 else f"{exercise.points:g} points"
    return (
        f"{_button(f'Go on: {exercise.exercise}', place)} "
        f"{row.lesson.title}: {todo.get(exercise.state, 'write it')} ({worth}).{until}"
    )


def _button(label: str, place: str) -> str:
    """Return a link that the course's JupyterLab shows as a button (course-lessons/start_page)."""
    return f'<a class="course-button" href="{place}">{escape(label)}</a>'


def _when_due(due: dt.datetime | None, now: dt.datetime) -> str:
    """Return a sentence on a lesson's due date, after a blank; nothing if it has none."""
    if due is None:
        return ""
    return f" The lesson {'is' if due >= now else 'was'} due {when(due, now)}."


def _so_far(rows: list[Row], guesses: int) -> str:
    """Return what passes of the whole course, and how many guesses were made."""
    passed = [each for row in rows if not row.is_extra for each in row.passed]
    every = [each for row in rows if not row.is_extra for each in row.exercises]
    points = (f"{sum(each.points for each in group):g}" for group in (passed, every))
    made = f", {guesses} guess{'es' if guesses > 1 else ''}" if guesses else ""
    done = f"{len(passed)} of {len(every)} exercises, {' of '.join(points)} points"
    return f"**So far:** {done}{made}."


def _encoder(rows: list[Row]) -> str:
    """Return the drawing of the encoder, in colour where the learner's exercises pass.

    It is an image within the page: JupyterLab lets no drawing stand in a text of Markdown.
    """
    picture = own_encoder([each.exercise for row in rows for each in row.passed])
    data = base64.b64encode(as_file(picture.svg()).encode()).decode()
    source = f"data:image/svg+xml;base64,{data}"
    return f'<img class="course-encoder" alt="{escape(picture.alt)}" src="{source}">'


def _notebook(lesson: str) -> str:
    """Return the link to a lesson, relative to the page, which JupyterLab opens in a tab."""
    return quote(f"{lesson}/{lesson}.ipynb")


def _table(course: Course, rows: list[Row], now: dt.datetime) -> str:
    due, submits = course.settings.due, course.has_submit
    head = ["lesson", "", "minutes left", "exercises", "points"]
    head += ["due"] if due else []
    head += ["submitted", "feedback"] if submits else []
    lines = [head, [":--", ":--", "--:", "--:", "--:", *([":--"] * (len(head) - 5))]]
    for row in rows:
        cells = _progress(row)
        cells += [_due(due.get(row.lesson.name), now)] if due else []
        cells += [_submitted(row.sent, now), _feedback(course, row.sent)] if submits else []
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _progress(row: Row) -> list[str]:
    mark = "✓ " if row.is_done else ""
    earned, total = (sum(e.points for e in group) for group in (row.passed, row.exercises))
    return [
        f"{mark}[{row.lesson.title}]({_notebook(row.lesson.name)}){' (optional)' * row.is_extra}",
        f'<progress value="{earned:g}" max="{total:g}">{earned:g} of {total:g}</progress>',
        f"{row.minutes_left}" if row.lesson.minutes else "",
        f"{len(row.passed)} of {len(row.exercises)}",
        f"{earned:g} of {total:g}",
    ]


def _due(due: dt.datetime | None, now: dt.datetime) -> str:
    if due is None:
        return ""
    return when(due, now) if due >= now else f"{when(due, now)} (over)"


def _submitted(sent: HandedIn | None, now: dt.datetime) -> str:
    if sent is None:
        return ""
    return when(sent.when, now) + ("; changed since" if sent.changed else "")


def _feedback(course: Course, sent: HandedIn | None) -> str:
    if sent is None:
        return ""
    parts = ["ready: Fetch Feedback"] if sent.to_fetch else []
    if sent.feedback is not None:
        parts.append(f"[read it]({quote(_below(course.learn, sent.feedback))})")
    return ", ".join(parts) or "not yet"


def _below(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _details(row: Row, now: dt.datetime) -> str:
    """Return a folded table of a lesson's exercises."""
    passed = f"{len(row.passed)} of {len(row.exercises)}"
    lines = ["| | exercise | points | last check |", "|:--|:--|--:|:--|"]
    for each in row.exercises:
        link = f"[`{each.exercise}`]({_notebook(row.lesson.name)}#cell-id={each.exercise})"
        cells = MARKS[each.state], link, f"{each.points:g}", _last_check(each, now)
        lines.append(f"| {' | '.join(cells)} |")
    table = "\n".join(lines)
    return f"<details><summary>{row.lesson.title}: {passed}</summary>\n\n{table}\n\n</details>"


def _last_check(each: Standing, now: dt.datetime) -> str:
    record = each.record
    if record is None or each.state is State.OPEN:
        return ""
    at = when(dt.datetime.fromtimestamp(record.checked, dt.UTC), now)
    if each.state is State.CHANGED:
        return f"passed {at}; the cell was changed since: run its check again"
    if each.state is State.PASSED:
        return f"passed {at}" + ("; the notebook was not saved since" if each.unsaved else "")
    if record.last_passed is None:
        return f"not passed {at}"
    before = when(dt.datetime.fromtimestamp(record.last_passed, dt.UTC), now)
    return f"not passed {at}; passed before, {before}"
