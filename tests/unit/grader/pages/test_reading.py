"""What pages take from a graded copy, whatever stands in it."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course.verdicts import read_verdict, what_was_seen
from grader.errors import CourseError
from grader.pages.copies import read_to_show
from grader.pages.pictures import heat_maps
from tests.unit.grader.pages.graded_class import NO_SCALING, ROW_MISSED, wrong
from utils.checks.framework.render import as_html, as_text
from utils.checks.framework.verdict import Verdict

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = ("points", "earned", "stub", "idea", "demands", "cases", "mistake", "second", "symptoms")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON)))
def test_any_json_is_a_verdict_with_fields_of_the_right_types_or_none(data):
    verdict = read_verdict(json.dumps(data))
    if verdict is not None:
        assert 0 <= verdict.earned <= 1
        assert all(isinstance(name, str) for name, _ in verdict.cases)
        assert all(isinstance(cause.message, str) for cause in verdict.causes)


@pytest.mark.parametrize("earned", [7, -1, float("nan"), float("inf"), 10**400, "1", None, [1]])
def test_a_share_that_is_none_counts_as_zero(earned):
    verdict = read_verdict(json.dumps({"points": 3, "earned": earned}))
    assert verdict.earned == 0


@pytest.mark.parametrize("text", ["", "[", "[" * 10**5, "3", None, ["x"], "{}"])
def test_what_is_no_graded_verdict_is_none(text):
    assert read_verdict(text) is None


def test_a_verdict_is_read_as_it_was_written():
    written = wrong("attend", 3, NO_SCALING, ROW_MISSED)
    read = read_verdict(json.dumps(written.as_json()))
    assert (read.earned, read.is_stub, read.idea) == (written.earned, False, False)
    assert read.cases == (("plain", False), ("large", True))
    assert [cause.message for cause in read.causes] == [NO_SCALING.message, ROW_MISSED.message]


SEEN = "Case “plain”: 3 of 4 entries differ.\n  x[0]: expected 1, got 2"
CASES = "  ✗ plain\n  ✓ large"
WRITTEN = {
    "now": as_text(wrong("attend", 3, NO_SCALING)),
    "now, with two causes": as_text(wrong("attend", 3, NO_SCALING, ROW_MISSED)),
    "before": f"✗ attend: 1 of 2 cases pass\n{CASES}\n{SEEN}\nWhat this usually means: x\nAnd: y",
    "before, without a cause": f"✗ attend: 1 of 2 cases pass\n{CASES}\n{SEEN}",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_the_middle_of_a_verdicts_text_is_what_was_seen(text: str) -> None:
    assert what_was_seen(text) == SEEN


def test_both_maps_of_a_verdict_are_drawn_with_their_numbers_and_colours():
    wanted, got = np.eye(2), np.array([[1.0, np.inf], [0.0, 1.0]])
    maps = heat_maps(as_html(wrong("attend", 3, pictures=(wanted, got))))
    assert [label for label, _ in maps] == ["expected", "got"]
    light, dark, odd = "#f7fbff", "#08306b", "#e69f00"
    for (_, svg), colours in zip(
        maps, ([dark, light, light, dark], [dark, odd, light, dark]), strict=True
    ):
        assert [part[:7] for part in svg.split('fill="')[1:]] == colours
    assert "<title>inf</title>" in maps[1][1]
    assert [svg.count("!</text>") for _, svg in maps] == [0, 1]


def test_a_verdict_without_maps_has_none():
    assert heat_maps(as_html(wrong("attend", 3))) == []


FORGED = (
    "<table style='border-collapse: collapse;'><tr>"
    "<td title='1' style='background-color: rgb(999, 0, 0);'></td>"
    "<td title='<b>' style='background-color: rgb(0, 0, 0);'></td>"
    "<td title='2' style='background: url(//x); background-color: rgb(0,0,0);'></td></tr></table>"
)


def test_of_forged_maps_only_numbers_and_colours_are_kept():
    maps = heat_maps(FORGED * 2)
    assert [svg.count("<rect") for _, svg in maps] == [1, 1]
    assert 'fill="#ff0000"' in maps[0][1]


@pytest.mark.parametrize("html", ["<table " * 10**4, FORGED * 10**4, None, FORGED])
def test_maps_that_are_too_many_or_too_few_are_none(html):
    assert heat_maps(html) == []


COPIES = [b"", b"{", b"[]", b'{"cells": 3}', b"[" * 10**5, b"\xff\xfe"]


@pytest.mark.parametrize("data", COPIES)
def test_a_copy_that_cannot_be_read_is_a_sentence(tmp_path, data):
    path = tmp_path / "copy.ipynb"
    path.write_bytes(data)
    with pytest.raises(CourseError, match="cannot be read; grade it again"):
        read_to_show(path, ["attend"], ())


@given(st.lists(JSON), JSON)
def test_any_cells_are_read_without_an_error(tmp_path_factory, cells, metadata):
    path = tmp_path_factory.mktemp("copy") / "copy.ipynb"
    odd = {"metadata": {"nbgrader": {"grade_id": "test_attend"}}, "outputs": cells}
    path.write_text(json.dumps({"cells": [*cells, odd], "metadata": metadata}))
    assert read_to_show(path, ["attend"], ()).answers["attend"].verdict is None


def test_the_visible_checks_verdict_does_not_count(tmp_path):
    path = tmp_path / "copy.ipynb"
    data = {"application/vnd.course.verdict+json": json.dumps(Verdict("a", ()).as_json())}
    cell = {"metadata": {"nbgrader": {"grade_id": "test_a"}}, "outputs": [{"data": data}]}
    path.write_text(json.dumps({"cells": [cell], "metadata": {}}))
    assert read_to_show(path, ["a"], ()).answers["a"].verdict is None
