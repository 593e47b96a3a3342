"""What is folded away says what it does, and a lesson opens with its facts, not its imports."""

import pytest

from tests.course.test_guesses import LESSONS, notebook


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_folded_cell_begins_with_a_comment_as_its_label(lesson: str) -> None:
    code = [cell for cell in notebook("notebooks", lesson).cells if cell.cell_type == "code"]
    folded = [cell.source for cell in code if cell.metadata.get("jupyter", {}).get("source_hidden")]
    folded += [cell.source for cell in code if "folded" in cell.metadata.get("tags", [])]
    assert folded
    assert [source for source in folded if not source.startswith("# ")] == []
    assert code[0].source in folded


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_cell_of_text_opens_as_a_fold_it_closes(lesson: str) -> None:
    texts = [c.source for c in notebook("notebooks", lesson).cells if c.cell_type == "markdown"]
    assert [t for t in texts if t.count("<details") != t.count("</details>")] == []
    assert any("<details" in text for text in texts)


@pytest.mark.parametrize("lesson", LESSONS)
def test_minutes_and_points_of_a_lesson_are_chips(lesson: str) -> None:
    head = notebook("notebooks", lesson).cells[0].source
    for fact in ("Time", "Points"):
        assert f'<span class="course-chip">**{fact}:**' in head
