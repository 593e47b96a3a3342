"""Why a cell cannot be read: its line, the odd character, and what to type in its place."""

import pytest

from grader.static_analysis.cells import is_readable
from grader.static_analysis.syntax import why_unreadable

BEGIN = "def f(x):\n    y = 1\n"
ODD = {
    "    return x\u00a0+ 1": ("U+00A0 (no-break space)", "a space"),
    "    return x\u3000+ 1": ("U+3000 (ideographic space)", "a space"),
    "    return \u201cx\u201d": ("U+201C (left double quotation mark)", '`"`'),
    "    return \u2018x\u2019": ("U+2018 (left single quotation mark)", "`'`"),
    '    return "x\u201d': ("U+201D (right double quotation mark)", '`"`'),
    "    return \u00abx\u00bb": ("U+00AB (left-pointing double angle quotation mark)", '`"`'),
    "    return x \u2212 1": ("U+2212 (minus sign)", "`-`"),
    "    return x \u2013 1": ("U+2013 (en dash)", "`-`"),
    "    return x \u00d7 y": ("U+00D7 (multiplication sign)", "`*`"),
    "    return x \u2265 y": ("U+2265 (greater-than or equal to)", "`>=`"),
    "    return x\u00b2": ("U+00B2 (superscript two)", "`**2`"),
    "    return f\uff08x\uff09": ("U+FF08 (fullwidth left parenthesis)", "`(`"),
    "    \uff52\uff45\uff54\uff55\uff52\uff4e x": (
        "U+FF52 (fullwidth latin small letter r)",
        "`r`",
    ),
    "    return x\u200b": ("U+200B (zero width space)", "delete it"),
    "    return x\ufeff": ("U+FEFF (zero width no-break space)", "delete it"),
    "    return x\u00ad1": ("U+00AD (soft hyphen)", "delete it"),
    "    return x\0": ("U+0000", "delete it"),
    "    return 5\u20ac": ("U+20AC (euro sign)", "delete it"),
}
PLAIN = {
    "\treturn x": "tabs and spaces are mixed",
    "   return x": "unindent does not match",
    "    return (x": "'(' was never closed",
    "    return 'x": "unterminated string literal",
    "    if x = 1: pass": "Maybe you meant '=='",
    "    if x\n        pass": "expected ':'",
}


@pytest.mark.parametrize("line", ODD, ids=ascii)
def test_an_odd_character_is_told_with_its_line_and_what_to_type(line):
    assert not is_readable(BEGIN + line)
    found = why_unreadable(BEGIN + line)
    name, instead = ODD[line]
    assert found.line == 3
    assert f"it holds {name}" in found.why or name == "U+0000"
    assert instead in found.why


@pytest.mark.parametrize("line", PLAIN, ids=ascii)
def test_any_other_error_is_told_in_python_s_words_with_its_line(line):
    found = why_unreadable(BEGIN + line)
    assert PLAIN[line] in found.why
    assert found.line == 3
    assert "it holds" not in found.why


def test_what_a_text_or_a_comment_holds_is_no_reason():
    found = why_unreadable("f('\u201cx\u201d' +)  # \u2212")
    assert (found.line, found.why) == (1, "invalid syntax")


@pytest.mark.parametrize("head", ["%%time", "%%capture out", "\n%%time"])
def test_below_a_magic_lines_keep_their_numbers(head):
    lines = head.count("\n") + 1
    assert why_unreadable(f"{head}\n{BEGIN}    return x\u00a0+ 1").line == lines + 3


def test_what_is_too_deep_or_has_too_many_magics_is_told_as_that():
    assert why_unreadable(f"x = {'-' * 10_000}1") == (
        0,
        "it is too long or too deeply nested to be read",
    )
    assert "magics" in why_unreadable("!ls\n" * 600).why
