"""Before every experiment there is a place to guess, and nothing on the page gives the result away.

What the experiments found is read from the built solutions; what a learner sees before a cell runs,
from the released notebooks: texts, headings, and each cell's words (titles, descriptions, prints).
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import nbformat
import pytest

from tests.course.lesson_runs import ROOT

LESSONS = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9]*.py"))
PREDICT = re.compile(r"\*\*Predict\b")
# Words that tell how an experiment ends. A picture's description is made of what was drawn.
OUTCOME = re.compile(
    r"\b(falls?|rises?|grows?|shrinks?|vanish\w*|fades?|stays?|overtakes?|faster|slower|better|worse"
    r"|longer than|earlier for|meets?|near zero|to zero|level|widens|doubles?|loses?|survives?"
    r"|learns?|both learn|settles|ends where|breaks? down|overflows?)\b"
)
NUMBER = re.compile(r"(?<![\d.,])(\d+\.\d{2,}|\d{4,})(?![\d.,]*\d)")  # no count, no size


@cache
def notebook(folder: str, lesson: str) -> Any:
    """Give a notebook as it is on disk; who asks reads it only."""
    return nbformat.read(ROOT / folder / lesson / f"{lesson}.ipynb", as_version=4)


def calls(source: str, name: str) -> Iterator[ast.Call]:
    """Calls of a function in a cell; lines that begin with a magic are left out."""
    plain = "\n".join("" if line.startswith("%") else line for line in source.splitlines())
    for node in ast.walk(ast.parse(plain)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
            yield node


def pattern(node: ast.expr) -> str:
    """A regular expression for a guess's name; what is filled in may be anything."""
    if isinstance(node, ast.JoinedStr):
        return "".join(pattern(part) for part in node.values)
    return re.escape(str(node.value)) if isinstance(node, ast.Constant) else ".+"


def described(source: str, prints: bool = True) -> list[str]:
    """Titles, descriptions and printed words of a cell, as they stand in its code."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    words = [k.value for call in found for k in call.keywords if k.arg in {"alt", "about", "title"}]
    words += [
        argument
        for call in found
        if (prints and getattr(call.func, "id", "") == "print")
        or getattr(call.func, "attr", "") == "set_title"
        for argument in call.args
    ]
    told = [
        part
        for call in found
        if getattr(call.func, "id", "") == "reveal"
        for part in ast.walk(call)
    ]  # its name stood in the guess's own cell
    parts = [part for value in words for part in ast.walk(value) if part not in told]
    return [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]


def printed(cell: Any) -> str:
    outputs = cell.get("outputs", [])
    cards = (out.get("data", {}).get("text/plain", "") for out in outputs)
    return "".join([*(out.get("text", "") for out in outputs), *cards])


def results(source: str) -> list[ast.Call]:
    """The calls of a cell that give a result."""
    return [*calls(source, "reveal")]


def tells(source: str, name: str) -> bool:
    return any(re.fullmatch(pattern(call.args[0]), name) for call in results(source))


def tellers(cells: list[Any], name: str) -> set[str]:
    """Functions of the lesson that tell a guess's result when they are called."""
    trees = [ast.parse(cell.source) for cell in cells if cell.cell_type == "code"]
    functions = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name for node in functions if tells(ast.unparse(node), name)}


def told_at(cells: list[Any], name: str, start: int) -> int | None:
    """The first cell after a guess that shows its result, itself or by a function that does."""
    callers = tellers(cells, name)
    for number, cell in enumerate(cells):
        if number <= start or cell.cell_type != "code":
            continue
        if tells(cell.source, name) or any([*calls(cell.source, c)] for c in callers):
            return number
    return None


def guess_cells(cells: list[Any]) -> list[tuple[int, ast.Call]]:
    code = [(n, cell) for n, cell in enumerate(cells) if cell.cell_type == "code"]
    return [(n, call) for n, cell in code for call in calls(cell.source, "guess")]


@cache
def asked(lesson: str) -> list[tuple[str, int, int | None]]:
    """Each guess of a lesson: its name, its cell, the cell that tells the result."""
    cells = notebook("solutions", lesson).cells
    found = [(str(ast.literal_eval(call.args[0])), n) for n, call in guess_cells(cells)]
    return [(name, n, told_at(cells, name, n)) for name, n in found]


