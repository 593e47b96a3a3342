"""What a lesson asks of its reader: minutes, code to read, questions that stay open."""

import re

import pytest

from grader.authoring.lesson import Lesson
from grader.authoring.readme import MINUTES
from tests.course.lesson_runs import all_lessons

WORDS_A_MINUTE = 200
LEAST, MOST = 0.93, 1.07  # of the minutes found; a stated time is a multiple of five
HINTS = re.compile(r"<details>.*?</details>", re.DOTALL)
EXERCISE = re.compile(r"^\*.*difficulty \d of 5 · (\d+) minutes?\*$", re.MULTILINE)
SOURCES = re.compile(r"\*\*Sources\b.*", re.DOTALL)


def minutes(lesson: Lesson) -> float:
    """Words outside hints and sources, two for each guess and its result, and the exercises'."""
    text = "\n".join(cell.source for cell in lesson.cells if cell.kind == "markdown")
    words = len(SOURCES.sub("", HINTS.sub("", text)).split())
    experiments = sum("guess(" in cell.source for cell in lesson.cells if cell.kind == "code")
    return words / WORDS_A_MINUTE + 2 * experiments + sum(map(int, EXERCISE.findall(text)))


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_states_the_minutes_that_its_words_and_exercises_take(lesson):
    stated = int(MINUTES.search(lesson.cells[0].source)[1])
    found = minutes(lesson)
    assert stated % 5 == 0
    assert LEAST * found <= stated <= max(MOST * found, found + 5), f"{found:.0f} minutes"


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_longer_than_100_minutes_has_a_place_to_rest_in_its_middle(lesson):
    text = [cell.source for cell in lesson.cells if cell.kind == "markdown"]
    rests = [n for n, source in enumerate(text, 1) if "**A good place to rest.**" in source]
    if int(MINUTES.search(text[0])[1]) > 100:
        assert any(0.3 < n / len(text) < 0.8 for n in rests)


def lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_no_lesson_has_more_open_code_to_read_than_exercises_with_their_hints(lesson):
    code = [cell for cell in lesson.cells if cell.kind == "code" and not cell.test]
    written = sum(lines(cell.source) for cell in code if cell.exercise)
    read = sum(lines(c.source) for c in code if not c.exercise and "folded" not in c.tags)
    text = "\n".join(cell.source for cell in lesson.cells if cell.kind == "markdown")
    assert read <= written + sum(map(lines, HINTS.findall(text)))


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_ends_with_three_open_questions_and_its_sources(lesson):
    text = "\n".join(cell.source for cell in lesson.cells if cell.kind == "markdown")
    questions = text.partition("## Three open questions")[2].partition("**Sources")
    assert [n for n in (1, 2, 3, 4) if f"\n{n}. " in questions[0]] == [1, 2, 3]
    assert questions[2]


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_sections_are_numbered_from_one(lesson):
    text = "\n".join(cell.source for cell in lesson.cells if cell.kind == "markdown")
    heads = re.findall(r"^## (.+)", text, re.MULTILINE)
    numbers = [int(found[1]) for head in heads if (found := re.match(r"(\d+)\. ", head))]
    assert numbers == list(range(1, len(numbers) + 1))
    plain = {head for head in heads if not re.match(r"\d+\. ", head)}
    required = {head for head in plain if not head.startswith("Optional: ")}
    assert required <= {"Recap", "Three open questions"}
