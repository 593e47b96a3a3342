"""Guesses: kept beside the record, shown beside the result, no hindrance where none are made."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from utils.progress import checked, guesses
from utils.progress.guesses import count, guess, guessed, reveal, summary
from utils.progress.record import FOLDER

LESSON = "02_lesson"


@pytest.fixture(autouse=True)
def fresh_kernel() -> Iterator[None]:
    restart_kernel()
    yield
    restart_kernel()
    InteractiveShell.clear_instance()


@pytest.fixture
def learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook that runs in a learner's lesson."""
    (tmp_path / LESSON).mkdir()
    InteractiveShell.instance()
    monkeypatch.setattr(checked, "LEARN", tmp_path.resolve())
    monkeypatch.chdir(tmp_path / LESSON)
    return tmp_path


def restart_kernel() -> None:
    guesses._here.clear()
    guesses._found.clear()


def file_of(learn: Path) -> Path:
    return learn / FOLDER / LESSON / guesses.FILE


@pytest.mark.parametrize("expected", [6, 0, -2.5, "the last word", [1, 4]])
def test_a_guess_outlives_the_kernel_in_a_learners_lesson(learn: Path, expected: object) -> None:
    guess("steps", expected)
    restart_kernel()
    assert guessed("steps") == expected


@pytest.mark.parametrize(
    ("expected", "kept"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")]
)
def test_what_is_not_a_finite_number_may_be_guessed_and_is_kept_as_a_word(
    learn: Path, expected: float, kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    guess("weight", expected)
    assert "NaN" not in file_of(learn).read_text()
    restart_kernel()
    assert guessed("weight") == kept
    reveal("weight", expected)
    assert f"You said {kept} · measured {kept}\nExactly." in capsys.readouterr().out


def test_a_guess_elsewhere_lasts_as_long_as_the_kernel_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked, "LEARN", tmp_path)
    guess("steps", 6)
    assert guessed("steps") == 6
    assert list(tmp_path.iterdir()) == []
    restart_kernel()
    assert guessed("steps") is None


def test_without_a_guess_everything_goes_on_and_says_so(
    learn: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guess("steps")
    assert capsys.readouterr().out.startswith("steps: No guess yet.")
    assert guessed("steps") is None
    reveal("steps", 4)
    assert capsys.readouterr().out == "steps: measured 4\n"
    assert "You made no guesses this time" in repr(summary())


def test_a_later_guess_replaces_the_one_before_and_no_guess_takes_it_back(learn: Path) -> None:
    guess("steps", 6)
    guess("steps", 7)
    restart_kernel()
    assert guessed("steps") == 7
    guess("steps", None)
    restart_kernel()
    assert guessed("steps") is None


def test_guess_and_result_are_shown_with_few_digits(capsys: pytest.CaptureFixture[str]) -> None:
    guess("share", 1 / 3)
    reveal("share", 0.12345)
    assert "You said 0.333 · measured 0.123\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expected", "measured", "close"),
    [
        (4, 5.0, True),
        (3, 5.0, False),
        (13, 16, True),
        (3, 4, False),  # a count of a few is right or wrong
        (4.0, 4, True),
        (0, 0.0, True),
        (-5, 5, False),
        ("attention", "attention", True),
        ("attention", "plain", False),
        ([4, 1], {1, 4}, True),
        ([1], [1, 4], False),
        ("five", 5, False),
        (math.nan, math.nan, True),
        ("NaN", math.nan, True),
        ("nan ", math.nan, True),
        ("Not a number", math.nan, True),
        ("not a number", 0.73, False),
        ("infinity", math.inf, True),
        ("infinity", -math.inf, False),
        (0.73, math.nan, False),
        (math.nan, 0.73, False),
        (math.inf, math.nan, False),
        (math.inf, math.inf, True),
    ],
)
def test_a_guess_is_close_if_right_or_off_by_a_quarter_of_what_is_more_than_a_few(
    expected: object, measured: object, close: bool
) -> None:
    guess("one", expected)
    reveal("one", measured)
    assert f"You guessed 1 of 1; {int(close)} came close.\n" in repr(summary())


@pytest.mark.parametrize(("expected", "close"), [("left", 1), ("right", 1), ("up", 0)])
def test_what_chance_decides_between_is_as_right_to_have_guessed(expected: str, close: int) -> None:
    guess("one", expected)
    reveal("one", "left", also=["right"])
    assert f"You guessed 1 of 1; {close} came close.\n" in repr(summary())


def test_the_summary_counts_guesses_that_were_asked_for_and_not_made() -> None:
    guess("one", 0)
    guess("two", "left")
    guess("three")
    reveal("one", 0.0)
    reveal("two", "right")
    assert "You guessed 2 of 3; 1 came close.\n" in repr(summary())


def test_the_summary_says_of_each_guess_what_was_measured(learn: Path) -> None:
    guess("<share>", 0.73)
    reveal("<share>", 0.5)
    guess("word", "left")
    reveal("word", "left")
    card = summary()
    assert repr(card).splitlines()[1:3] == [
        "<share>: you said 0.73, measured 0.5 (a surprise)",
        "word: you said left, measured left (exact)",
    ]
    assert "&lt;share&gt;: you said 0.73" in card._repr_html_()
    assert "role='group'" in card._repr_html_()


def test_the_summary_claims_nothing_of_a_result_that_this_kernel_has_not_seen(learn: Path) -> None:
    guess("one", 0)
    reveal("one", 0)
    restart_kernel()
    assert "You guessed 1 of 1; 0 came close, 1 still open." in repr(summary())
    guess("two", 1)
    reveal("two", 1)
    says = repr(summary())
    assert "You guessed 2 of 2; 1 came close, 1 still open." in says
    assert "one: you said 0; run its experiment to see the result" in says


