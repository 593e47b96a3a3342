"""What of a submission reaches the page on which an instructor grades it by hand."""

import base64
from functools import cache
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

from grader.formgrader.submission_page import SubmissionPage, harmless
from tests.unit.utils.checks.test_render import VERDICTS, contrast, pairs, rgb
from utils.checks.render import as_html

PNG = base64.b64encode(b"\x89PNG and so on").decode()
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img src='https://example.org/a.png'>",
    "<img src=/formgrader?path=submitted/me/l>",
    "<img src='data:image/svg+xml;base64,PHN2Zz4='>",
    "<img srcset='//example.org/a 1x'>",
    "<picture><source srcset=//example.org/a></picture>",
    "<iframe src=//example.org></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=//example.org></object>",
    "<embed src=//example.org>",
    "<svg onload=alert(1)><a href=//x><text>a</text></a><image href=//example.org /></svg>",
    "<math><maction actiontype=statusline xlink:href=//example.org>a</maction></math>",
    "<form action=//example.org><button formaction=//x>a</button><input type=image src=//x></form>",
    "<p style='background: url(//example.org)'>a</p>",
    "<p style='background-color: red; list-style: url(//example.org)'>a</p>",
    "<style>@import '//example.org'; * { background: url(//example.org) }</style>",
    "<link rel=stylesheet href=//example.org>",
    "<meta http-equiv=refresh content='0; url=//example.org'>",
    "<base href=//example.org>",
    "<a href='javascript:alert(1)'>me</a>",
    "<a href='https://example.org'>me</a>",
    "<video src=//example.org poster=//x></video><audio src=//x></audio>",
    "<input class=score id=test_a value=9><textarea id=a-comment></textarea>",
    "<div id=a-comment class=nbgrader_cell>a</div>",
    "<table background=//example.org><tr><td background=//x>a</td></tr></table>",
    "<details open ontoggle=alert(1)><summary>a</summary></details>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<template><img src=x onerror=alert(1)></template>",
]  # fmt: skip
LINKS = [
    "[me](https://example.org)", "[me](javascript:alert(1))", "[me](/formgrader?path=a)",
    "![me](https://example.org/a.png)", "![me](/formgrader?path=a)", "<https://example.org>",
    "[me][1]\n\n[1]: //example.org", "https://example.org", "# A heading",
]  # fmt: skip
RESOURCES: dict[str, Any] = {
    "assignment_id": "l", "notebook_id": "l", "submission_id": "s", "index": 0, "total": 1,
    "base_url": "", "student": "me", "last_name": "O", "first_name": "A",
    "notebook_path": "autograded/me/l/l.ipynb",
}  # fmt: skip


@cache
def exporter() -> SubmissionPage:
    settings = Config()
    settings.HTMLExporter.template_name = "formgrade"
    settings.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    return SubmissionPage(config=settings)


def page(*cells: Any, **resources: Any) -> BeautifulSoup:
    notebook = nbformat.from_dict(new_notebook(cells=list(cells)))
    made, _ = exporter().from_notebook_node(notebook, resources=RESOURCES | resources)
    return BeautifulSoup(made, "html.parser")


@cache
def own_scripts() -> list[str]:
    return [str(tag) for tag in page().find_all("script")]


def code(**output: Any) -> Any:
    made = new_output("display_data", **output)
    return new_code_cell("x = '<b>'", outputs=[made], execution_count=1)


def of_notebook(found: BeautifulSoup) -> Tag:
    """The part of the page that shows the notebook."""
    part = found.select_one("#notebook-container")
    assert isinstance(part, Tag)
    return part


def assert_harmless(found: BeautifulSoup) -> None:
    """Nothing runs, loads, leads elsewhere or looks like one of formgrader's fields."""
    assert [str(tag) for tag in found.find_all("script")] == own_scripts()
    assert [tag["src"] for tag in found.select("img[src]") if not is_picture(tag)] == []
    for tag in of_notebook(found).find_all(True):
        assert tag.name not in ("a", "iframe", "object", "embed", "svg", "math", "form", "input")
        assert tag.name not in ("link", "meta", "base", "style", "video", "audio", "source")
        assert not [name for name in tag.attrs if name.startswith("on") or name == "background"]
        assert not {"href", "srcset", "srcdoc", "action", "formaction", "data"} & tag.attrs.keys()
        assert "url" not in tag.get("style", "")
    assert found.select(".score, .comment, .nbgrader_cell") == []


def is_picture(tag: Tag) -> bool:
    return str(tag["src"]).startswith(("data:image/png;base64,", "data:image/jpeg;base64,"))


@pytest.mark.parametrize("text", [*HOSTILE, *LINKS], ids=ascii)
def test_nothing_in_a_text_acts(text: str) -> None:
    assert_harmless(page(new_markdown_cell(text), new_raw_cell(text)))


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("kind", ["text/html", "text/markdown", "image/svg+xml"])
def test_nothing_in_an_output_acts(text: str, kind: str) -> None:
    assert_harmless(page(code(data={kind: text})))
    isolated = {kind: {"isolated": True}}
    assert_harmless(page(code(data={kind: text}, metadata=isolated)))


