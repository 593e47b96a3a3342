"""The growing encoder: grey at first, in colour where a lesson or a learner has built a part."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from tests.unit.course_files import ROOT
from utils import drawn
from utils.drawn.encoder import PARTS, SIZE, State
from utils.palette import BLUE, GREEN, GREY

SVG = "{http://www.w3.org/2000/svg}"
# Written from the lessons' tables of contents: what each of them adds to the encoder.
ADDED = {
    0: {"pairwise_dot", "stable_softmax"},
    1: set(),
    2: {"padding_mask", "scaled_dot_product_attention"},
    3: {"split_heads", "merge_heads", "MultiHeadAttention"},
    4: {"TokenEmbedding", "PositionalEncoding"},
    5: {"LayerNorm", "FeedForward", "EncoderLayer", "TransformerEncoder"},
    6: {"build_vocab, collate", "Tagger"},
}
EVERY = set().union(*ADDED.values())
COLOURS = {State.TO_COME: GREY, State.BUILT: GREEN, State.NEW: BLUE, State.PASSES: GREEN}


def root(picture: drawn.Drawn) -> ET.Element:
    return ET.fromstring(picture.svg())


def states(picture: drawn.Drawn) -> dict[str, str]:
    """Read from the drawing how each part stands, and see that it looks so."""
    found = {}
    for group in root(picture).iter(f"{SVG}g"):
        shape, state = group[0], State(group.get("data-state"))
        assert shape.get("fill") == shape.get("stroke") == COLOURS[state]
        assert ("stroke-dasharray" in shape.attrib) == (state is State.TO_COME)
        found[group.get("data-part")] = state.value
    return found


def those(picture: drawn.Drawn, state: State) -> set[str]:
    return {name for name, found in states(picture).items() if found == state.value}


def legend(picture: drawn.Drawn) -> set[str]:
    return {text.text for text in root(picture).findall(f"{SVG}text")} & {s.value for s in State}


def test_before_the_first_lesson_every_part_is_to_come_and_none_has_colour():
    assert those(drawn.encoder(), State.TO_COME) == EVERY
    assert legend(drawn.encoder()) == {"to come"}
    assert not {BLUE, GREEN} & {part.get("fill") for part in root(drawn.encoder()).iter()}


@pytest.mark.parametrize("lesson", ADDED)
def test_at_a_lessons_end_its_own_parts_are_new_and_those_of_earlier_ones_are_built(lesson):
    before = set().union(*(ADDED[earlier] for earlier in range(lesson)))
    picture = drawn.encoder(lesson)
    assert those(picture, State.NEW) == ADDED[lesson]
    assert those(picture, State.BUILT) == before
    assert those(picture, State.TO_COME) == EVERY - before - ADDED[lesson]


@pytest.mark.parametrize("lesson", [None, *ADDED])
def test_the_legend_and_the_words_tell_the_states_that_are_drawn_and_no_others(lesson):
    picture = drawn.encoder(lesson)
    assert legend(picture) == set(states(picture).values())
    for state in legend(picture):
        told = picture.alt.partition(f"{state}: ")[2].partition(";")[0]
        lessons = dict(re.findall(r"([A-Za-z][\w, ]*?) \((\d\d)\)", told))
        assert set(lessons) == those(picture, State(state))
        assert all(name in ADDED[int(number)] for name, number in lessons.items())


def test_a_learners_part_has_colour_when_all_of_its_exercises_pass():
    own = drawn.own_encoder({"stable_softmax", "collate", "additive_scores", "LayerNorm"})
    assert those(own, State.PASSES) == {"stable_softmax", "LayerNorm"}
    assert "build_vocab, collate" in those(own, State.TO_COME)
    both = drawn.own_encoder({"build_vocab", "collate"})
    assert those(both, State.PASSES) == {"build_vocab, collate"}


def test_without_an_answer_nothing_of_the_own_encoder_has_colour_and_with_all_everything_has():
    assert those(drawn.own_encoder(()), State.TO_COME) == EVERY
    passed = {name for part in EVERY for name in part.split(", ")}
    assert those(drawn.own_encoder(passed), State.PASSES) == EVERY


def test_every_name_on_a_box_is_an_exercise_of_the_lesson_that_stands_on_it():
    texts = {
        path.stem.partition("_")[0]: path.read_text(encoding="utf-8")
        for path in ROOT.glob("solutions/*.py")
    }
    for part in PARTS:
        for name in part.exercises:
            assert f'# %% exercise="{name}"' in texts[f"{part.lesson:02}"]
        assert f"· {part.lesson:02}" in part.draw(State.BUILT)


def test_words_have_eleven_pixels_in_the_sites_narrow_column_and_fit_their_box():
    column, base = 745, 13  # the site's in a window of 1366 pixels; what drawn.css says of text
    for part in PARTS:
        for text in ET.fromstring(part.draw(State.NEW)).iter("text"):
            size = float(text.get("font-size", base))
            assert size * min(1, column / SIZE[0]) >= 11
            assert len(text.text) * size * 0.52 < part.width  # a letter: half as wide as high


def test_boxes_lie_within_the_picture_and_apart_from_each_other():
    _, _, width, height = map(float, root(drawn.encoder()).get("viewBox").split())
    boxes = [part for part in PARTS if part.text]
    for part in PARTS:
        assert part.x >= 0 <= part.y
        assert part.x + part.width <= width
        assert part.y + part.height <= height
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            beside = a.x + a.width < b.x or b.x + b.width < a.x
            assert beside or a.y + a.height < b.y or b.y + b.height < a.y


def test_pictures_are_drawn_where_torch_is_not_loaded():
    code = "import sys; from utils.lab import page; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
