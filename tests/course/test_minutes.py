"""What a lesson asks of its reader: minutes, code to read, questions that stay open."""

import json
import re
from typing import Any

import pytest

from grader.authoring.lesson import Lesson
from grader.authoring.readme import MINUTES
from tests.course.lesson_runs import ROOT, all_lessons
from utils.lab.lessons import is_lab
from utils.lab.page import NAME as START

WORDS_A_MINUTE = 180
LINES_A_MINUTE = 12  # of code that is there to be read
NEAR = 0.1  # of the minutes found
HINTS = re.compile(r"<details>.*?</details>", re.DOTALL)
EXERCISE = re.compile(r"^\*.*difficulty \d of 5 · (\d+) minutes?\*$", re.MULTILINE)
SOURCES = re.compile(r"\*\*Sources\b.*", re.DOTALL)
GUESS = re.compile(r"^\s*guess\(", re.MULTILINE)
NAMED = re.compile(r'^\s*guess\("([^"]+)"', re.MULTILINE)
MOST_GUESSES = 8
LAST_TO_BUILD = "06_training"  # a part of the encoder
MOST_WORDS = 17_000  # of all lessons up to that one


def text_of(lesson: Lesson) -> str:
    return "\n".join(cell.source for cell in lesson.cells if cell.kind == "markdown")


def words(text: str) -> int:
    """Count what is written; hints and sources do not count."""
    return len(SOURCES.sub("", HINTS.sub("", text)).split())


def lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def read(lesson: Lesson) -> list[str]:
    """Code that a reader has in front of them and does not write: no stub, no test, not folded."""
    code = [cell for cell in lesson.cells if cell.kind == "code"]
    shown = [c for c in code if not c.exercise and not c.test and "folded" not in c.tags]
    return [cell.source for cell in shown]


def pictures(outputs: list[dict[str, Any]]) -> int:
    """Outputs of a notebook that show something drawn: an image, or SVG within HTML."""
    data = [output.get("data", {}) for output in outputs]
    html = ["".join(kinds.get("text/html", "")) for kinds in data]
    images = [any(kind.startswith("image/") for kind in kinds) for kinds in data]
    return sum(image or "<svg" in page for image, page in zip(images, html, strict=True))


def honest(text: str, code: list[str], outputs: list[dict[str, Any]]) -> float:
    """Minutes of a lesson: its words, guesses, pictures, code to read, and its exercises'.

    Args:
        text: all that is written.
        code: the cells that are there to be read. A guess is a minute, whatever lines it takes.
        outputs: of the executed notebook.

    """
    guesses = sum(len(GUESS.findall(cell)) for cell in code)
    lab = sum(lines(cell) for cell in code if not GUESS.search(cell))
    seen = guesses + pictures(outputs)
    exercises = sum(map(int, EXERCISE.findall(text)))
    return words(text) / WORDS_A_MINUTE + seen + lab / LINES_A_MINUTE + exercises


def following(name: str, names: list[str]) -> list[str]:
    """Name what a reader may go on with: the labs right behind a lesson, and the next lesson."""
    later = sorted(other for other in names if other > name)
    end = next((n for n, other in enumerate(later, 1) if not is_lab(other)), len(later))
    return later[:end]


def outputs_of(lesson: Lesson) -> list[dict[str, Any]]:
    path = ROOT / "solutions" / lesson.name / f"{lesson.name}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [output for cell in cells for output in cell.get("outputs", [])]


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_states_the_minutes_that_it_takes(lesson):
    stated = int(MINUTES.search(lesson.cells[0].source)[1])
    found = honest(text_of(lesson), read(lesson), outputs_of(lesson))
    assert stated % 5 == 0
    assert abs(stated - found) <= NEAR * found, f"{found:.0f} minutes"


def test_a_lesson_leads_to_its_labs_and_to_the_next_lesson_and_a_lab_to_the_next_lesson():
    names = ["05_e", "06_t", "06b_w", "07_p"]
    assert [following(name, names) for name in names] == [
        ["06_t"], ["06b_w", "07_p"], ["07_p"], [],
    ]  # fmt: skip


def test_the_readme_states_the_hours_of_all_lessons_together_without_the_labs():
    stated = re.search(r"takes (?:about )?(\d+) hours", (ROOT / "README.md").read_text("utf-8"))
    core = [lesson for lesson in all_lessons().values() if not is_lab(lesson.name)]
    hours = sum(int(MINUTES.search(lesson.cells[0].source)[1]) for lesson in core) / 60
    assert abs(int(stated[1]) - hours) <= 0.5, f"{hours:.1f} hours"


