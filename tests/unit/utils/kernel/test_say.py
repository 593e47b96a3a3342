"""What the course says to a student: a box in a notebook, lines of text elsewhere."""

import pytest

from tests.unit.utils.kernel.kernel import Kernel
from utils.kernel.runs import GRADING
from utils.kernel.say import as_bundle, said_meanwhile, say

USE = "from utils.kernel.say import say, said_meanwhile\n"


def test_elsewhere_lines_are_printed(capsys):
    say("One `line`.", "Another.")
    assert capsys.readouterr().out == "One `line`.\nAnother.\n"


def test_the_page_breaks_between_words_and_shows_code_as_code():
    page = as_bundle(['Run `lend("x")` & <go>.'])["text/html"]
    assert "<code>lend(&quot;x&quot;)</code> &amp; &lt;go&gt;." in page
    assert "<pre" not in page and "border-left" in page


def test_a_line_that_is_shown_meanwhile_is_taken_away(capsys):
    with said_meanwhile("wait"):
        pass
    assert capsys.readouterr().out == "wait\r    \r"


@pytest.mark.parametrize(
    "code",
    [
        "say('words that are long')",
        "from utils.notebook.lend import lend\nlend('split_heads')",
        "from utils.notebook.carry import carry\n_ = carry('02_attention', 'TokenEmbedding')",
        "for _ in range(3):\n    check.stable_softmax(lambda x, dim=-1: x)",
    ],
)
def test_in_a_notebook_nothing_that_is_said_is_a_stream(kernel: Kernel, code: str):
    shown = kernel.run(USE + code)
    assert shown.pages and len(shown.pages) == len(shown.texts)
    assert all("border-left" in page for page in shown.pages)


@pytest.mark.parametrize("variable", GRADING)
def test_while_grading_a_notebook_holds_text(kernel: Kernel, variable: str):
    setting = (
        f"import os\nos.environ[{variable!r}] = '1'\nsay('words')\ndel os.environ[{variable!r}]"
    )
    shown = kernel.run(USE + setting)
    assert (shown.texts, shown.pages) == (["words\n"], [])
