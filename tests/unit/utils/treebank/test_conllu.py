"""Reading Universal Dependencies files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.treebank.conllu import ConlluError, read_conllu, tag_of

TREEBANKS = Path(__file__).resolve().parents[5] / "shared" / "data" / "ud"
# Sentences and words, counted by those who publish the files or by `grep -c`.
COUNTS = {
    "UD_Czech-CAC/cs_cac-ud-dev.conllu": (603, 10912),
    "UD_Czech-CAC/cs_cac-ud-test.conllu": (628, 10862),
    "UD_Czech-CLTT/cs_cltt-ud-train.conllu": (467, 13894),
    "UD_Czech-PUD/cs_pud-ud-test.conllu": (1000, 18609),
    "UD_Czech-Poetry/cs_poetry-ud-test.conllu": (297, 6289),
}
NO_CASE = "Mood=Ind|Number=Sing"
words = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\t\n\r"), min_size=1
)
tags = st.sampled_from(["NOUN|Gen", "VERB", "ADP|Loc", "X"])
sentences = st.lists(st.tuples(words, tags), min_size=1, max_size=4)


def line(number, word, tag):
    """A word's line, as the format has it."""
    part, _, case = tag.partition("|")
    features = f"Animacy=Inan|Case={case}|Number=Sing" if case else NO_CASE
    return "\t".join([str(number), word, "_", part, "_", features, "_", "_", "_", "_"])


def text_of(content):
    """A file's text, with a comment and an empty line for each sentence."""
    blocks = [
        "\n".join(["# text = ...", *(line(n, *pair) for n, pair in enumerate(sentence, 1))])
        for sentence in content
    ]
    return "".join(block + "\n\n" for block in blocks)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "xx_made-ud-train.conllu"


def error_of(file, text):
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConlluError) as caught:
        read_conllu(file)
    return str(caught.value)


@pytest.mark.parametrize("name", COUNTS)
def test_real_files_have_the_published_numbers_of_sentences_and_words(name):
    if not TREEBANKS.is_dir():
        pytest.skip("no treebanks in ../shared/data/ud")
    read = read_conllu(TREEBANKS / name)
    assert (len(read), sum(map(len, read))) == COUNTS[name]


@given(content=st.lists(sentences, min_size=1, max_size=3))
def test_what_was_written_is_read(content, tmp_path_factory):
    file = tmp_path_factory.mktemp("conllu") / "x.conllu"
    file.write_text(text_of(content), encoding="utf-8", newline="")
    assert read_conllu(file) == content


def test_words_written_together_and_words_not_written_are_passed_over(file):
    lines = [
        line("1-2", "aby", "_"),
        line(1, "aby", "SCONJ"),
        line(2, "by", "AUX"),
        line("2.1", "je", "AUX"),
        line(3, "domu", "NOUN|Gen"),
    ]
    file.write_text("\n".join(lines) + "\n\n")
    assert read_conllu(file) == [[("aby", "SCONJ"), ("by", "AUX"), ("domu", "NOUN|Gen")]]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(file):
    content = [[("jde", "VERB"), ("domů", "ADV")], [("v", "ADP|Loc")]]
    file.write_bytes(b"\xef\xbb\xbf" + text_of(content).replace("\n", "\r\n").encode())
    assert read_conllu(file) == content


def test_a_case_is_read_wherever_it_stands():
    assert tag_of("NOUN", "Case=Gen") == "NOUN|Gen"
    assert tag_of("DET", "Animacy=Anim|Case=Acc") == "DET|Acc"
    assert tag_of("VERB", "SubCase=Gen|Tense=Pres") == "VERB"
    assert tag_of("X", "_") == "X"


def test_a_line_with_other_than_ten_columns_is_an_error_with_its_number(file):
    good = text_of([[("a", "X"), ("b", "X")]])
    assert error_of(file, good + "1\tc\t_\tX\n\n").startswith(f"{file}, line 5: 4 columns")
    assert "line 3: 11 columns" in error_of(file, good.replace("2\tb", "2\tb\tb"))


@pytest.mark.parametrize(
    "number", ["3", "1", "0", "x", "", "-1", "2-", "1.0", "1-2x", "1.2.3", "٢"]
)
def test_an_id_that_does_not_follow_is_an_error_with_its_line(file, number):
    text = "\n".join([line(1, "a", "X"), line(number, "b", "X")]) + "\n\n"
    assert f"line 2: id {number!r} where 2 must follow" in error_of(file, text)


def test_a_word_without_form_or_part_of_speech_is_an_error_with_its_line(file):
    assert "line 1: word 1 has no form" in error_of(file, line(1, "", "X") + "\n\n")
    assert "line 1: word 1 has no part of speech" in error_of(file, line(1, "a", "_") + "\n\n")


def test_text_that_is_not_utf8_is_an_error_with_its_line(file):
    text = text_of([[("a", "X")]]).encode() + line(1, "kůň", "NOUN").encode("latin2") + b"\n\n"
    assert error_of(file, text) == f"{file}, line 4: this is not UTF-8 text"


def test_a_file_without_words_is_an_error(file):
    for text in ("", "\n\n", "# only a comment\n\n"):
        assert error_of(file, text) == f"{file}: there are no words in this file"


def test_a_file_that_breaks_off_is_an_error(file):
    assert "breaks off" in error_of(file, text_of([[("a", "X"), ("b", "X")]])[:-2])


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ConlluError, match=r"nothing\.conllu: cannot be read: No such file"):
        read_conllu(tmp_path / "nothing.conllu")
