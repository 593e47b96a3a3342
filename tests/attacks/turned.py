"""Right notebooks as other programs and single keys leave them: types, names, ids, places."""

import json

from tests.attacks.attack import Attack
from tests.attacks.malformed import ALL, changed, is_test, no_metadata
from tests.course.lesson_runs import all_lessons

LESSON = "00_start_here"
IDS = [exercise.id for exercise in all_lessons()[LESSON].exercises]
ONE = "masked_mean"


def is_answer(cell):
    return cell.get("id") in IDS


def is_code(cell):
    return cell["cell_type"] == "code"


def is_first_code(cell):
    return is_code(cell) and "import torch" in cell["source"]


def turned(which, kind):
    """One key of JupyterLab's on some cells: M for text, R for raw, Y for code."""

    def change(notebook):
        for cell in filter(which, notebook["cells"]):
            cell["cell_type"] = kind
            for name in ("outputs", "execution_count"):
                cell.pop(name, None)
            cell.update({"outputs": [], "execution_count": None} if kind == "code" else {})
        return notebook

    return change


def in_turn(*changes):
    def change(notebook):
        for one in changes:
            notebook = one(notebook)
        return notebook

    return change


def other_ids(notebook):
    """Colab keeps ids of its own, in the metadata, and writes an older format."""
    for number, cell in enumerate(notebook["cells"]):
        cell.pop("id", None)
        cell["metadata"] = {"id": f"Xy{number}"}
    return notebook | {"nbformat_minor": 0}


def new_ids(notebook):
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"new-{number}"
    return notebook


def names_alone(notebook):
    for cell in notebook["cells"]:
        cell["metadata"].pop("nbgrader", None)
    return notebook


def fenced(notebook):
    for cell in filter(is_answer, notebook["cells"]):
        cell["source"] = f"```python\n{cell['source']}\n```"
    return turned(is_answer, "markdown")(notebook)


def edited_imports(notebook):
    cell = next(filter(is_first_code, notebook["cells"]))
    cell["source"] += "\nimport json"
    return turned(is_first_code, "raw")(notebook)


def split(notebook):
    """Ctrl+Shift+-: both halves keep the metadata, with the comment in the first."""
    cells = []
    for cell in notebook["cells"]:
        if is_answer(cell):
            cells.append(cell | {"id": f"half-{cell['id']}", "source": "# My answer\nHALF = 0.5"})
        cells.append(cell)
    return notebook | {"cells": cells}


def merged(notebook):
    """Shift+M over an answer and its test: one cell, named after the first."""
    by_id = {cell.get("id"): cell for cell in notebook["cells"]}
    for name in IDS:
        by_id[name]["source"] += f"\n\n{by_id[f'test_{name}']['source']}"
    return notebook | {"cells": [c for c in notebook["cells"] if not is_test(c)]}


def merged_into_tests(notebook):
    by_id = {cell.get("id"): cell for cell in notebook["cells"]}
    for name in IDS:
        test = by_id[f"test_{name}"]
        test["source"] = f"{by_id[name]['source']}\n{test['source']}"
    return notebook | {"cells": [c for c in notebook["cells"] if not is_answer(c)]}


def moved_to_the_end(notebook):
    rest = [c for c in notebook["cells"] if not is_answer(c)]
    return notebook | {"cells": [*rest, *filter(is_answer, notebook["cells"])]}


def old_try(kind):
    """A copy of each answer's cell, wrong, turned into text above or below the right one."""

    def change(notebook):
        cells = []
        for cell in notebook["cells"]:
            old = json.loads(json.dumps(cell)) | {"cell_type": kind, "id": f"old-{len(cells)}"}
            old["source"] = f"def {cell.get('id')}(*_):\n    return None"
            for name in ("outputs", "execution_count"):
                old.pop(name, None)
            cells += [old, cell, old | {"id": f"older-{len(cells)}"}] if is_answer(cell) else [cell]
        return notebook | {"cells": cells}

    return change


def words_to_code(notebook):
    """Y on the lesson's own texts."""
    first = next(c for c in notebook["cells"] if c["cell_type"] == "markdown")
    return turned(lambda cell: cell is first, "code")(notebook)


def timed(head):
    def change(notebook):
        for cell in filter(is_answer, notebook["cells"]):
            cell["source"] = f"{head}\n{cell['source']}"
        return notebook

    return change


def right(name, tries, change):
    return changed(name, tries, change, score=ALL, lesson=LESSON)


def without(name):
    def change(notebook):
        return notebook | {"cells": [c for c in notebook["cells"] if c.get("id") != name]}

    return change


TURNED = [
    *(
        right(f"{what} turned {kind}", "one key costs an answer", turned(which, kind))
        for kind in ("markdown", "raw")
        for what, which in {
            "answers": is_answer,
            "one answer": lambda cell: cell.get("id") == ONE,
            "tests": is_test,
            "answers and tests": lambda cell: is_answer(cell) or is_test(cell),
            "imports": is_first_code,
            "all code": is_code,
        }.items()
    ),
    *(
        right(name, "what another program does to a file costs points", change)
        for name, change in {
            "ids of another program": other_ids,
            "new ids, names kept": new_ids,
            "no names, ids kept": names_alone,
            "no names, answers raw": in_turn(names_alone, turned(is_answer, "raw")),
            "no names, new ids": in_turn(names_alone, new_ids),
            "no names, new ids, answers as text": in_turn(
                names_alone, turned(is_answer, "markdown"), new_ids
            ),
            "another program's ids, all code raw": in_turn(turned(is_code, "raw"), other_ids),
            "no metadata at all, tests as text": in_turn(no_metadata, turned(is_test, "markdown")),
            "answers fenced as text": fenced,
            "edited imports turned raw": edited_imports,
            "answers split": split,
            "answers and tests in one cell": merged,
            "answers in their tests' cells": merged_into_tests,
            "answers at the end": moved_to_the_end,
            "old tries as text": old_try("markdown"),
            "old tries as raw": old_try("raw"),
            "a text turned into code": words_to_code,
        }.items()
    ),
    *(
        right(f"{head} above each answer", "a magic costs an answer", timed(head))
        for head in ("%%time", "%%timeit -n 1 -r 1", "%%capture out", "%%prun", "%matplotlib inline")
    ),
]  # fmt: skip
# Right but for one answer, which is none: it costs its own points alone.
NO_ANSWER = {
    ONE: [
        Attack(
            f"{name} in place of an answer", "", right=True, lesson=LESSON, answers={ONE: source}
        )
        for name, source in {
            "a syntax error": f"def {ONE}(x, mask):\n    return x.mean(1,\u00a0mask",
            "a cell written to a file": f"%%writefile mean.py\ndef {ONE}(x, mask):\n    return 1",
            "a shell's cell": f"%%bash\ndef {ONE}(x, mask):",
            "another function": "def mean(x, mask):\n    return x",
            "nothing": "",
            "an early end": f"raise SystemExit\ndef {ONE}(x, mask):\n    return 1",
            "an error": f"1 / 0\ndef {ONE}(x, mask):\n    return 1",
        }.items()
    ],
    **{
        name: [Attack(f"without {name}", "", right=True, lesson=LESSON, change=without(name))]
        for name in IDS
        if name != ONE
    },
}
