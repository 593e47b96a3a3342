"""What an answer prints and is warned of: told once, after the verdict."""

import linecache
import warnings

import pytest

from utils.checks.exercise import Probe, case
from utils.checks.observe.heard import Heard, listening, silence
from utils.checks.observe.observe import observe_all
from utils.checks.render import as_html, as_text
from utils.checks.verdict import Note, Verdict


def printing(*lines: str) -> Heard:
    with listening() as heard:
        for line in lines:
            print(line)
    return heard


def test_a_few_lines_of_what_was_printed_are_told_and_the_rest_is_counted():
    (note,) = printing(*map(str, range(50))).notes()
    assert note.says == "Your code printed 50 lines, all calls together; the first are:"
    assert note.lines == ("0", "1", "2")


def test_a_single_line_is_told_as_such(capsys):
    assert printing("here").notes() == (Note("Your code printed 1 line:", ("here",)),)
    assert capsys.readouterr().out == ""


def test_an_endless_print_takes_no_endless_room():
    heard = printing("x" * 99_999, *(["y" * 1000] * 500))
    assert len(heard.printed.getvalue()) < 110_000


@pytest.mark.parametrize("text", ["a\n" * 350_000, "a\n" * 349_999 + "a"])
def test_all_lines_are_counted_though_not_all_are_kept(text: str):
    with listening() as heard:
        print(text, end="")
    (note,) = heard.notes()
    assert note.says.startswith("Your code printed 350,000 lines, ")


def test_a_line_that_is_printed_in_parts_is_one():
    with listening() as heard:
        print("a", "b", end="")
        print("c")
        print("d", end="")
    assert heard.notes()[0].says == "Your code printed 2 lines:"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Short one. It goes on.", "UserWarning: Short one."),
        ("word " * 100, f"UserWarning: {'word ' * 27}..."),
    ],
)
def test_a_long_warning_is_told_by_its_first_sentence(monkeypatch, words: str, told: str):
    monkeypatch.setattr("utils.checks.observe.heard.line_now", lambda: "x.view(2)")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with listening() as heard:
            warnings.warn(words, stacklevel=1)
    assert heard.notes()[0].says == f"Python warns. {told}"


def test_nothing_is_told_of_an_answer_that_is_silent():
    assert Heard().notes() == ()


def test_a_warning_without_a_line_of_the_students_is_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with listening() as heard:
            warnings.warn("of the course", stacklevel=1)
    assert heard.notes() == ()


def test_silence_hides_prints_and_warnings(capsys):
    with silence(), warnings.catch_warnings(record=True) as heard:
        print("here")
        warnings.warn("careful", stacklevel=1)
    assert heard == []
    assert capsys.readouterr().out == ""


STUDENT = """import warnings
def answer(x):
    warnings.warn("odd (Triggered internally at /a.cpp:1.)")
    return x
"""


@pytest.fixture
def warned():
    """What is told of an answer that warns, with a path as torch adds it."""
    lines = STUDENT.splitlines(keepends=True)
    linecache.cache["<a cell>"] = (len(STUDENT), None, lines, "<a cell>")
    namespace: dict[str, object] = {}
    exec(compile(STUDENT, "<a cell>", "exec"), namespace)
    probe = Probe("same", dict, lambda answer, i: {"y": answer(1)}, (case("one"),), gradient=False)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with listening() as heard:
            observe_all(probe, probe.cases, namespace["answer"])
    return heard.notes()


def test_a_warning_is_told_with_the_students_line_and_without_a_path(warned):
    (note,) = warned
    assert note.says == "Python warns. UserWarning: odd"
    assert note.lines[0].startswith('in your line: warnings.warn("odd')


def test_notes_stand_below_a_verdict_as_text_and_as_html():
    verdict = Verdict("twice", (), notes=(Note("Your code printed 1 line:", ("<here>",)),))
    assert as_text(verdict).endswith("Your code printed 1 line:\n  <here>")
    assert "&lt;here&gt;" in as_html(verdict)