def test_the_lessons_that_build_the_encoder_stay_within_their_words():
    core = [lesson for lesson in all_lessons().values() if lesson.name <= LAST_TO_BUILD]
    found = {lesson.name: words(text_of(lesson)) for lesson in core}
    assert sum(found.values()) <= MOST_WORDS, found


def test_words_guesses_pictures_code_and_exercises_make_a_lessons_minutes():
    text = "word " * 170 + "\n*1 point · difficulty 1 of 5 · 4 minutes*\n"
    unread = "<details><summary>Hint</summary> a b c </details>\n**Sources.** d e f"
    drawn = [
        {"data": {"image/png": "x", "text/html": "<img>"}},
        {"data": {"text/html": ["<div>", "<svg></svg>"]}},
        {"data": {"text/html": "a table"}},
        {"text": "printed"},
    ]
    assert honest(text, [], []) == pytest.approx(1 + 4)
    assert honest(text + unread, [], []) == pytest.approx(1 + 4)
    assert honest("", ["a = 1\n\n" * 24], []) == pytest.approx(2)
    assert honest("", ['# a share\nguess("a", None)\nguess("b", None)'], []) == pytest.approx(2)
    assert honest("", [], drawn) == pytest.approx(2)


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_longer_than_100_minutes_has_a_place_to_rest_in_its_middle(lesson):
    text = [cell.source for cell in lesson.cells if cell.kind == "markdown"]
    rests = [n for n, source in enumerate(text, 1) if "**A good place to rest.**" in source]
    if int(MINUTES.search(text[0])[1]) > 100:
        assert any(0.3 < n / len(text) < 0.8 for n in rests)


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_no_lesson_has_more_open_code_to_read_than_exercises_with_their_hints(lesson):
    written = sum(lines(cell.source) for cell in lesson.cells if cell.exercise and not cell.test)
    hints = sum(map(lines, HINTS.findall(text_of(lesson))))
    assert sum(map(lines, read(lesson))) <= written + hints


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_ends_with_three_open_questions_and_its_sources(lesson):
    text = "\n".join(cell.source for cell in lesson.cells if cell.kind == "markdown")
    questions = text.partition("## Three open questions")[2].partition("**Sources")
    assert [n for n in (1, 2, 3, 4) if f"\n{n}. " in questions[0]] == [1, 2, 3]
    assert questions[2]


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_ends_with_links_to_the_next_one_and_to_the_start_page(lesson):
    end = lesson.cells[-1].source.partition("**Next:**")[2].partition("**Sources")[0]
    wanted = [f"../{name}/{name}.ipynb" for name in following(lesson.name, list(all_lessons()))]
    wanted += [f"../{START}"]
    assert re.findall(r"\]\(([^)]*)\)", end) == wanted


@pytest.mark.parametrize(
    "lesson",
    [lesson for lesson in all_lessons().values() if lesson.name <= LAST_TO_BUILD],
    ids=lambda lesson: lesson.name,
)
def test_a_lessons_recap_shows_the_encoder_as_far_as_it_is_built(lesson):
    *_, recap, picture, questions = lesson.cells
    assert "## Recap" in recap.source
    assert picture.source == f"drawn.encoder({int(lesson.name[:2])})"
    assert questions.source.startswith("## Three open questions")


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_sections_are_numbered_from_one(lesson):
    heads = re.findall(r"^## (.+)", text_of(lesson), re.MULTILINE)
    numbers = [int(found[1]) for head in heads if (found := re.match(r"(\d+)\. ", head))]
    assert numbers == list(range(1, len(numbers) + 1))
    plain = {head for head in heads if not re.match(r"\d+\. ", head)}
    required = {head for head in plain if not head.startswith("Optional: ")}
    assert required <= {"Recap", "Three open questions"}


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_asks_for_few_guesses_and_its_claims_say_how_each_can_be_reasoned_out(lesson):
    asked = [name for cell in lesson.cells for name in NAMED.findall(cell.source)]
    claims = (ROOT / "docs" / "claims" / f"{lesson.name}.md").read_text(encoding="utf-8")
    assert 0 < len(asked) <= MOST_GUESSES
    assert [name for name in asked if f"*{name}*" not in claims] == []
