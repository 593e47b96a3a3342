"""What of a student's texts and pictures reaches the pages that instructors open."""

import base64
import itertools
import random

import pytest
from bs4 import BeautifulSoup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from grader.reading.own_process import in_own_process
from grader.recording.sanitize import (
    CUT,
    MOST_IN_ALL,
    MOST_IN_CELL,
    MOST_PICTURES,
    NO_PICTURE,
    StudentTexts,
    encodable,
    safe_note,
)

PNG = base64.b64encode(b"\x89PNG and so on").decode()
SCRIPTS = [
    "<script>alert(1)</script>",
    "a <ScRiPt >alert(1)</script>",
    "<iframe src='https://example.org'></iframe>",
    "<img src=x onerror=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<svg/onload=alert(1)>",
    "<\ud800script>alert(1)</script>",
    "x <!-- --><b onclick=alert(1)>",
    "```mermaid\n<img src=x onerror=alert(1)>\n```",
    "```x\" onclick=\"alert(1)\ncode\n```",
    "$$<img src=x onerror=alert(1)>$$",
    "\\begin{a}<img src=x onerror=alert(1)>\\end{a}",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](<java\tscript:alert(1)>)",
    "[a](javascript\\:alert(1))",
    "[a](javascript&colon;alert(1))",
    "[a](javascript&amp;colon;alert(1))",
    "[a](java&#x73;cript:alert(1))",
    "[a](java&Tab;script:alert(1))",
    "[a]: javascript:alert(1)\n\n[a]",
    "<javascript:alert(1)>",
    "![a](javascript:alert(1))",
    '[a](b "\\" onclick=\\"alert(1)")',
    '![" onerror="alert(1)](b)',
    '![a](attachment:p.png" onerror="alert(1))',
]  # fmt: skip
HARMLESS_TAGS = {"p", "em", "code", "pre", "span", "div", "img", "b", "table", "li", "ul"}


def page(text, pictures):
    """The part of a page that nbconvert makes of one text."""
    renderer = IPythonRenderer(escape=False, attachments=pictures)
    return BeautifulSoup(MarkdownWithMath(renderer).render(text), "html.parser")


def shown(source, attachments=None, ours=()):
    return StudentTexts(ours).shown(source, attachments)


@pytest.mark.parametrize("source", SCRIPTS, ids=ascii)
def test_a_text_that_carries_a_script_becomes_a_page_without_one(source):
    attachments = {'p.png" onerror="alert(1': {"image/png": PNG}, "p.png": {"image/png": PNG}}
    assert_harmless(page(*shown(source, attachments)))


@pytest.mark.parametrize("words", SCRIPTS, ids=ascii)
def test_a_note_that_quotes_a_script_becomes_a_page_without_one(words):
    assert_harmless(page(f"- {safe_note(f'Cell 1 ({words}, `1 / 0`) failed.')}", {}))


def test_a_usual_note_stays_as_it_is():
    note = "Cell 1 (attend, `a = x[0] * 2`) failed with NameError in line 1, `a = x[0] * 2`."
    assert safe_note(note) == note


def assert_harmless(found):
    for tag in found.find_all(True):
        assert tag.name in HARMLESS_TAGS
        assert not [name for name in tag.attrs if name.startswith("on")]
        urls = [str(tag.get(name, "")).lower() for name in ("href", "src")]
        assert not any("script:" in "".join(url.split()) for url in urls)


def test_the_lessons_own_text_stays_as_it_is():
    ours = "<details><summary>Hint</summary>x</details>"
    assert shown(ours, ours={ours}) == (ours, {})


@pytest.mark.parametrize(
    "text",
    [
        "$a < b$ and $x^2$", "`a < b` & *c*", "> y", "| a | b |\n|---|---|\n| 1 | [2] |",
        "The data: 3 files. My file: none.", "$\\displaystyle\\classical$ and x[0] * 2",
    ],
)  # fmt: skip
def test_an_honest_text_stays_as_it_is(text):
    assert shown(text) == (text, {})


