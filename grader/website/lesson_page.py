"""A lesson as a page: the students' notebook, with the results of what is no answer."""

import base64
import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from grader.website.png import size
from grader.website.predicting import asks_for_a_prediction, form, kept_apart

GUESSES: Final = re.compile(r"^(guess\(|(print\()?summary\(\))", re.MULTILINE)
PICTURES: Final = "pictures"
NEXT: Final = re.compile(r"\]\(\.\./(\w+)/\1\.ipynb\)")
START: Final = "](../Start.md)"  # a page of learners' folders alone
ARXIV: Final = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


@dataclass
class LessonPage:
    """A notebook for the site and the picture files that it shows, by their path below _static."""

    notebook: Any
    pictures: dict[str, bytes] = field(default_factory=dict)


def lesson_page(name: str, release: Any, solution: Any) -> LessonPage:
    """Fill a release with outputs of its executed solution, and return it as a page.

    Only a cell whose source is the same in both gets its outputs: those that hold an answer, a stub
    or a hidden test differ. The page takes what is in `release`, which it changes.
    """
    page = LessonPage(release)
    executed = {cell.id: cell for cell in solution.cells}
    predicted = None
    for cell in release.cells:
        if cell.cell_type == "markdown":
            cell.source = on_the_site(with_dois(cell.source))
            predicted = _question(name, cell)
            continue
        cell.outputs = list(_outputs(name, cell, executed.get(cell.id), page.pictures))
        cell.execution_count = None
        if predicted and cell.outputs:
            kept_apart(cell)
        tags = cell.metadata.get("tags", [])
        if "folded" in tags or cell.source.startswith(("import ", "from ")):
            cell.metadata["tags"] = [*tags, "hide-input"]
    return page


def with_dois(text: str) -> str:
    """Make every arXiv number of a text a link by its DOI, which arXiv registers for each paper."""
    return ARXIV.sub(r"[\g<0>](https://doi.org/10.48550/arXiv.\1)", text)


def on_the_site(text: str) -> str:
    """Make links to other lessons and to the start page lead to the site's own pages."""
    return NEXT.sub(r"](\1.ipynb)", text).replace(START, "](../index.md)")


def _question(name: str, cell: Any) -> bool:
    """Put a place for a prediction below a text that asks for one; return whether it does."""
    if not asks_for_a_prediction(cell.source):
        return False
    cell.source += "\n\n" + form(f"{name}-{cell.id}")
    return True


def _outputs(
    name: str, cell: Any, executed: Any | None, pictures: dict[str, bytes]
) -> Iterator[Any]:
    """Yield the outputs that a page may show, pictures as files of their own."""
    if executed is None or executed.source != cell.source or "nbgrader" in cell.metadata:
        return
    if GUESSES.search(cell.source):  # nobody guessed while the lesson was built
        return
    count = 0
    for output in executed.outputs:
        picture = output.get("data", {}).get("image/png")
        if picture is None:
            yield _bare(output)
            continue
        count += 1
        path = f"{PICTURES}/{name}/{cell.id}-{count}.png"
        pictures[path] = base64.b64decode(picture)
        yield _picture(output, path, pictures[path])


def _bare(output: Any) -> Any:
    """Return an output without what only JupyterLab reads."""
    data = output.get("data")
    if data is not None and "text/html" in data:
        output.data = type(data)({"text/html": data["text/html"]})
    return output


def _picture(output: Any, path: str, content: bytes) -> Any:
    """Return an output that shows a picture from its file: pages stay small, and load it late."""
    described: Mapping[str, Any] = output.metadata.get("image/png", {})
    width, height = size(content)
    shown = int(described.get("width", width))
    alt = html.escape(described.get("alt", ""), quote=True)
    output.data = type(output.data)(
        {
            "text/html": f'<img src="../_static/{path}" alt="{alt}" width="{shown}" '
            f'height="{round(height * shown / width)}" loading="lazy" class="plot">'
        }
    )
    output.metadata = type(output.metadata)()
    return output
