"""A text cell is split where a reader needs a cell of its own, and nothing moves for it."""

import pytest

from grader.authoring import read_lesson
from grader.authoring.notebook import source_notebook
from grader.authoring.percent import parts, read_cells

HINT = "<details><summary>Hint 1</summary>\n\n## not a section\n\nA nudge.\n</details>"
LAST = "<details>\n<summary>Hint 2</summary>\nAlmost.</details>"


def sources(text: str) -> list[str]:
    return [source for _, source in parts(text)]


def test_every_section_begins_a_part_and_keeps_its_text():
    text = "# Title\n\nWhat it is.\n\n## 1. First\nText.\n### Exercise: `f`\n*1 point*\n\nWrite it."
    assert sources(text) == [
        "# Title\n\nWhat it is.",
        "## 1. First\nText.",
        "### Exercise: `f`\n*1 point*\n\nWrite it.",
    ]


def test_hints_in_a_row_are_one_part_between_what_comes_before_and_after():
    assert sources(f"{HINT}\n{LAST}\n\n## 2. Next\n\nText.") == [
        f"{HINT}\n{LAST}",
        "## 2. Next\n\nText.",
    ]
    assert sources(f"Before.\n\n{HINT}\n\n{LAST}\nAfter.") == [
        "Before.",
        f"{HINT}\n\n{LAST}",
        "After.",
    ]


def test_a_fold_within_a_fold_and_one_on_a_single_line_stay_whole():
    nested = (
        "<details><summary>a</summary>\n<details><summary>b</summary>\nx\n</details>\ny\n</details>"
    )
    assert sources(f"{nested}\nText.") == [nested, "Text."]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_what_a_fence_holds_is_no_section_and_no_fold(fence: str):
    text = f"Text.\n{fence}python\n# a comment\n<details>\n{fence}\nMore."
    assert sources(text) == [text]


@pytest.mark.parametrize("text", ["", "Text.", "#hashtag", "a\n#1 of them", "\n\nText."])
def test_a_text_without_sections_stays_one_part(text: str):
    assert len(parts(text)) == 1


def test_parts_put_together_are_the_text_but_for_blank_lines(course):
    text = f"Intro.\n\n{HINT}\n\n## A\n\n\nText.\n\n### B\n{LAST}\nEnd."
    kept = [line for line in "\n".join(sources(text)).split("\n") if line]
    assert kept == [line for line in text.split("\n") if line]


TEXT = """# %% [markdown]
# # 01 · A lesson
#
# ## A section

# %%
from utils.checks import check

# %% [markdown]
# Text.

# %%
1 + 1
"""


def test_a_part_knows_its_line_and_moves_no_other_cell():
    cells = read_cells(TEXT, "x.py")
    assert [cell.id for cell in cells] == ["cell-01", "cell-01-2", "cell-02", "cell-03", "cell-04"]
    lines = TEXT.splitlines()
    assert all(lines[cell.line].endswith(cell.source.split("\n")[0]) for cell in cells)


def test_a_notebook_has_a_cell_for_each_part(tmp_path):
    path = tmp_path / "solutions" / "01_parts.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    notebook = source_notebook(read_lesson(path))
    assert [(c.id, c.cell_type) for c in notebook.cells][:3] == [
        ("cell-01", "markdown"),
        ("cell-01-2", "markdown"),
        ("cell-02", "code"),
    ]