@pytest.mark.parametrize(
    "output",
    [
        {"data": {"application/javascript": "alert(1)"}},
        {"data": {"image/png": '"><script>alert(1)</script>'}},
        {"data": {"image/png": PNG}, "metadata": {"image/png": {"width": "1 onerror=alert(1)"}}},
        {"data": {"image/png": PNG}, "metadata": {"filenames": {"image/png": "//example.org"}}},
    ],
)
def test_no_script_or_size_of_an_output_acts(output: dict[str, Any]) -> None:
    assert_harmless(page(code(**output)))


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_nothing_printed_or_raised_acts(text: str) -> None:
    outputs = [
        new_output("stream", text=text),
        new_output("error", ename="E", evalue="", traceback=[text]),
    ]
    assert_harmless(page(new_code_cell(text, outputs=outputs)))


@pytest.mark.parametrize("text", [*HOSTILE, "O'Neill", 'a "b" & <c>'], ids=ascii)
@pytest.mark.parametrize("where", ["first_name", "last_name", "student"])
def test_a_name_is_told_as_it_is_and_does_nothing(text: str, where: str) -> None:
    names = {"last_name": None, "first_name": None} if where == "student" else {}
    found = page(**names, **{where: text})
    assert_harmless(found)
    told = found.select_one("a.name-shown")
    assert told is not None
    assert text in told.get_text()


def test_a_notebooks_own_metadata_brings_nothing() -> None:
    cell = new_markdown_cell("a", metadata={"tags": ['"><script>alert(1)</script>']})
    cell["id"] = "a"
    assert_harmless(page(cell))


def test_a_verdict_keeps_its_words_and_looks() -> None:
    verdict = (
        "<div style='color: var(--jp-error-color1, #c62828); margin-top: 4px;'><b>✗</b> "
        "<code>a &lt; b</code><table><tr><td style='text-align: left;'>1</td></tr></table></div>"
    )
    found = of_notebook(page(code(data={"text/html": verdict, "text/plain": "a"})))
    assert found.select_one("table td") is not None
    (block,) = [tag for tag in found.find_all("div") if "c62828" in tag.get("style", "")]
    assert block.get_text().startswith("✗ a < b")


def properties(page: BeautifulSoup) -> set[str]:
    """What the styles of a page set."""
    rules = [rule for tag in page.find_all(style=True) for rule in str(tag["style"]).split(";")]
    return {rule.partition(":")[0].strip() for rule in rules}


def attributes(page: BeautifulSoup) -> list[list[str]]:
    return [list(tag.attrs) for tag in page.find_all(True) if tag.attrs]


@pytest.mark.parametrize("name", VERDICTS)
def test_a_card_is_read_as_well_as_in_a_notebook_and_keeps_its_names(name: str) -> None:
    made = as_html(VERDICTS[name])
    found = BeautifulSoup(harmless(made), "html.parser")
    looks = [(rgb(ink, {}), rgb(ground, {})) for _, ink, ground in pairs(found)]
    assert min(contrast(*look) for look in looks) >= 4.5
    asked = BeautifulSoup(made, "html.parser")
    assert attributes(found) == attributes(asked)
    lost = properties(asked) - properties(found)
    assert lost <= {"-webkit-print-color-adjust", "print-color-adjust"}


def test_pasted_pictures_and_plots_are_shown() -> None:
    text = new_markdown_cell("![mine](attachment:p)", attachments={"p": {"image/png": PNG}})
    shown = page(text, code(data={"image/png": PNG, "text/plain": "<Figure>"})).select("img")
    assert [tag["src"] for tag in shown] == [f"data:image/png;base64,{PNG}"] * 2


def test_code_and_mathematics_stay_as_they_were() -> None:
    found = of_notebook(page(new_markdown_cell("$a < b & c$"), new_code_cell("x = a < b & c")))
    assert "$a < b & c$" in found.get_text()
    assert "x = a < b & c" in " ".join(found.get_text().split())


def test_fields_for_score_and_comment_stand_at_the_courses_cells() -> None:
    answer = {"grade": False, "solution": True, "locked": False, "grade_id": "a"}
    test = {"grade": True, "solution": False, "locked": True, "grade_id": "test_a", "points": 2}
    known: dict[str, Any] = {"schema_version": 3, "task": False}
    found = page(
        new_code_cell("x", metadata={"nbgrader": answer | known}),
        new_code_cell("y", metadata={"nbgrader": test | known}),
    )
    assert found.select_one("input.score#test_a") is not None
    assert found.select_one("textarea.comment#a-comment") is not None
    assert "/ 2.0" in found.get_text()
