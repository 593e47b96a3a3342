"""What all exercises share knows no lesson: none of its words stands in code or in a comment."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import utils.checks
from utils.checks.registry import exercises

FOLDER = Path(utils.checks.__file__).parent
SHARED = sorted(path for path in FOLDER.rglob("*.py") if "lessons" not in path.parts)
WORDS = {"attention", "head", "mask", "token", "position", "encoder", "padding", "embedding"}
STYLE = re.compile(r"[a-z-]+: [^;'\"]*;")  # a declaration of a style sheet: "padding: 2px 0;"


def parameters() -> set[str]:
    """The names of cases' parameters that are no plain words: d_model, norm_first, Dk, B."""
    names = {
        name for one in exercises().values() for case in one.probe.cases for name in case.params
    }
    return {name for name in names if "_" in name or name[0].isupper()}


def words_of_lessons(source: str) -> Iterator[str]:
    plain = STYLE.sub("", source)
    for word in re.findall(r"[A-Za-z]+", plain):
        if word.lower().removesuffix("s") in WORDS:
            yield word
    yield from (name for name in exercises() if re.search(rf"(?<!\w){name}(?!\w)", plain))
    constants = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    yield from (str(node.value) for node in constants if node.value in NAMES)


NAMES = parameters()


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_what_all_exercises_share_has_no_word_of_a_lesson(path):
    assert list(words_of_lessons(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "heads = 3",
        "# the masks of a batch",
        "kept_positions = 1",
        "x = 'Padding'",
        "'''See EncoderLayer.'''",
        "params.get('norm_first')",
        "params['Dk']",
        "# as attend does",
    ],
)
def test_a_word_of_a_lesson_is_found(source):
    assert list(words_of_lessons(source))


@pytest.mark.parametrize(
    "source",
    ["x.masked_fill(y, 0)", "style = 'padding: 2px 0;'", "# 1 positional argument", "B = 2"],
)
def test_what_torch_and_style_sheets_call_so_is_no_word_of_a_lesson(source):
    assert list(words_of_lessons(source)) == []
