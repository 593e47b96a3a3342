"""Notebook 7, which shows the same server's notebooks: pictures and cards in its dark theme."""

from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.browser.axe import findings
from tests.browser.chrome import Chrome
from tests.browser.jupyterlab import running_lab
from tests.browser.screenshots import set_theme
from tests.unit.utils.checks.test_render import VERDICTS
from utils import plots
from utils.checks.render import as_mimebundle
from utils.lab.exchange import Course, prepare

LESSON = "00_start_here"
FILTER = "getComputedStyle(document.querySelector('.jp-RenderedImage img')).filter"


def shown(course: Course) -> None:
    """Write a notebook with a picture and two cards, as a student's own kernel left it."""
    fig, _ = plt.subplots(figsize=(3, 2))
    picture = plots.Picture(fig, "empty axes")
    plt.close(fig)
    data, metadata = picture._repr_mimebundle_()
    outputs = [
        new_output("display_data", data=data, metadata=metadata),
        new_output("display_data", data=plots.InWords(picture.alt)._repr_mimebundle_()),
        *(new_output("display_data", data=as_mimebundle(VERDICTS[name])) for name in
          ("named", "idea right")),
    ]  # fmt: skip
    notebook = new_notebook(cells=[new_code_cell("1", outputs=outputs, execution_count=1)])
    trusted = course.root / ".local/share/jupyter"  # the server's home is the root
    trusted.mkdir(parents=True, exist_ok=True)
    NotebookNotary(data_dir=str(trusted)).sign(notebook)
    nbformat.write(notebook, course.learn / LESSON / "shown.ipynb")


@pytest.fixture(scope="module")
def address(course: Course) -> Iterator[str]:
    prepare(course)
    shown(course)
    with running_lab(course) as found:
        yield found.replace("/?", f"/notebooks/{LESSON}/shown.ipynb?")


@pytest.mark.parametrize(
    ("theme", "turned"),
    [("JupyterLab Light", "none"), ("JupyterLab Dark", "invert(0.93) hue-rotate(180deg)")],
)
def test_pictures_are_dark_in_the_dark_theme_alone_and_cards_are_read(
    chromium: str, course: Course, address: str, tmp_path: Path, theme: str, turned: str
) -> None:
    set_theme(course, theme)
    with Chrome(chromium, tmp_path / "profile") as page:
        page.resize(1366, 768)
        page.open(address)
        page.wait(
            "document.querySelectorAll('[role=group][aria-label^=\"Check of\"]').length === 2"
        )
        page.settle()
        assert page.run("document.body.dataset.jpThemeLight") == str(turned == "none").lower()
        assert page.run(FILTER) == turned
        cards = [one for rule in findings(page, ["color-contrast"]) for one in rule[1:]
                 if "margin-top" in one or "flex" in one]  # fmt: skip
        assert cards == []