@pytest.mark.parametrize("link", ["image.png", "my%20image.png", "<my image.png>", 'image.png "t"'])
@pytest.mark.parametrize("kind", ["image/png", "image/jpeg"])
def test_a_pasted_picture_is_on_the_page(link, kind):
    link = f"<attachment:{link[1:]}" if link.startswith("<") else f"attachment:{link}"
    attachments = {"image.png": {kind: PNG}, "my image.png": {kind: PNG}}
    text, pictures = shown(f"see ![mine]({link}) there", attachments)
    image = page(text, pictures).find("img")
    assert (image["src"], image["alt"]) == (f"data:{kind};base64,{PNG}", "mine")


@pytest.mark.parametrize(
    "attachments",
    [
        None, [], {}, {"image.png": 3}, {"image.png": {"image/png": 3}},
        {"image.png": {"image/svg+xml": "<svg onload='alert(1)'/>"}},
        {"image.png": {"image/png": '"><script>alert(1)</script>'}},
        {"image.png": {"image/png": base64.b64encode(bytes(MOST_PICTURES + 1)).decode()}},
    ],
    ids=["none", "a list", "empty", "a number", "no text", "SVG", "not base64", "too large"],
)  # fmt: skip
def test_a_picture_that_is_not_kept_is_replaced_by_a_sentence(attachments):
    assert shown("![image.png](attachment:image.png)", attachments) == (NO_PICTURE, {})


