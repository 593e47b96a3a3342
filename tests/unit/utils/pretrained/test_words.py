"""Words and pieces as the published tokenizer has them, and the course's own text."""

import json

import pytest

from utils.checks.registry import exercises
from utils.pretrained import library, tiny
from utils.pretrained.words import sentences_of, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("naïve café", ["naive", "cafe"]),
        ("ΌΣΟΣ", ["οσοσ"]),  # no final sigma
        ("a\x0bb\x1cc\x85d", ["abcd"]),  # blank to Python, dropped here
        ("a\u200bb\u00adc", ["abc"]),
        ("tab\tand\nline", ["tab", "and", "line"]),
        ("中文ab", ["中", "文", "ab"]),
        ("x^2=$3~", ["x", "^", "2", "=", "$", "3", "~"]),
        ("", []),
        ("a" * 100, ["a" * 100]),
        ("b " + "a" * 101, ["b", "[UNK]"]),
        ("\u0378", ["\u0378"]),  # no alphabet has it yet
    ],
)
def test_a_text_is_cut_into_words(text, words):
    assert split_words(text) == words


def test_a_paragraph_is_cut_into_sentences():
    text = "It is 3.5 long. Is it? Yes: so it is"
    assert list(sentences_of(text)) == ["It is 3.5 long.", "Is it?", "Yes: so it is"]


def test_the_tiny_vocabulary_spells_ascii():
    vocab, cut = tiny.vocabulary(), exercises()["word_pieces"].oracle
    for word in split_words("The quick (brown) fox, 123 + 4: jumps/over @lazy_dogs!"):
        assert cut(word, vocab) != ["[UNK]"], word


def test_labs_are_not_among_the_texts_that_are_searched(tmp_path, monkeypatch):
    for name in ("06_x", "06b_lab", "07_y"):
        cell = {"cell_type": "markdown", "source": f"## 1. A\n\nThe lesson {name} has words."}
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.ipynb").write_text(json.dumps({"cells": [cell]}))
    monkeypatch.setattr(library, "RELEASE", tmp_path)
    assert library.places.__wrapped__()[0] == ("06.1",)


def test_the_courses_sections_are_all_there_and_hold_the_answers_to_the_questions():
    places, sentences = library.places()
    assert len(places) == len(sentences) > 800
    assert set(library.QUESTIONS.values()) <= set(places)
    unread = ("<", "$$", "difficulty")
    assert not [s for s in sentences if any(sign in s for sign in unread)]
    assert len(library.neighbours()) > 200
