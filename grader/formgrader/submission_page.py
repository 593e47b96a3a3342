"""A submission as nbgrader's pages show it: text, code, verdicts, pasted pictures, nothing else.

What lies in `autograded` may come from nbgrader's own autograde, with a student's outputs as they
were: whatever made it, nothing in it runs, loads anything or leads elsewhere.
"""

import base64
from collections.abc import Callable, Iterator
from typing import Any, Final

from bleach import clean
from bleach.css_sanitizer import CSSSanitizer
from jinja2 import pass_context
from markupsafe import Markup
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

TAGS: Final = frozenset((
    "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2",
    "h3", "h4", "h5", "h6", "hr", "i", "img", "li", "ol", "p", "pre", "s", "small", "span",
    "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u",
    "ul",
))  # fmt: skip
STYLES: Final = CSSSanitizer((  # none of them takes an address
    "align-items", "background-color", "border", "border-collapse", "border-left",
    "border-radius", "box-sizing", "break-inside", "color", "display", "flex", "flex-wrap",
    "font-family", "font-size", "font-style", "font-weight", "gap", "height", "line-height",
    "list-style-type", "margin", "margin-left", "margin-right", "margin-top", "max-width",
    "min-width", "overflow-wrap", "padding", "text-align", "vertical-align", "white-space", "width",
))  # fmt: skip
ATTRIBUTES: Final = frozenset((
    "align", "alt", "aria-label", "aria-level", "colspan", "role", "rowspan", "style", "title",
))  # fmt: skip
PICTURES: Final = ("image/png", "image/jpeg")
ESCAPED: Final = ("ansi2html", "highlight_code")  # filters that escape what they mark up


class SubmissionPage(HTMLExporter):
    """nbgrader's page of a submission, from templates that escape everything."""

    def _create_environment(self) -> Any:
        environment = super()._create_environment()
        environment.autoescape = True
        environment.filters |= {"clean_html": harmless, "strip_files_prefix": lambda text: text}
        return environment

    def _register_filter(self, environ: Any, name: str, jinja_filter: Any) -> Any:
        if name in ESCAPED:
            return super()._register_filter(environ, name, _marked(jinja_filter))
        return super()._register_filter(environ, name, jinja_filter)

    @pass_context
    def markdown2html(self, context: Any, source: str) -> Markup:
        """Return a text as HTML."""
        return harmless(super().markdown2html(context, source))

    def _preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        made, known = super()._preprocess(nb, resources)
        known["inlining"]["css"] = [Markup(style) for style in known["inlining"]["css"]]
        return shown(made), known


def _marked(jinja_filter: Callable[..., str]) -> Callable[..., Markup]:
    def marked(*arguments: Any, **named: Any) -> Markup:
        return Markup(jinja_filter(*arguments, **named))

    return marked


def harmless(text: str) -> Markup:
    """Return HTML with its words and looks; no address, script or form is left in it."""
    cleaned = clean(text, TAGS, _is_kept, protocols=["data"], strip=True, css_sanitizer=STYLES)
    return Markup(cleaned)


def _is_kept(tag: str, name: str, value: str) -> bool:
    if tag == "img" and name == "src":
        return value.startswith(tuple(f"data:{kind};base64," for kind in PICTURES))
    return name in ATTRIBUTES


def shown(notebook: Any) -> NotebookNode:
    """Return a notebook with what pages may show, as plain text, clean HTML and pictures."""
    cells = [NotebookNode(_cell(cell)) for cell in notebook.cells]
    return NotebookNode(notebook, cells=cells, metadata=NotebookNode())


def _cell(cell: Any) -> Iterator[tuple[str, Any]]:
    metadata = NotebookNode()
    if "nbgrader" in cell.metadata:
        metadata.nbgrader = cell.metadata.nbgrader
    yield from {"cell_type": cell.cell_type, "source": cell.source, "metadata": metadata}.items()
    if "id" in cell:
        yield "id", cell.id
    if cell.get("attachments"):
        kept = {name: _pictures(found) for name, found in cell.attachments.items()}
        yield "attachments", NotebookNode(kept)
    if cell.cell_type == "code":
        yield "execution_count", cell.execution_count or "\xa0"  # as wide as a number
        yield "outputs", [found for output in cell.outputs for found in _outputs(output)]


def _outputs(output: Any) -> Iterator[NotebookNode]:
    if output.output_type in ("stream", "error"):
        yield output
        return
    texts = {kind: text for kind, text in output.data.items() if kind == "text/plain"}
    if "text/html" in output.data:
        texts = {"text/html": harmless(output.data["text/html"])}
    kinds = _pictures(output.data) or texts
    for kind, content in kinds.items():
        data = NotebookNode({kind: content})
        yield NotebookNode(output, data=data, metadata=NotebookNode())


def _pictures(data: Any) -> NotebookNode:
    """Return what is a picture by its letters, too: they stand in an attribute of the page."""
    found = {kind: "".join(str(data[kind]).split()) for kind in PICTURES if kind in data}
    return NotebookNode({kind: text for kind, text in found.items() if _is_base64(text)})


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except ValueError:
        return False
