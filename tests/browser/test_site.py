"""The public site as readers see it: offline, on a phone, in the dark, by keyboard."""

import functools
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.authoring.lesson import lessons
from grader.website.printing import print_lessons
from tests.browser.axe import SEEN, findings
from tests.browser.chrome import Chrome
from tests.browser.jupyterlab import ROOT
from tests.course.built_site import built_site

LESSON = "lessons/02_attention.html"
LESSONS = [f"lessons/{lesson.name}.html" for lesson in lessons(ROOT)]
PAGES = ["index.html", "terms.html", "statements.html", "grading.html"]
FOLD = "document.querySelector('details.hide.below-input')"
INPUT = "document.querySelector('[data-prediction]')"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site_folder(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the site: lessons are printed into it."""
    return shutil.copytree(built_site(tmp_path_factory), tmp_path_factory.mktemp("site") / "built")


@pytest.fixture(scope="module")
def site(site_folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site_folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module", autouse=True)
def offline(chrome: Chrome) -> None:
    """No other host can be reached."""
    chrome.call("Network.enable")
    chrome.call("Network.setBlockedURLs", urls=["https://*", "http://*.*:80/*"])


@pytest.fixture(params=[*PAGES, *LESSONS, "search.html"], scope="module")
def light_page(request: pytest.FixtureRequest, site: str) -> str:
    """A page's address. Tests that only look at it follow one another, and it is loaded once."""
    return site + request.param


def see(chrome: Chrome, address: str) -> None:
    """Show a page in the light theme, unless it is what the browser shows."""
    here = f"location.href === {json.dumps(address)} && innerWidth === 1400"
    if not chrome.run(f"{here} && !matchMedia('(prefers-color-scheme: dark)').matches"):
        chrome.show(address)


def test_a_page_asks_no_other_host_for_anything(chrome: Chrome, site: str, light_page: str) -> None:
    see(chrome, light_page)
    chrome.run("window.scrollTo(0, document.body.scrollHeight)")
    asked = chrome.run("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert len(asked) > 5
    assert [name for name in asked if not name.startswith((site, "data:"))] == []


def test_formulas_are_typeset_without_a_network(chrome: Chrome, site: str) -> None:
    chrome.show(site + LESSON)
    chrome.wait("document.querySelectorAll('mjx-container').length > 50")
    assert chrome.run("document.fonts.ready.then(() => document.fonts.check('16px MJXTEX'))")


def test_the_search_finds_a_word_without_a_network(chrome: Chrome, site: str) -> None:
    chrome.show(f"{site}search.html?q=rotary")
    chrome.wait("document.querySelectorAll('#search-results li a').length > 1")
    found = chrome.run("[...document.querySelectorAll('#search-results li a')].map(a => a.href)")
    assert any("04_positional_encoding" in address for address in found)


def test_a_prediction_is_kept_and_shown_beside_the_result(chrome: Chrome, site: str) -> None:
    chrome.show(site + LESSON)
    assert chrome.run(f"{FOLD}.open") is False
    chrome.run(f"{INPUT}.focus()")
    chrome.insert("<b>it falls</b> to 12%")
    chrome.show(site + LESSON)
    assert chrome.run(f"{INPUT}.value") == "<b>it falls</b> to 12%"
    chrome.run(f"{FOLD}.querySelector('summary').focus()")
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
    chrome.call("Input.dispatchKeyEvent", type="keyDown", **enter)
    chrome.wait(f"{FOLD}.open")
    said = chrome.wait(f"{FOLD}.querySelector('.predicted')?.textContent")
    assert said == "You predicted: <b>it falls</b> to 12%"
    assert chrome.run(f"{FOLD}.querySelector('img.plot, pre').checkVisibility()")


@pytest.mark.parametrize("page", [*PAGES, *LESSONS])
def test_a_page_is_as_wide_as_a_phone(chrome: Chrome, site: str, page: str) -> None:
    chrome.show(site + page, width=390)
    typeset(chrome)
    assert chrome.run("document.documentElement.scrollWidth") <= 390


def test_the_dark_theme_is_taken_from_the_system(chrome: Chrome, site: str) -> None:
    chrome.show(site + LESSON, theme="dark")
    chrome.wait("document.documentElement.dataset.theme === 'dark'")
    colour = chrome.run("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) < 60


def test_lessons_are_printed_with_their_pictures(site_folder: Path) -> None:
    print_lessons(site_folder, ["02_attention"])
    printed = (site_folder / "_static" / "print" / "02_attention.pdf").read_bytes()
    assert printed.startswith(b"%PDF-")
    assert printed.count(b"/Subtype /Image") >= 10


def test_axe_finds_nothing_in_the_light_theme(chrome: Chrome, light_page: str) -> None:
    see(chrome, light_page)
    typeset(chrome)
    assert findings(chrome) == []


def test_axe_finds_nothing_wrong_with_what_is_seen_when_the_system_turns_dark(
    chrome: Chrome, light_page: str
) -> None:
    see(chrome, light_page)
    typeset(chrome)
    chrome.turn("dark")
    chrome.wait("document.documentElement.dataset.theme === 'dark'")
    assert findings(chrome, SEEN) == []


def typeset(chrome: Chrome) -> None:
    chrome.wait("!window.MathJax?.startup?.promise || MathJax.startup.promise.then(() => true)")
