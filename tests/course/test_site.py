"""The site as built from this course: nothing given away, nothing asked of others, no dead link."""

import re
import zipfile
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

from grader.authoring.lesson import lessons
from grader.website.lesson_page import lesson_page
from tests.course.built_site import built_site

ROOT = Path(__file__).resolve().parents[2]
LESSONS = lessons(ROOT)
NAMES = [lesson.name for lesson in LESSONS]
MOST_BYTES = 320_000  # the last lesson's page is by far the longest


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory)


class Page(HTMLParser):
    """Every link, every anchor and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        relations = found.get("rel", "").split()
        if tag == "link" and {"next", "prev", "canonical"}.isdisjoint(relations):
            self.loads.append(found["href"])
        if tag in ("script", "img", "iframe", "source"):
            self.loads += [found["src"]] if "src" in found else []

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def pages(site: Path) -> list[Path]:
    return [*sorted(site.glob("*.html")), *sorted(site.glob("lessons/*.html"))]


def answer_lines(name: str) -> set[str]:
    """Lines that stand in a lesson's text and not in its release: answers and hidden tests."""
    release = nbformat.read(ROOT / "notebooks" / name / f"{name}.ipynb", as_version=4)
    given = "\n".join(cell.source for cell in release.cells)
    given += given.replace("`", "")  # as the text's own words are read
    text = (ROOT / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    lines = {line.strip().rstrip(",") for line in text.splitlines() if not line.startswith("#")}
    return {line for line in lines if len(line) > 15 and line not in given}


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_an_answer_or_a_hidden_test_reaches_the_page(site: Path, name: str) -> None:
    wanted = answer_lines(name)
    assert len(wanted) > 10
    shown = "".join(read(site / "lessons" / f"{name}.html").words)
    assert [line for line in wanted if line in shown] == []
    hosted = (site / "_static" / "hosted" / f"{name}.ipynb").read_text(encoding="utf-8")
    assert not {line for line in wanted if line.replace('"', '\\"') in hosted}


@pytest.mark.parametrize("name", NAMES)
def test_no_result_stands_open_between_a_prediction_and_the_next_text(name: str) -> None:
    release, solution = (
        nbformat.read(ROOT / folder / name / f"{name}.ipynb", as_version=4)
        for folder in ("notebooks", "solutions")
    )
    asked, folded = False, 0
    for cell in lesson_page(name, release, solution).notebook.cells:
        if cell.cell_type == "markdown":
            asked = "**Predict" in cell.source
        elif asked and cell.outputs:
            assert "hide-output" in cell.metadata.tags, cell.id
            folded += 1
    assert folded > 0


def test_every_lesson_shows_results(site: Path) -> None:
    for name in NAMES[1:]:
        page = (site / "lessons" / f"{name}.html").read_text(encoding="utf-8")
        assert page.count('<img src="../_static/pictures/') >= 3, name


def test_the_slides_are_offered_one_by_one_and_in_one_file(site: Path) -> None:
    wanted = {path.name: path.read_bytes() for path in (ROOT / "slides").glob("*.svg")}
    with zipfile.ZipFile(next(site.rglob("slides.zip"))) as zipped:
        assert {Path(name).name: zipped.read(name) for name in zipped.namelist()} == wanted
    page = read(site / "slides.html")
    assert {Path(shown).name for shown in page.loads if shown.endswith(".svg")} == set(wanted)
    assert any(link.endswith("slides.zip") for link in page.links)
    assert "slides.html" in read(site / "instructors.html").links


def test_pages_are_small_before_pictures(site: Path) -> None:
    drawn = re.compile(r"<svg.*?</svg>", re.DOTALL)
    sizes = {
        path.name: len(drawn.sub("", path.read_text(encoding="utf-8"))) for path in pages(site)
    }
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    for path in pages(site):
        assert [x for x in read(path).loads if urlsplit(x).netloc] == [], path.name
    for sheet in site.rglob("*.css"):
        found = re.findall(r"url\(['\"]?(?:https?:)?//[^)]*", sheet.read_text(encoding="utf-8"))
        assert found == [], sheet.name


def test_every_internal_link_and_file_is_there(site: Path) -> None:
    for path in pages(site):
        for link in (*read(path).links, *read(path).loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name} -> {link}"
            if parts.fragment and target.suffix == ".html":
                anchors = read(target).anchors
                assert unquote(parts.fragment) in anchors, f"{path.name} -> {link}"


def test_the_front_page_shows_the_cause_that_the_check_names(site: Path) -> None:
    assert "The mask is upside down" in "".join(read(site / "index.html").words)
