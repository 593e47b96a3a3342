"""Drawn pictures in a real browser, from a file: clicks, keys, sliders, and without scripts."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from tests.browser.chrome import Chrome
from utils import drawn

WORDS = ["a", "b", "c", "d"]
Q = torch.tensor([[2, 0, 0], [0, 3, 0], [0, 0, 4], [1, 1, 0]]).float()
K, V = torch.eye(4)[:, :3], torch.eye(4)[:, :2]
ARROW = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, " ": 32}


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with Chrome(chromium, tmp_path_factory.mktemp("profile")) as chrome:
        yield chrome


def show(browser: Chrome, folder: Path, *pictures: drawn.Drawn) -> None:
    page = folder / "page.html"
    body = "".join(picture._repr_html_() for picture in pictures)
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}<p id=end>", encoding="utf-8")
    browser.open(page.as_uri())
    browser.wait(f"location.href === {page.as_uri()!r} && !!document.getElementById('end')", 30)


def part(name: str, place: int = 0) -> str:
    return f"""document.querySelectorAll('[data-part="{name}"]')[{place}]"""


def told(browser: Chrome, place: int = 0) -> str:
    return browser.run(f"{part('told', place)}.textContent")


def press(browser: Chrome, key: str) -> None:
    event = {"key": key, "code": key, "windowsVirtualKeyCode": ARROW[key]}
    browser.call("Input.dispatchKeyEvent", type="rawKeyDown", **event)
    browser.call("Input.dispatchKeyEvent", type="keyUp", **event)


def put(browser: Chrome, name: str, value: object) -> None:
    browser.run(
        f"(() => {{ const e = {part(name)}; e.value = {json.dumps(value)};"
        " e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def by_hand() -> drawn.Drawn:
    return drawn.attention_by_hand(WORDS, Q, K, V)


def test_words_with_the_same_weight_are_all_named(browser: Chrome, tmp_path: Path) -> None:
    alike = torch.tensor([[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]]).float()
    show(browser, tmp_path, drawn.attention_by_hand(WORDS, 9 * alike, alike, V))
    assert told(browser).startswith("“a” gives most weight, 0.33, to “a”, “c” and “d” each;")


def test_a_click_on_a_query_shows_its_weights(browser, tmp_path):
    show(browser, tmp_path, by_hand())
    assert "“a” gives most" in told(browser)
    browser.click(part("query-2"))
    assert told(browser).startswith("“c” gives most weight, 0.77, to “c”")
    assert browser.run(f"{part('query-2')}.getAttribute('aria-pressed')") == "true"
    assert browser.run(f"{part('query-0')}.getAttribute('aria-pressed')") == "false"


def test_arrow_keys_go_from_query_to_query_and_round(browser, tmp_path):
    show(browser, tmp_path, by_hand())
    browser.run(f"{part('query-0')}.focus()")
    press(browser, "ArrowDown")
    assert "“b” gives" in told(browser)
    press(browser, "ArrowUp")
    press(browser, "ArrowUp")
    assert "“d” gives" in told(browser)
    assert browser.run("document.activeElement.getAttribute('data-part')") == "query-3"


def test_enter_chooses_the_word_that_has_the_focus(browser, tmp_path):
    show(browser, tmp_path, by_hand())
    browser.run(f"{part('query-1')}.focus()")
    press(browser, "Enter")
    assert "“b” gives" in told(browser)


def test_more_features_change_weights_only_where_nothing_divides(browser, tmp_path):
    show(browser, tmp_path, by_hand())
    weight = f"{part('weight-0')}.textContent"
    before = browser.run(weight)
    put(browser, "size", 4)
    assert browser.run(weight) == before
    put(browser, "scaled", "no")
    assert browser.run(weight) == "1.00"


def test_a_causal_mask_leaves_the_first_query_itself(browser, tmp_path):
    show(browser, tmp_path, by_hand())
    put(browser, "mask", "causal")
    shown = [browser.run(f"{part(f'weight-{i}')}.textContent") for i in range(4)]
    assert shown == ["1.00", "0.00", "0.00", "0.00"]


def test_the_score_stays_when_query_and_key_move_on_together(browser, tmp_path):
    show(browser, tmp_path, drawn.turned_pair())
    score, hand = f"{part('score')}.textContent", f"{part('key-1')}.getAttribute('x2')"
    before, pointed = browser.run(score), browser.run(hand)
    put(browser, "key", 7)
    assert browser.run(score) == before
    assert browser.run(hand) != pointed
    put(browser, "apart", 9)
    assert browser.run(score) != before


def test_the_hands_of_the_clock_turn_with_position_and_base(browser, tmp_path):
    show(browser, tmp_path, drawn.clock(n_pairs=2))
    put(browser, "position", 10)
    assert "1.592, 0.016 turns" in told(browser)
    put(browser, "base", 0)
    assert "1.592, 1.125 turns" in told(browser)


def test_what_reaches_an_output_grows_with_depth_and_stops_at_the_mask(browser, tmp_path):
    show(browser, tmp_path, drawn.reach(["a", "b", "c", "d", "e"], chosen=0))
    assert "5 of 5" in told(browser)
    put(browser, "mask", "near")
    assert "3 of 5 inputs: a, b, c." in told(browser)
    put(browser, "layers", 3)
    assert "4 of 5" in told(browser)
    put(browser, "mask", "causal")
    assert "1 of 5 inputs: a." in told(browser)


def test_heads_side_by_side_follow_the_chosen_query(browser, tmp_path):
    maps = {"one": torch.tensor([[0.9, 0.1], [0.25, 0.75]]), "two": torch.eye(2)}
    show(browser, tmp_path, drawn.heads(maps, ["q", "r"], ["k", "l"]))
    browser.click(part("query-1"))
    assert told(browser) == "“r”, most weight — one: l 0.75; two: l 1.00."


def test_two_pictures_alike_on_a_page_move_apart(browser, tmp_path):
    show(browser, tmp_path, by_hand(), by_hand())
    browser.click(part("query-1", 1))
    assert "“a” gives" in told(browser, 0)
    assert "“b” gives" in told(browser, 1)


def test_a_page_of_pictures_requests_nothing(browser, tmp_path):
    show(browser, tmp_path, by_hand(), drawn.clock(), drawn.way("attention"))
    browser.click(part("query-1"))
    assert browser.run("performance.getEntriesByType('resource').length") == 0


def test_without_scripts_the_first_state_stays_and_no_control_is_shown(browser, tmp_path):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        show_without = tmp_path / "still.html"
        show_without.write_text(f"<!doctype html>{by_hand()._repr_html_()}", encoding="utf-8")
        browser.open(show_without.as_uri())
        found = f"document.readyState === 'complete' && !!{part('weight-0')}"
        browser.wait(found, 30)
        assert browser.run(f"{part('weight-0')}.textContent") == "0.51"
        assert browser.run("document.querySelector('.controls').offsetHeight") == 0
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize(
    ("colour", "ground"), [("rgb(20, 20, 20)", "white"), ("rgb(230, 230, 230)", "black")]
)
def test_text_has_the_colour_of_the_page(browser, tmp_path, colour, ground):
    show(browser, tmp_path, by_hand())
    browser.run(f"document.body.style.cssText = 'color:{colour};background:{ground}'")
    assert browser.run("getComputedStyle(document.querySelector('svg text')).fill") == colour


def test_in_print_there_are_no_controls(browser, tmp_path):
    show(browser, tmp_path, by_hand())
    height = "document.querySelector('.controls').offsetHeight"
    assert browser.run(height) > 0
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.run(height) == 0
    browser.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.parametrize(("wish", "moves"), [("reduce", "0s"), ("no-preference", "0.2s")])
def test_nothing_glides_for_who_asks_for_less_motion(browser, tmp_path, wish, moves):
    browser.call(
        "Emulation.setEmulatedMedia",
        features=[{"name": "prefers-reduced-motion", "value": wish}],
    )
    show(browser, tmp_path, by_hand())
    style = "getComputedStyle(document.querySelector('.moves')).transitionDuration"
    assert browser.run(style).split(",")[0] == moves


PICTURES = {
    "by hand": by_hand,
    "clock": drawn.clock,
    "turned": drawn.turned_pair,
    "reach": lambda: drawn.reach(WORDS),
    "heads": lambda: drawn.heads(
        {"one": torch.eye(2), "two": torch.eye(2)}, ["q", "r"], ["k", "l"]
    ),
    "diagram": lambda: drawn.way("attention"),
}
BOX = "document.querySelector('.drawn svg').getBoundingClientRect()"


@pytest.fixture
def sized(browser: Chrome) -> Iterator[Chrome]:
    yield browser
    browser.call("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("make", PICTURES.values(), ids=PICTURES)
def test_a_picture_fills_its_column_up_to_a_legible_size(
    sized: Chrome, tmp_path: Path, make: Callable[[], drawn.Drawn]
) -> None:
    picture = make()
    sized.resize(1000, 768)
    show(sized, tmp_path, picture)
    column = sized.run("document.querySelector('.drawn').clientWidth")
    wanted = min(column, 1.4 * picture.size[0])
    assert abs(sized.run(f"{BOX}.width") - wanted) < 2


@pytest.mark.parametrize("make", PICTURES.values(), ids=PICTURES)
def test_on_a_phone_words_and_targets_keep_their_size_and_the_page_does_not_scroll_sideways(
    sized: Chrome, tmp_path: Path, make: Callable[[], drawn.Drawn]
) -> None:
    sized.resize(390, 844)
    show(sized, tmp_path, make())
    assert sized.run("document.documentElement.scrollWidth") <= 390
    text = "document.querySelector('.drawn svg text')"
    assert sized.run(f"{text}.getBoundingClientRect().height") >= 12
    targets = (
        "[...document.querySelectorAll('.choice, .controls:not([hidden]) "
        ":is(input, select, button)')].map(one => one.getBoundingClientRect())"
        ".map(box => [box.width, box.height])"
    )
    assert [size for size in sized.run(targets) if min(size) < 24] == []


@pytest.mark.parametrize("kind", ["by hand", "clock", "turned", "reach"])
def test_sliders_are_260_pixels_wide(sized: Chrome, tmp_path: Path, kind: str) -> None:
    sized.resize(1366, 768)
    show(sized, tmp_path, PICTURES[kind]())
    widths = sized.run("[...document.querySelectorAll('[type=range]')].map(e => e.offsetWidth)")
    assert set(widths) == {260}


@pytest.mark.parametrize(("kind", "seen"), [("by hand", True), ("heads", True), ("reach", True),
                                            ("clock", False), ("turned", False)])  # fmt: skip
def test_what_can_be_clicked_is_said_at_first_sight(
    browser: Chrome, tmp_path: Path, kind: str, seen: bool
) -> None:
    show(browser, tmp_path, PICTURES[kind]())
    assert browser.run("document.querySelector('.hint').checkVisibility()") == seen


@pytest.mark.parametrize(("kind", "slider"), [("clock", "position"), ("turned", "key")])
def test_a_button_lets_time_pass_and_stops_it(
    browser: Chrome, tmp_path: Path, kind: str, slider: str
) -> None:
    show(browser, tmp_path, PICTURES[kind]())
    value, button = f"Number({part(slider)}.value)", part(f"{slider}-play")
    before = browser.run(value)
    browser.click(button)
    browser.wait(f"{value} > {before + 1}", 30)
    browser.click(button)
    stopped = browser.run(value)
    assert browser.run(f"{button}.textContent") == "▶ play"
    assert browser.run(f"new Promise(done => setTimeout(() => done({value}), 700))") == stopped


def test_time_stops_at_the_end_and_begins_again(browser: Chrome, tmp_path: Path) -> None:
    show(browser, tmp_path, drawn.clock())
    put(browser, "position", 59)
    browser.click(part("position-play"))
    browser.wait(f"{part('position')}.value === '60'", 30)
    browser.wait(f"{part('position-play')}.textContent === '▶ play'", 30)
    browser.click(part("position-play"))
    browser.wait(f"Number({part('position')}.value) < 30", 30)
