"""Names and ids that would do something where they are shown."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course.safe_text import FORMULA, cell, csv_text, line, lines, markup


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "＝"])
def test_a_text_that_begins_like_a_formula_does_so_no_more(start):
    assert cell(f"{start}1+1").startswith("'")


@pytest.mark.parametrize("text", ["ada", "b,en", 'Quote "Q"', "Müller", "a=b", "O'Neill", ""])
def test_any_other_text_stays_as_it_is(text):
    assert cell(text) == text


def test_numbers_stay_numbers_and_nothing_is_an_empty_cell():
    assert (cell(-1.5), cell(0), cell(None)) == (-1.5, 0, "")


@given(st.lists(st.lists(st.text(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_every_table_is_read_back_with_the_cells_it_was_written_with(rows):
    text = csv_text(rows)
    assert list(csv.reader(io.StringIO(text))) == [[cell(value) for value in row] for row in rows]
    assert not any(
        value.startswith(FORMULA) for row in csv.reader(io.StringIO(text)) for value in row
    )


def test_a_semicolon_splits_no_cell_for_a_program_that_splits_there():
    assert csv_text([["a;=1+1"]]) == '"a;=1+1"\n'


def test_a_terminal_gets_no_control_characters_and_no_turned_text():
    assert line("a\x1b[31m\nb\u202ec\ud800") == r"a\x1b[31m\nb\u202ec\ud800"


def test_letters_of_all_languages_stay():
    assert line("Müller 李 می‌خواهم") == "Müller 李 می‌خواهم"  # the last has a joiner inside


@pytest.mark.parametrize("mark", ["\u200b", "\u200d", "\u2060", "\ufeff", "\xad"])
def test_a_mark_without_a_width_is_shown_for_with_it_an_id_looks_like_anothers(mark):
    code = mark.encode("unicode_escape").decode()
    assert line(f"a{mark}da") == lines(f"a{mark}da") == f"a{code}da"


def test_a_joiner_that_changes_what_is_seen_stays():
    assert line("क्\u200dष \U0001f469\u200d\U0001f52c") == "क्\u200dष \U0001f469\u200d\U0001f52c"


def test_a_page_gets_no_markup():
    assert markup('<b a="x">&\x1b') == "&lt;b a=&quot;x&quot;&gt;&amp;\\x1b"