def test_pictures_beyond_the_bound_of_a_notebook_are_replaced_by_a_sentence():
    half = {"p": {"image/png": base64.b64encode(bytes(MOST_PICTURES // 2)).decode()}}
    texts = StudentTexts(())
    found = [texts.shown("![p](attachment:p)", half)[0] for _ in range(3)]
    assert [text == NO_PICTURE for text in found] == [False, False, True]


@pytest.mark.parametrize(
    "source", ["![a][b]\n\n[b]: attachment:c", "![a](&#97;ttachment:b)", "![a](attachment\\:b)"]
)
def test_a_hidden_reference_to_no_picture_does_not_stop_the_page(source):
    assert page(*shown(source))


def test_a_text_that_is_too_long_is_cut_and_says_so():
    text, _ = shown("a" * (MOST_IN_CELL + 1))
    assert text == "a" * MOST_IN_CELL + CUT
    assert shown("a" * MOST_IN_CELL)[0] == "a" * MOST_IN_CELL


def test_many_long_texts_are_cut_together():
    texts = StudentTexts(())
    lengths = [len(texts.shown("[" * MOST_IN_CELL, None)[0]) for _ in range(20)]
    assert sum(lengths) <= MOST_IN_ALL + 20 * len(CUT)


def test_lone_surrogates_become_question_marks():
    assert encodable("a\ud800b é") == "a?b é"
    assert shown("a\udfffb")[0] == "a?b"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("see [the paper](https://example.org/a(b)) there", "see [the paper] there"),
        ("[me](</formgrader?path=submitted/me> 'there')", "[me]"),
        ("[me][1]\n\n[1]: //example.org 'there'", "[me][1]\n\n[1] 'there'"),
        ("> [me]:\n> https://example.org\n\n[me]", "> [me]\n\n[me]"),
        ("[![p](//x/y)](https://example.org)", "[![p]]"),
    ],
)
def test_a_link_keeps_its_text_and_loses_its_address(source: str, text: str):
    assert shown(source) == (text, {})


def test_what_only_looks_like_a_link_keeps_its_words():
    assert shown("$W[i](x)$, as in [3]: the mask")[0] == "$W[i] (x)$, as in [3] : the mask"


REMOTE = [
    "![a](https://example.org/a.png)",
    "![a][b]\n\n[b]: https://example.org/a.png",
    "![b]\n\n[b]: //x/y",
    "![a](attachment:picture-1 '![a](https://example.org)')",
    "[![a](//x/y)](https://example.org)",
]
ADDRESSES = [
    "https://example.org", "//example.org", "/formgrader?path=submitted/me", "me.html", "#x", "me",
    "data:text/html,x", "FILE:///x", "d&#97;ta:x", "javascript&colon;alert(1)",
    "java\tscript:a", "data:text/html;base64,PGI+", "www.example.org", "me@example.org",
    "\\javascript:a", "&#x2f;x",
]  # fmt: skip


@pytest.mark.parametrize("text", REMOTE)
def test_no_picture_is_loaded_from_elsewhere(text: str):
    shown, _ = StudentTexts([]).shown(text, {})
    page = MarkdownWithMath(renderer=IPythonRenderer(escape=False)).render(shown)
    assert not BeautifulSoup(page, "html.parser").find_all("img")


FORMS = ["[a]({})", "[a](<{}>)", "[a]( {} 'b')", "[a]: {}\n\n[a]", "<{}>", "![a]({})"]
BETWEEN = [  # what markdown leaves out between a link's mark and its address
    "> [a]:\n> {}\n\n[a]", ">[a]:\n>{}\n\n[a]", "> > [a]:\n> > {}\n\n[a]",
    ">>> [a]:\n>> {}\n\n[a]", "- [a]:\n\n  {}\n\n[a]", "- [a]:\n  {}\n\n[a]",
    "1. > [a]:\n   > {}\n\n[a]", "> - [a]:\n>   {}\n\n[a]", "> [a]:\n> <{}>\n\n[a]",
    "> [a]:\n>\t{}\n\n[a]", "[a]:\r\n{}\n\n[a]", "> [a](\n> {})", "> > [a](\n> > <{}>)",
    "- [a](\n  {})", "> [a]\\\n> ({})", "[a]:\f{}\n\n[a]", "> [a]:\n{}\n\n[a]",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES, ids=ascii)
@pytest.mark.parametrize("form", [*FORMS, *BETWEEN], ids=ascii)
def test_nothing_leads_or_loads_whatever_the_address(address: str, form: str):
    assert not leads_or_loads(page(*shown(form.format(address), {})))


@pytest.mark.parametrize("text", ["https://example.org/a", "ftp://x.org", "$\\href{//x}{y}$"])
def test_a_bare_address_is_text(text: str):
    found = page(*shown(f"see {text} there"))
    assert found.find("a") is None
    assert text not in found.get_text()


PARTS = ("[a]:", "[a](", "/x", "\n", "> ", "- ", "  ", "<", ">", "!", "\n\n[a]")


def test_no_row_of_marks_makes_a_link():
    """One in thirty of all rows of five, with a use of the name at its end."""
    rows = ["".join(row) for row in itertools.product(PARTS, repeat=5) if "/x" in row]
    some = random.Random(4).sample(rows, len(rows) // 30)
    texts = [f"{row})\n\n[a]" for row in some]
    open_ones = [text for text in texts if leads_or_loads(page(text, {}))]
    assert len(open_ones) > 20
    assert [text for text in texts if leads_or_loads(page(*shown(text)))] == []


def leads_or_loads(found) -> bool:
    """Whether a link or a picture is left, besides the marks that headings get."""
    return bool(found.select("img, a:not(.anchor-link)"))


@pytest.mark.parametrize("text", ["&#{};", "[a](x&#{}y)", "&amp;#{};"])
def test_a_character_of_more_digits_than_python_reads_stops_no_page(text: str):
    assert not leads_or_loads(page(*shown(text.format("9" * 5000))))


REPEATED = [
    "<", "< ", "<\t", "> ", "](", "]:", "](<", "](> ", "![", "![](", "![](attachment:", "&", "&#",
    "\\", "[", "data:", "]:data", "attachment:", "](a", "](a(", "]((", "]: ", "]:>", "://", "www.",
    "\\href",
]  # fmt: skip


@pytest.mark.parametrize("part", REPEATED, ids=ascii)
def test_a_text_of_one_mark_over_and_over_is_looked_through_within_a_second(part: str):
    """Work that grows with the square takes twelve; past its second a process is ended."""
    text = part * (MOST_IN_CELL // len(part))

    def work() -> bytes:
        return shown(text)[0].encode()

    assert in_own_process(work, cpu_seconds=1)