def between(cells: list[Any], start: int, end: int, prints: bool = True) -> list[tuple[str, str]]:
    """What a learner sees from a guess to its result: (where, text)."""
    seen = []
    for number in range(start + 1, end + 1):
        cell = cells[number]
        words = [cell.source] if cell.cell_type == "markdown" else described(cell.source, prints)
        seen += [(f"cell {number}", word) for word in words]
    return seen


def spoilers(cells: list[Any], start: int, end: int) -> list[tuple[str, str]]:
    """Words that tell how it ends, in descriptions and titles between a guess and its result."""
    question = cells[start - 1].source.rpartition("**Predict")[2] + cells[start].source
    return [
        (where, match[0])
        for where, text in between(cells, start, end)
        for match in OUTCOME.finditer(text)
        if match[0] not in question  # what is asked may be named
    ]


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_prediction_has_a_place_to_guess_or_is_an_exercise(lesson):
    cells = notebook("notebooks", lesson).cells
    missing = []
    for number, cell in enumerate(cells):
        last = [*PREDICT.finditer(cell.source)][-1:] if cell.cell_type == "markdown" else []
        following = cells[number + 1].source if last else ""
        graded = "### Exercise: `predict_" in cell.source
        if last and "guess(" not in following and not graded:
            missing.append(cell.source[last[0].start() : last[0].start() + 80])
    assert missing == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_guess_is_answered_by_a_later_cell(lesson):
    found = asked(lesson)
    assert found
    assert [name for name, _, told in found if told is None] == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_two_guesses_of_a_lesson_have_one_name(lesson):
    names = [name for name, _, _ in asked(lesson)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_built_lesson_guesses_nothing_and_still_shows_each_result(lesson):
    cells = notebook("solutions", lesson).cells
    silent = [
        name for name, _, told in asked(lesson) if told is not None and not printed(cells[told])
    ]
    assert silent == []
    assert "You made no guesses this time" in "".join(map(printed, cells))


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_title_description_or_text_tells_the_result_before_its_cell_runs(lesson):
    built = notebook("solutions", lesson).cells
    released = notebook("notebooks", lesson).cells
    assert len(built) == len(released)
    found = [
        (name, *spoiler)
        for name, start, told in asked(lesson)
        if told is not None
        for spoiler in spoilers(released, start, told)
    ]
    assert found == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_measured_number_stands_on_the_page_before_its_cell_runs(lesson):
    built = notebook("solutions", lesson).cells
    released = notebook("notebooks", lesson).cells
    found = []
    for _, start, told in asked(lesson):
        if told is not None:
            # What a result is compared with, such as "below 0.05", may be named beside it.
            seen = " ".join(text for _, text in between(released, start, told, prints=False))
            for value in NUMBER.findall(printed(built[told])):
                if value in NUMBER.findall(seen):
                    found.append((start, value))
    assert found == []


WHY = '<details class="why">'
GIVEN = re.compile(rf"{WHY}.*?</details>", re.DOTALL)
# A paragraph in which a text goes on to something else: a heading, or the next question.
GOES_ON = re.compile(r"^(?:#|(?:.+\n)*.*\*\*Predict\b)", re.MULTILINE)


def below(cells: list[Any], told: int) -> list[tuple[str, str]]:
    """What a learner sees below a result's cell before it has run: (where, text), folds shut.

    It ends where the text goes on to something else.
    """
    seen = []
    for number, cell in enumerate(cells[told + 1 :], told + 1):
        if cell.cell_type == "code" and "guess(" not in cell.source:
            folded = "folded" in cell.metadata.get("tags", [])
            seen += [
                (f"cell {number}", word) for word in ([] if folded else described(cell.source))
            ]
        elif cell.cell_type == "markdown":
            shut = GIVEN.sub("", cell.source)
            goes_on = GOES_ON.search(shut)
            seen.append((f"cell {number}", shut[: goes_on.start()] if goes_on else shut))
            if goes_on:
                break
        else:
            break
    return seen


def explained_in_the_open(cells: list[Any], told: int) -> list[tuple[str, str]]:
    """Texts right below a result that are neither folded nor about something else."""
    follows = next((c for c in cells[told + 1 :] if c.cell_type == "markdown"), None)
    if follows is None or follows.source.startswith(WHY) or GOES_ON.match(follows.source):
        return []
    return [("the text below", follows.source[:60])]


def good_answers(source: str) -> list[str]:
    """Words in a cell's code that count as right answers."""
    given = [k.value for call in results(source) for k in call.keywords if k.arg == "also"]
    given += [argument for call in results(source) for argument in call.args[2:]]
    parts = [part for value in given for part in ast.walk(value)]
    return [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]


def shown_too_early(cells: list[Any], start: int, told: int) -> list[tuple[str, str]]:
    """What tells a result below it or in its own cell's code, before that cell has run."""
    question = cells[start - 1].source.rpartition("**Predict")[2] + cells[start].source
    early = [(where, m[0]) for where, text in below(cells, told) for m in OUTCOME.finditer(text)]
    known = {v.value for call in calls(cells[start].source, "guess") for v in ast.walk(call)
             if isinstance(v, ast.Constant)}  # fmt: skip
    early += [("also=", word) for word in good_answers(cells[told].source) if word not in known]
    return explained_in_the_open(cells, told) + [one for one in early if one[1] not in question]


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_explains_a_result_is_folded_until_its_cell_has_run(lesson: str) -> None:
    released = notebook("notebooks", lesson).cells
    found = [
        (name, *spoiler)
        for name, start, told in asked(lesson)
        if told is not None
        for spoiler in shown_too_early(released, start, told)
    ]
    assert found == []


def cells_of(*sources: str) -> list[Any]:
    """A question, its guess, and then cells: those that begin with a letter and ( are code."""
    made = [
        nbformat.v4.new_markdown_cell("**Predict:** which weight?"),
        nbformat.v4.new_code_cell('guess("x", None, choices=("left", "right"))'),
    ]
    for source in sources:
        is_code = re.match(r"\w+\(|ax\.", source)
        new = nbformat.v4.new_code_cell if is_code else nbformat.v4.new_markdown_cell
        made.append(new(source))
    return made


FOLDED = f"{WHY}<summary>Why</summary>\n\nIt vanishes.\n</details>\n\n"
EARLY = {
    "a text in the open": ('reveal("x", w)', "The mean of ones is 1."),
    "a text behind a fold": ('reveal("x", w)', FOLDED + "So it vanishes."),
    "words that are as good": ('reveal("x", w, also=["not a number"])', FOLDED),
    "a title below": ('reveal("x", w)', 'ax.set(title="The loss falls")', FOLDED),
}
FITTING = {
    "a fold": ('reveal("x", w)', FOLDED + "### Exercise: the mean vanishes"),
    "a heading": ('reveal("x", w)', "## 3. It falls"),
    "the next question": ('reveal("x", w)', "**Predict:** does it vanish?"),
    "choices": ('reveal("x", w, also=["left"])', FOLDED),
    "a neutral title": ('reveal("x", w)', 'ax.set(title="Weight against score")', FOLDED),
}


@pytest.mark.parametrize("sources", EARLY.values(), ids=EARLY)
def test_a_result_below_its_cell_is_found(sources: tuple[str, ...]) -> None:
    assert shown_too_early(cells_of(*sources), 1, 2)


@pytest.mark.parametrize("sources", FITTING.values(), ids=FITTING)
def test_what_tells_nothing_may_stand_below_a_result(sources: tuple[str, ...]) -> None:
    assert shown_too_early(cells_of(*sources), 1, 2) == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_released_notebooks_hold_no_result_of_a_run(lesson):
    cells = notebook("notebooks", lesson).cells
    assert [n for n, cell in enumerate(cells) if cell.get("outputs")] == []


SPOILED = {
    "a description": 'plots.show(fig, alt="The plain model falls to guessing")',
    "a title": 'ax.set(title="Both learn")',
    "a print": 'print("the loss falls")',
    "a text in two parts": 'plots.show(fig, about="time: " "attention is faster")',
}


@pytest.mark.parametrize("source", SPOILED.values(), ids=SPOILED)
def test_a_result_in_a_cells_words_is_found(source):
    cells = [
        nbformat.v4.new_markdown_cell("**Predict:** what comes out?"),
        nbformat.v4.new_code_cell('guess("x", None)'),
        nbformat.v4.new_code_cell(source),
    ]
    assert spoilers(cells, 1, 2)


def test_a_result_in_the_text_before_it_is_found_and_the_question_is_none():
    cells = [
        nbformat.v4.new_markdown_cell("**Predict:** does it get faster?"),
        nbformat.v4.new_code_cell('guess("x", None)'),
        nbformat.v4.new_markdown_cell("It gets faster, and the loss vanishes."),
        nbformat.v4.new_code_cell("run()"),
    ]
    assert spoilers(cells, 1, 3) == [("cell 2", "vanishes")]