def test_a_guess_made_again_has_no_result_yet(learn: Path) -> None:
    guess("one", 0)
    reveal("one", 0)
    guess("one", 5)
    assert "one: you said 5; run its experiment" in repr(summary())


def test_a_result_that_is_no_number_and_no_words_is_told_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guess("one", 3)
    reveal("one", (1.5, 2.5))
    assert "You said 3 · measured (1.5, 2.5)\n" in capsys.readouterr().out


def test_the_start_page_counts_guesses_made_and_asked_for(learn: Path) -> None:
    assert count(learn, LESSON) == (0, 0)
    guess("one", 0)
    guess("two")
    assert count(learn, LESSON) == (1, 2)


@pytest.mark.parametrize(
    "wrong",
    [10**5000, True, [1.5], [1] * 65, torch.ones(2), "x" * 61],
    ids=[
        "huge",
        "a boolean",
        "a list of fractions",
        "too many places",
        "a tensor",
        "an essay",
    ],
)
def test_what_is_no_guess_is_refused_in_a_sentence_and_leaves_the_one_before(
    learn: Path, wrong: object, capsys: pytest.CaptureFixture[str]
) -> None:
    guess("steps", 6)
    guess("steps", wrong)
    assert capsys.readouterr().out.endswith("Nothing was kept. Guess a number or a few words.\n")
    assert guessed("steps") == 6


def test_a_word_that_is_no_choice_is_answered_with_the_choices(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guess("winner", "both", choices=("plain", "attention"))
    assert capsys.readouterr().out == (
        "winner: Nothing was kept. Guess one of 'plain', 'attention'.\n"
    )
    guess("winner", "plain", choices=("plain", "attention"))
    assert guessed("winner") == "plain"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"steps": [[1]]}', '{"steps": true}']
)
def test_a_damaged_file_is_as_none_and_the_next_guess_mends_it(learn: Path, text: str) -> None:
    guess("steps", 6)
    restart_kernel()
    file_of(learn).write_text(text)
    assert guessed("steps") is None
    guess("steps", 6)
    restart_kernel()
    assert guessed("steps") == 6


def test_a_guess_that_cannot_be_written_is_kept_in_the_kernel(
    learn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    guess("steps", 6)
    assert guessed("steps") == 6
    assert not file_of(learn).exists()


def test_a_guess_in_a_folder_that_is_gone_is_kept_in_the_kernel(learn: Path) -> None:
    (learn / LESSON).rmdir()
    guess("steps", 6)
    assert guessed("steps") == 6


@pytest.mark.parametrize(
    ("expected", "measured", "says"),
    [
        (0.73, 0.5, "You said 0.73 · measured 0.5\nA surprise."),
        (0.45, 0.5, "You said 0.45 · measured 0.5\nWell guessed."),
        (0.5, 0.5, "You said 0.5 · measured 0.5\nExactly."),
        ("left", "right", "You said left · measured right\nA surprise."),
        ([1, 4], {4, 1}, "You said [1, 4] · measured [1, 4]\nExactly."),
        (None, 0.5, "measured 0.5\n"),
    ],
)
def test_guess_and_result_stand_on_one_line_of_a_card(
    expected: object, measured: object, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    guess("share", expected)
    capsys.readouterr()
    reveal("share", measured)
    assert capsys.readouterr().out.startswith(f"share: {says}")
    assert ("You made no" if expected is None else "You guessed 1 of 1") in repr(summary())


def test_what_chance_decides_between_is_no_surprise(capsys: pytest.CaptureFixture[str]) -> None:
    guess("one", "right")
    reveal("one", "left", also=["right"])
    assert capsys.readouterr().out.endswith("You said right · measured left\nWell guessed.\n")


def test_a_card_is_html_in_which_words_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(guesses, "display", shown.append)
    guess("<b>", "<i>")
    reveal("<b>", "<u>")
    assert all("&lt;b&gt;" in card._repr_html_() for card in shown)
    assert not any(tag in card._repr_html_() for card in shown for tag in ("<b>", "<i>", "<u>"))
    assert "You said &lt;i&gt; · measured &lt;u&gt;" in shown[1]._repr_html_()


@pytest.fixture
def lesson_00(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's copy of a real lesson, whose questions are known."""
    (tmp_path / "00_start_here").mkdir()
    InteractiveShell.instance()
    monkeypatch.setattr(checked, "LEARN", tmp_path.resolve())
    monkeypatch.chdir(tmp_path / "00_start_here")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("plain mean of two word", "Did you mean 'plain mean of two words'?"),
        ("x" * 50, "Change the guess, and leave the name."),
    ],
)
def test_a_question_that_the_lesson_does_not_ask_is_refused_and_not_counted(
    lesson_00: Path, name: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    guess(name, 0.4)
    assert capsys.readouterr().out.endswith(f"so nothing was kept. {hint}\n")
    assert count(lesson_00, "00_start_here") == (0, 0)
    assert "You made no guesses" in repr(summary())
    guess("plain mean of two words", 0.4)
    assert count(lesson_00, "00_start_here") == (1, 1)


def test_without_the_release_at_hand_every_question_is_taken(
    lesson_00: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guesses, "RELEASE", lesson_00 / "nowhere")
    guesses._questions.cache_clear()
    guess("mine", 1)
    guesses._questions.cache_clear()
    assert guessed("mine") == 1
