"""What a page takes from an executed solution, and what it leaves behind."""

import base64
import struct
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.website.lesson_page import lesson_page

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 840, 360) + b"\x08\x06"


def text(printed: str) -> Any:
    return new_output("stream", name="stdout", text=printed)


def picture(alt: str) -> Any:
    data = {"image/png": base64.b64encode(PNG).decode(), "text/plain": "Figure size 1"}
    return new_output("display_data", data, metadata={"image/png": {"alt": alt, "width": 420}})


def code(source: str, *outputs: Any, name: str = "cell-02", **metadata: Any) -> Any:
    return new_code_cell(source, id=name, outputs=list(outputs), metadata=metadata)


def page(release: list[Any], solution: list[Any]) -> Any:
    return lesson_page("02_x", new_notebook(cells=release), new_notebook(cells=solution))


def test_links_to_other_lessons_and_to_the_start_page_lead_to_pages_of_the_site() -> None:
    written = "[lesson 03](../03_x/03_x.ipynb) [Start page](../Start.md) [b](../03_x/other.ipynb)"
    made = page([new_markdown_cell(written)], [])
    assert made.notebook.cells[0].source == (
        "[lesson 03](03_x.ipynb) [Start page](../index.md) [b](../03_x/other.ipynb)"
    )


def test_a_cell_with_the_same_source_gets_its_outputs() -> None:
    made = page([code("show(1)")], [code("show(1)", text("one"))])
    assert [output.text for output in made.notebook.cells[0].outputs] == ["one"]


@pytest.mark.parametrize(
    ("released", "solved"),
    [
        (code("raise NotImplementedError"), code("return q @ k.T", text("secret"))),
        (code("x", nbgrader={"grade": True}), code("x", text("secret"), nbgrader={"grade": True})),
        (code("x", name="here"), code("x", text("secret"), name="elsewhere")),
    ],
    ids=["another source", "a test cell", "another cell"],
)
def test_an_answer_a_test_and_a_stranger_get_no_output(released: Any, solved: Any) -> None:
    assert page([released], [solved]).notebook.cells[0].outputs == []


@pytest.mark.parametrize("source", ['# How many?\nguess("steps", None)', "summary()"])
def test_that_nobody_guessed_is_not_shown(source: str) -> None:
    assert (
        page([code(source)], [code(source, text("No guess yet."))]).notebook.cells[0].outputs == []
    )


def test_a_picture_becomes_a_file_with_its_words_and_its_size() -> None:
    made = page([code("plot()")], [code("plot()", picture('"a" < b'))])
    (shown,) = made.notebook.cells[0].outputs
    assert made.pictures == {"pictures/02_x/cell-02-1.png": PNG}
    assert list(shown.data) == ["text/html"]
    assert 'src="../_static/pictures/02_x/cell-02-1.png"' in shown.data["text/html"]
    assert 'alt="&quot;a&quot; &lt; b"' in shown.data["text/html"]
    assert 'width="420" height="180"' in shown.data["text/html"]


def test_two_pictures_of_a_cell_are_two_files() -> None:
    made = page([code("plot()")], [code("plot()", picture("a"), text("."), picture("b"))])
    assert list(made.pictures) == [f"pictures/02_x/cell-02-{i}.png" for i in (1, 2)]


def folded(cell: Any) -> bool:
    return "hide-output" in cell.metadata.get("tags", [])


def test_results_are_folded_from_a_prediction_to_the_next_text() -> None:
    cells = [
        code("a", name="a"),
        new_markdown_cell("**Predict:** which?", id="m1"),
        code("b", name="b", tags=["measured"]),
        code("c", name="c"),
        new_markdown_cell("As you see.", id="m2"),
        code("d", name="d"),
    ]
    solved = [code(name, text(name), name=name) for name in "abcd"]
    made = page(cells, solved).notebook.cells
    assert [folded(made[i]) for i in (0, 2, 3, 5)] == [False, True, True, False]
    assert made[2].metadata["tags"][0] == "measured"


def test_a_prediction_has_a_place_of_its_own_on_the_page() -> None:
    asks = [new_markdown_cell(f"**Predict** {name}", id=name) for name in ("m1", "m2")]
    made = page([*asks, new_markdown_cell("Look.", id="m3")], []).notebook.cells
    assert 'data-prediction="02_x-m1"' in made[0].source
    assert 'data-prediction="02_x-m2"' in made[1].source
    assert made[2].source == "Look."


def test_papers_are_linked_by_their_doi() -> None:
    made = page([new_markdown_cell("A. Vaswani et al. (arXiv:1706.03762): heads.", id="m")], [])
    assert made.notebook.cells[0].source == (
        "A. Vaswani et al. ([arXiv:1706.03762](https://doi.org/10.48550/arXiv.1706.03762)): heads."
    )


def test_imports_and_code_that_the_lesson_folds_are_folded() -> None:
    cells = [
        code("import torch\n", name="a"),
        code("fig = 1", name="b", tags=["folded"]),
        code("x = 1", name="c", tags=["measured"]),
    ]
    made = page(cells, []).notebook.cells
    tags = [cell.metadata.get("tags", []) for cell in made]
    assert ["hide-input" in found for found in tags] == [True, True, False]


def test_what_is_no_png_is_refused() -> None:
    broken = new_output("display_data", {"image/png": base64.b64encode(b"GIF89a").decode()})
    with pytest.raises(ValueError, match="no PNG"):
        page([code("plot()")], [code("plot()", broken)])
