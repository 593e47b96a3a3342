"""Take the README's pictures: `python -m tests.browser.screenshots [FOLDER]`, docs/ if unnamed.

start.png shows the start page, lesson.png a lesson with a named mistake. A folder that is named
gets both in JupyterLab's dark theme, too.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.sign import NotebookNotary

from grader.authoring.regions import SOLUTION
from grader.website.printing import find_chromium
from tests.browser.chrome import Chrome
from tests.browser.jupyterlab import (
    ROOT,
    copy_course,
    element,
    running_lab,
    solution,
    wait_for_kernel,
    wait_for_start_page,
)
from utils.lab.exchange import Course, prepare

LESSON = "02_attention"
MISTAKEN = "causal_mask"
WRONG = f"""def {MISTAKEN}(size: int) -> Tensor:
    return torch.ones(1, size, size, dtype=torch.bool).triu()"""
RUN = ("additive_scores", "scaled_dot_product_attention", "padding_mask")  # with right answers
WIDTH, HEIGHT = 1100, 1180
THEME = ".jupyter/lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"


def answer_and_run(course: Course) -> None:
    """Write three right answers and a wrong one, and run them, their checks and a picture."""
    path = course.learn / LESSON / f"{LESSON}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    by_id = {cell["id"]: cell for cell in notebook.cells}
    for exercise in RUN:
        by_id[exercise].source = as_students_write(solution(LESSON, exercise))
    by_id[MISTAKEN].source = WRONG
    wanted = {*RUN, MISTAKEN, *(f"test_{name}" for name in (*RUN, MISTAKEN))}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    picture = next(cell for cell in code if f"{MISTAKEN}(" in cell.source and cell.id not in wanted)
    for cell in code:
        if cell.id not in wanted and cell not in (code[0], picture):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "left-out"]
    client = NotebookClient(
        notebook,
        skip_cells_with_tag="left-out",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(env={"PYTHONPATH": str(course.root)})
    for cell in code:
        cell.metadata["tags"] = [t for t in cell.metadata.get("tags", []) if t != "left-out"]
    trusted = course.root / ".local/share/jupyter"  # JupyterLab's home is the root
    trusted.mkdir(parents=True)
    NotebookNotary(data_dir=str(trusted)).sign(notebook)
    nbformat.write(notebook, path)


def as_students_write(answer: str) -> str:
    """Give an answer without the lines that mark it in the course's own source."""
    return "\n".join(line for line in answer.split("\n") if not any(m in line for m in SOLUTION))


def set_theme(course: Course, name: str) -> None:
    file = course.root / THEME
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"theme": name}))


def take(page: Chrome, address: str, folder: Path, suffix: str) -> None:
    """Photograph the start page, and the lesson at its named mistake."""
    page.open(address)
    wait_for_start_page(page)
    page.run("document.querySelector('.jp-MarkdownViewer details:nth-of-type(3)').open = true")
    page.settle()
    page.screenshot(folder / f"start{suffix}.png")
    page.click(element(".jp-MarkdownViewer details td a", MISTAKEN))
    wait_for_kernel(page)
    line = element(".jp-NotebookPanel .cm-line", f"def {MISTAKEN}")
    page.wait(f"!!({line})")
    page.settle()
    # From its heading on: what stands above it are right answers.
    heading = element(".jp-RenderedMarkdown h3", f"Exercise: {MISTAKEN}")
    page.run(f"{heading}.scrollIntoView({{block: 'start'}})")
    page.settle()
    page.screenshot(folder / f"lesson{suffix}.png")


def main(folder: Path, themes: dict[str, str]) -> None:
    program = find_chromium()
    if program is None:
        sys.exit("There is no Chromium or Chrome on this machine (Debian: apt install chromium).")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="screenshots-") as temporary:
        course = copy_course(Path(temporary).resolve())
        prepare(course)
        answer_and_run(course)
        with running_lab(course) as address:
            for suffix, theme in themes.items():
                shutil.rmtree(course.private / "workspaces", ignore_errors=True)  # its open tabs
                set_theme(course, theme)
                with Chrome(program, course.root / f"profile{suffix}") as page:
                    page.resize(WIDTH, HEIGHT)
                    take(page, address, folder, suffix)


LIGHT, DARK = {"": "JupyterLab Light"}, {"-dark": "JupyterLab Dark"}
if __name__ == "__main__":  # tests and tools import every module
    if sys.argv[1:]:
        main(Path(sys.argv[1]), LIGHT | DARK)
    else:
        main(ROOT / "docs", LIGHT)
