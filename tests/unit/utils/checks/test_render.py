"""A verdict as a card and as text: order, words beside colours, contrast, names of pictures."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, NavigableString, Tag

from utils import palette
from utils.checks.compare.compare import Finding
from utils.checks.exercise import Case, Mistake
from utils.checks.observation import ProblemKind
from utils.checks.render import as_html, as_text
from utils.checks.verdict import CaseResult, Note, Verdict

CAUSE = Mistake("no_scaling", "The scores are not divided by `sqrt`.", "What grows with Dk?")
OTHER = Mistake("row_missed", "The last row is missed.", "Count them.")
WANTED, GOT = np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([[np.nan, 2.0], [np.inf, 0.5]])
# JupyterLab's own ink, paper and rule, from its themes; elsewhere they may all be unknown.
THEMES = {
    "no theme": {},
    "light": {"--jp-content-font-color1": "#212121", "--jp-layout-color1": "#ffffff"},
    "dark": {"--jp-content-font-color1": "#ffffff", "--jp-layout-color1": "#111111"},
}


def failed(name: str, *, demand: str = "", beside: str = "", **how: Any) -> CaseResult:
    """A case that fails; `beside` is a demand missed while its numbers are right."""
    values = {"kind": "values", "where": "x", "message": "x: 3 of 4 entries differ."} | how
    return CaseResult(Case(name, demand=demand), Finding(**values, demand=beside))


def passed(name: str, demand: str = "") -> CaseResult:
    return CaseResult(Case(name, demand=demand), None)


DETAILS = ("x[0]: expected 1, got 2",)
DRAWN = failed("large", details=DETAILS, line="return q @ k", pictures=(WANTED, GOT))
VERDICTS = {
    "right": Verdict("attend", (passed("plain"), passed("large")), points=2),
    "named": Verdict("attend", (passed("plain"), DRAWN), CAUSE, OTHER, points=2),
    "symptoms": Verdict("attend", (DRAWN, passed("plain")), symptoms=("Row 2 is right.", "b")),
    "unnamed": Verdict("attend", (passed("plain"), DRAWN)),
    "error": Verdict("attend", (failed("one", kind="exception", message="ValueError: no"),)),
    "stub": Verdict("attend", (failed("one", kind="stub", message="Not written yet."),)),
    "idea right": Verdict(
        "attend",
        (failed("plain", beside="float64"), failed("empty", demand="an empty row"), passed("b")),
        points=2,
    ),
    "noisy": Verdict("attend", (DRAWN,), notes=(Note("Python warns. " + "word " * 60, ("y",)),)),
}


def card(name: str) -> Any:
    return BeautifulSoup(as_html(VERDICTS[name]), "html.parser")


def words(name: str) -> str:
    return " ".join(card(name).get_text(" ").split())


def styled(tag: Tag, names: tuple[str, ...]) -> str:
    """The nearest value of a property, of the element itself or one that it lies in."""
    for one in (tag, *tag.parents):
        for rule in reversed(str(one.attrs.get("style", "")).split(";")):
            name, _, value = rule.partition(":")
            if name.strip() in names and value.strip() not in ("inherit", "transparent"):
                return value.strip()
    return ""


def rgb(value: str, theme: Mapping[str, str]) -> tuple[int, ...]:
    if named := re.fullmatch(r"var\((--[\w-]+), (.+)\)", value):
        value = theme.get(named[1], named[2])
    if numbers := re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", value):
        return tuple(map(int, numbers.groups()))
    return tuple(bytes.fromhex(value.removeprefix("#")))


def luminance(colour: tuple[int, ...]) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    shares = [part / 255 for part in colour]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def pairs(page: Any) -> Iterator[tuple[str, str, str]]:
    """Every text with the colours that it is read in: ink and ground."""
    for text in page.find_all(string=True):
        if isinstance(text, NavigableString) and text.strip() and text.parent is not None:
            ground = styled(text.parent, ("background", "background-color"))
            yield text.strip(), styled(text.parent, ("color",)), ground


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("name", VERDICTS)
def test_every_word_is_read_at_four_and_a_half_to_one(name: str, theme: dict[str, str]) -> None:
    found = [
        (text, ink, ground)
        for text, ink, ground in pairs(card(name))
        if not (ink and ground) or contrast(rgb(ink, theme), rgb(ground, theme)) < 4.5
    ]
    assert found == []


def test_contrast_is_counted_as_wcag_does() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize(
    "sign", [palette.RIGHT, palette.NEARLY, palette.WRONG, palette.OPEN], ids=lambda s: s.ground
)
def test_a_colour_that_carries_words_is_read(sign: palette.Sign) -> None:
    assert contrast(rgb(sign.ground, {}), rgb(sign.ink, {})) >= 4.5


@pytest.mark.parametrize(
    "read", [words, lambda name: as_text(VERDICTS[name])], ids=["card", "text"]
)
def test_diagnosis_comes_first_then_where_to_look_then_evidence_cases_and_notes(read: Any) -> None:
    order = [
        "1 of 2 cases pass", "The scores are not divided", "What grows with Dk?", "The last row",
        "Count them.", "Case “large”: x: 3 of 4", "x[0]: expected 1, got 2", "in your line: return",
    ]  # fmt: skip
    text = read("named")
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert text.rindex("large") > places[-1]
    assert text.rindex("plain") > text.rindex("large")


def test_of_two_symptoms_the_first_is_in_larger_type() -> None:
    page = card("symptoms")
    assert [tag.get_text() for tag in page.select("[style*='font-size: 120%']")] == [
        "Row 2 is right."
    ]
    assert page.get_text(" ").count("What was seen:") == 1


def test_points_come_last_on_a_card() -> None:
    assert words("named").endswith("Points: 1 of 2 points")


def test_the_diagnosis_alone_is_in_larger_type() -> None:
    large = [tag.get_text() for tag in card("named").select("[style*='font-size: 120%']")]
    assert large == ["The scores are not divided by sqrt.", "The last row is missed."]


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("right", "✓"),
        ("named", "✗!!✗✓"),
        ("idea right", "◐◐◐✓"),
        ("stub", "○"),
        ("error", "✗"),
    ],
)
def test_failing_cases_come_first_and_colours_have_marks(name: str, marks: str) -> None:
    assert "".join(re.findall("[✓✗◐○!]", card(name).get_text())).replace("!!!", "!!") == marks


def test_each_colour_of_a_case_has_a_word_beside_it() -> None:
    assert "Wrong: ✗ large Right: ✓ plain" in words("named")
    assert "Extra demand missed: ◐ plain ◐ empty Right: ✓ b" in words("idea right")


def test_a_right_main_task_is_amber_and_shows_no_mark_of_what_is_wrong() -> None:
    html = as_html(VERDICTS["idea right"])
    assert f"border-left: 6px solid {palette.NEARLY.ground}" in html
    assert "✗" not in html + as_text(VERDICTS["idea right"])
    assert palette.WRONG.ground not in html


@pytest.mark.parametrize(
    ("demands", "says"),
    [
        ({"a": False}, "the extra demand is not met"),
        ({"a": False, "b": False}, "none of the 2 extra demands is met"),
        ({"a": True, "b": False}, "1 of the 2 extra demands is met"),
        ({"a": True, "b": True, "c": False}, "2 of the 3 extra demands are met"),
    ],
)
def test_what_is_said_of_demands_is_what_was_met(demands: dict[str, bool], says: str) -> None:
    cases = [passed(d, d) if met else failed(d, demand=d) for d, met in demands.items()]
    text = as_text(Verdict("x", (passed("core"), *cases)))
    assert text.startswith(f"◐ x: the main task is right; {says}\n")
    missing = ", ".join(demand for demand, met in demands.items() if not met)
    assert text.endswith(f"  Not met: {missing}")


@pytest.mark.parametrize("kind", [k for k in ProblemKind if k != ProblemKind.STUB])
def test_a_mistake_without_a_name_has_a_sentence_in_large_type(kind: ProblemKind) -> None:
    verdict = Verdict("x", (failed("a", kind=kind, message="What was found."), passed("b")))
    page = BeautifulSoup(as_html(verdict), "html.parser")
    (large,) = page.select("[style*='font-size: 120%']")
    assert large.get_text() == "Case “a”: What was found."
    assert as_text(verdict).count("What was found.") == 1


def test_a_check_that_failed_itself_says_nothing_of_the_students_mistakes() -> None:
    verdict = Verdict("x", (failed("a", kind=ProblemKind.CHECK, message="The check stopped."),))
    assert "mistake" not in as_text(verdict)


def test_pictures_have_names_a_key_and_numbers_for_who_uses_no_mouse() -> None:
    page = card("named")
    labels = [tag["aria-label"] for tag in page.select("[role=img]")]
    assert labels == [
        "expected: 2 rows and 2 columns of shades",
        "got: 2 rows and 2 columns of shades",
    ]
    assert "key light is 0, dark is 2 ! no finite number" in words("named")
    (details,) = page.select("details")
    assert details.summary.get_text() == "These numbers"
    assert details.pre.get_text() == "expected\n  0.25 0.75\n  1 0\ngot\n  nan 2\n  inf 0.5"


def test_the_key_of_booleans_names_them() -> None:
    seen = failed("a", pictures=(np.eye(2, dtype=bool), np.ones((2, 2), dtype=bool)))
    assert "light is False, dark is True" in as_html(Verdict("x", (seen,)))


def test_a_card_is_a_named_group_with_one_heading() -> None:
    page = card("named")
    assert page.div["role"] == "group"
    assert page.div["aria-label"] == "Check of attend"
    (heading,) = page.select("[role=heading]")
    assert heading.get_text() == "✗attend: 1 of 2 cases pass"
    assert page.find(["h1", "h2", "h3", "h4", "script", "style"]) is None


def test_all_cards_have_one_width() -> None:
    widths = {re.search(r"max-width: (\w+);", as_html(v))[1] for v in VERDICTS.values()}  # type: ignore[index]
    assert len(widths) == 1
    assert all("width: 100%" in as_html(verdict) for verdict in VERDICTS.values())


def test_a_long_warning_is_folded_and_keeps_its_words() -> None:
    (folded,) = [d for d in card("noisy").select("details") if "warns" in d.get_text()]
    assert len(folded.summary.get_text()) <= 80
    assert folded.get_text().count("word ") > 60


def test_lines_of_code_and_numbers_keep_their_blanks() -> None:
    noted = Verdict("attend", (passed("plain"),), notes=(Note("It printed:", ("[[1.,", " [2.")),))
    style = BeautifulSoup(as_html(noted), "html.parser").find(string=" [2.").parent["style"]
    assert "white-space: pre-wrap" in style
