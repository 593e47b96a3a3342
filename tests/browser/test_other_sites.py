"""A foreign web page against JupyterLab: it must run nothing on the machine of who visits it."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.browser.chrome import Chrome
from tests.browser.foreign_site import attacks, foreign_site, visit
from tests.browser.jupyterlab import TOKEN
from utils.lab.exchange import Course

TRAP = "from pathlib import Path; (Path(__file__).parent / 'ran').touch()\n"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with foreign_site() as address:
        yield address


def take_terminals(address: str) -> list[str]:
    """Close and name the server's terminals: whoever opens one runs commands."""
    api, headers = f"{address}/api/terminals", {"Authorization": f"token {TOKEN}"}
    with urlopen(Request(api, headers=headers)) as answer:
        names = [found["name"] for found in json.load(answer)]
    for name in names:
        urlopen(Request(f"{api}/{name}", headers=headers, method="DELETE")).close()
    return names


@pytest.mark.parametrize("number", range(len(attacks(""))))
def test_a_page_of_another_site_runs_nothing_in_make_lab(
    page: Chrome, lab: str, course: Course, site: str, tmp_path: Path, number: int
) -> None:
    (tmp_path / "nbgrader_config.py").write_text(TRAP)
    base = lab.partition("/?")[0]
    title = visit(page, site, "go", base + attacks(str(tmp_path))[number])
    assert urlsplit(page.run("location.href")).netloc == urlsplit(base).netloc
    assert (title == "ran", take_terminals(base)) == (False, [])
    assert not (tmp_path / "ran").exists()
