"""docs/claims/ says which cell measures what a lesson claims, and why a guess is no lottery."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.authoring.lesson import lessons
from grader.authoring.notebook import RUN, digest_of_outputs

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "claims"
NAMES = [lesson.name for lesson in lessons(ROOT)]
ELSEWHERE = re.compile(r"sources?\b|arithmetic|lesson|documentation|et al\.|bench|timed")
LEAST = 5  # claims of a lesson
GUESS = re.compile(r"^guess\(\s*[\"'](.+?)[\"']", re.MULTILINE)
REASONS = "How a reader can reason out each guess"
MOST_GUESSES = 12  # of a lesson


@cache
def cells(name: str) -> dict[str, dict[str, Any]]:
    text = (ROOT / "solutions" / name / f"{name}.ipynb").read_text(encoding="utf-8")
    return {cell["id"]: cell for cell in json.loads(text)["cells"]}


def rows(name: str) -> list[tuple[str, str]]:
    """Return the claims of a lesson, and in what each is measured."""
    lines = (PAGES / f"{name}.md").read_text(encoding="utf-8").splitlines()
    table = [line.strip().strip("|").rpartition("|") for line in lines if line.startswith("|")]
    return [(claim.strip(), where.strip()) for claim, _, where in table][2:]  # the head goes


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_has_a_page_of_claims(name):
    assert len(rows(name)) >= LEAST
    assert all(claim and where for claim, where in rows(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_measures_a_claim_is_a_cell_of_code_or_is_said_to_be_elsewhere(name):
    for claim, where in rows(name):
        named = re.findall(r"[\w-]+", where)
        elsewhere = ELSEWHERE.search(where)
        assert elsewhere or any(known in cells(name) for known in named), claim
        for cell in [] if elsewhere else re.findall(r"cell-\d+", where):  # not another lesson's
            assert cell in cells(name), f"{claim}: the lesson has no {cell}"
            assert cells(name)[cell]["cell_type"] == "code", f"{claim}: {cell} is no code"


def reasoned(name: str) -> list[str]:
    """Return the guesses of which a lesson's page says how a reader can reason them out."""
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8").partition(f"\n## {REASONS}\n")[2]
    return re.findall(r"^- \*\*(.+?)\*\*: \S", page, re.MULTILINE)


def guesses(name: str) -> list[str]:
    code = [cell for cell in cells(name).values() if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in code]
    return [found for source in sources for found in GUESS.findall(source)]


@pytest.mark.parametrize("name", [name for name in NAMES if name[:2] in ("01", "03", "05")])
def test_each_guess_of_a_lesson_can_be_reasoned_out(name):
    assert 0 < len(guesses(name)) <= MOST_GUESSES
    assert reasoned(name) == guesses(name)


def test_no_page_is_left_of_a_lesson_that_is_gone():
    assert sorted(page.stem for page in PAGES.glob("*.md")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_lessons_figures_and_pictures_are_all_of_the_same_run(name):
    path = ROOT / "solutions" / name / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata[RUN] == digest_of_outputs(notebook), f"build {name} with --force"
