"""A verdict's card in a browser: every theme, a phone, paper, the keyboard, and axe's rules."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.axe import findings
from tests.browser.chrome import Chrome
from tests.unit.utils.checks.test_render import VERDICTS
from utils.checks.render import as_html

THEMES = Path(sys.prefix, "share", "jupyter", "lab", "themes", "@jupyterlab")
LOOKS = {
    "no theme on white": "<body style='background: #fff'>",
    "no theme on black": "<body style='background: #000'>",
    "JupyterLab's light theme": "theme-light-extension",
    "JupyterLab's dark theme": "theme-dark-extension",
}
PLAIN = "style='color: #000; background: #fff'"  # read on any ground
OVERFLOWING = "document.documentElement.scrollWidth > innerWidth"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All cards on one page, in each theme: name -> address."""
    folder = tmp_path_factory.mktemp("cards")
    # A page's own headings and landmark, in which a notebook or a site shows its outputs.
    cards = "".join(
        f"<h2 {PLAIN}>{name}</h2>{as_html(verdict)}" for name, verdict in VERDICTS.items()
    )
    for number, look in enumerate(LOOKS.values()):
        style = THEMES / look / "index.css"
        own = f"<link rel=stylesheet href='{style.as_uri()}'><body style='background: "
        own += "var(--jp-layout-color0); color: var(--jp-content-font-color1)'>"
        (folder / f"{number}.html").write_text(
            "<!doctype html><html lang=en><meta charset=utf-8><title>Cards</title>"
            "<meta name=viewport content='width=device-width'>"
            f"{look if look.startswith('<') else own}<main class='jp-ThemedContainer'>"
            f"<div class='jp-RenderedHTMLCommon'><h1 {PLAIN}>Cards</h1>{cards}</div>",
            encoding="utf-8",
        )
    return {name: (folder / f"{number}.html").as_uri() for number, name in enumerate(LOOKS)}


@pytest.fixture
def shown(chrome: Chrome) -> Iterator[Chrome]:
    yield chrome
    chrome.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_in_a_card(shown: Chrome, pages: dict[str, str], look: str) -> None:
    shown.show(pages[look])
    shown.run("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert findings(shown) == []


@pytest.mark.parametrize("width", [320, 390, 1366])
def test_a_card_fits_the_screen_and_all_are_as_wide(
    shown: Chrome, pages: dict[str, str], width: int
) -> None:
    shown.show(pages["JupyterLab's light theme"], width=width)
    assert not shown.run(OVERFLOWING)
    widths = "[...document.querySelectorAll('[role=group]')].map(card => card.offsetWidth)"
    assert len(set(shown.run(widths))) == 1


def test_what_is_folded_is_reached_and_opened_by_keyboard(
    shown: Chrome, pages: dict[str, str]
) -> None:
    shown.show(pages["no theme on white"])
    for kind in ("rawKeyDown", "keyUp"):
        tab = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        shown.call("Input.dispatchKeyEvent", type=kind, **tab)
    assert shown.run("document.activeElement.textContent") == "These numbers"
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
    shown.call("Input.dispatchKeyEvent", type="keyDown", **enter)
    assert shown.run("document.activeElement.parentElement.open")


def test_on_paper_colours_stay_and_no_card_is_cut(shown: Chrome, pages: dict[str, str]) -> None:
    shown.show(pages["JupyterLab's light theme"])
    shown.call("Emulation.setEmulatedMedia", media="print")
    style = "getComputedStyle(document.querySelector('[role=group] td'))"
    assert shown.run(f"{style}.printColorAdjust") == "exact"
    assert (
        shown.run("getComputedStyle(document.querySelector('[role=group]')).breakInside") == "avoid"
    )
