"""Which file is a notebook, and of which lesson, is told from its content alone."""

import json

import pytest

from grader.notebook_file import Malformed, lesson_of, notebook_in
from grader.notebook_limits import MOST_BYTES, MOST_PARTS
from tests.course.lesson_runs import all_lessons

LESSON = "02_attention"
NOTEBOOK = b'{"cells": []}'


def test_a_notebook_of_a_million_parts_is_refused_before_it_is_read():
    data = b'{"cells": [' + b"[]," * MOST_PARTS + b"[]]}"
    with pytest.raises(Malformed, match=r"more numbers or texts .*Clear its outputs"):
        lesson_of(data, list(all_lessons().values()))


def test_of_a_notebook_that_is_too_large_it_is_said_to_clear_its_outputs():
    with pytest.raises(Malformed, match=r"larger than 16 MiB. Clear its outputs"):
        lesson_of(b" " * (MOST_BYTES + 1), list(all_lessons().values()))


@pytest.mark.parametrize("name", sorted(all_lessons()))
@pytest.mark.parametrize("kept", ["all", "ids", "sources"])
def test_a_lesson_is_known_by_its_released_notebook_whatever_metadata_are_gone(name, kept):
    lesson = all_lessons()[name]
    notebook = json.loads(lesson.release_path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if kept != "all":
            cell["metadata"] = {}
        if kept == "sources":
            cell.pop("id", None)
    assert lesson_of(json.dumps(notebook).encode(), list(all_lessons().values())).name == name


def test_a_notebook_that_is_as_much_of_one_lesson_as_of_another_is_not_guessed():
    one, two = list(all_lessons().values())[1:3]
    names = [one.exercises[0].id, two.exercises[0].id]
    data = json.dumps({"cells": [{"source": f"def {name}(): pass"} for name in names]}).encode()
    with pytest.raises(Malformed, match=f"as much of {one.name} as of {two.name}"):
        lesson_of(data, list(all_lessons().values()))


def test_a_text_that_is_made_to_take_long_does_not():
    source = "x:" + " " * 200_000 + "\n" + "y" * 200_000 + "\n" + "async " * 30_000
    with pytest.raises(Malformed, match="none of the course"):
        lesson_of(json.dumps({"cells": [{"source": source}]}).encode(), [])


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({f"{LESSON}.ipynb": b"", "other.ipynb": NOTEBOOK}, f"{LESSON}.ipynb"),
        ({f"{LESSON} (1).ipynb": NOTEBOOK, "data.csv": b"1"}, f"{LESSON} (1).ipynb"),
        ({f"{LESSON}.ipynb.txt": NOTEBOOK, "other.ipynb": NOTEBOOK}, f"{LESSON}.ipynb.txt"),
        ({f"{LESSON}.json": NOTEBOOK, "package.json": b"{}"}, f"{LESSON}.json"),
        ({"mine": NOTEBOOK}, "mine"),
        ({"mine.ipynb": NOTEBOOK, "yours.ipynb": NOTEBOOK}, f"{LESSON}.ipynb"),
        ({"essay.pdf": b"%PDF"}, f"{LESSON}.ipynb"),
        ({f"{n}.txt": b"" for n in range(1000)} | {f"z{LESSON}.ipynb": NOTEBOOK},
         f"z{LESSON}.ipynb"),
        ({}, f"{LESSON}.ipynb"),
    ],
)  # fmt: skip
def test_a_hand_ins_notebook_is_found_by_its_content(tmp_path, files, found):
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert notebook_in(tmp_path, list(files), LESSON) == found
