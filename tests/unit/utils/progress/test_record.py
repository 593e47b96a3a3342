"""Records of checks: whole or not at all, one exercise's damage is its own."""

import json
import threading
from pathlib import Path

import pytest

from utils.progress.record import FOLDER, Record, checksum, forget, read, write

PASSED = Record(checked=1000.0, passed=True, started=True, cell="abc", last_passed=1000.0)
LESSON, EXERCISE = "01_first", "double"


def file_of(learn: Path) -> Path:
    return learn / FOLDER / LESSON / f"{EXERCISE}.json"


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write(tmp_path, LESSON, EXERCISE, PASSED)
    assert read(tmp_path, LESSON, EXERCISE) == PASSED


def test_before_the_first_check_nothing_is_on_record(tmp_path: Path) -> None:
    assert read(tmp_path, LESSON, EXERCISE) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "{}",
        json.dumps({**vars(PASSED), "more": 1}),
        json.dumps({**vars(PASSED), "checked": "1000"}),
        json.dumps({**vars(PASSED), "checked": 1e300}),
        json.dumps({**vars(PASSED), "passed": 1}),
        json.dumps({**vars(PASSED), "cell": 5}),
        json.dumps({**vars(PASSED), "last_passed": "now"}),
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_as_none_and_the_next_check_mends_it(tmp_path: Path, text: str) -> None:
    write(tmp_path, LESSON, EXERCISE, PASSED)
    file_of(tmp_path).write_text(text)
    assert read(tmp_path, LESSON, EXERCISE) is None
    write(tmp_path, LESSON, EXERCISE, PASSED)
    assert read(tmp_path, LESSON, EXERCISE) == PASSED


def test_bytes_that_are_no_text_are_as_none(tmp_path: Path) -> None:
    write(tmp_path, LESSON, EXERCISE, PASSED)
    file_of(tmp_path).write_bytes(b"\xff\xfe\x00")
    assert read(tmp_path, LESSON, EXERCISE) is None


def test_a_record_that_cannot_be_written_leaves_the_one_before_and_no_leftovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, LESSON, EXERCISE, PASSED)

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path, LESSON, EXERCISE, Record(2000.0, False, True, None, 1000.0))
    assert read(tmp_path, LESSON, EXERCISE) == PASSED
    assert [path.name for path in file_of(tmp_path).parent.iterdir()] == [f"{EXERCISE}.json"]


def test_exercises_written_at_once_are_all_kept(tmp_path: Path) -> None:
    names = [f"exercise_{i}" for i in range(20)]
    threads = [threading.Thread(target=write, args=(tmp_path, LESSON, n, PASSED)) for n in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(read(tmp_path, LESSON, name) == PASSED for name in names)


def test_forgetting_a_lesson_leaves_the_others(tmp_path: Path) -> None:
    write(tmp_path, LESSON, EXERCISE, PASSED)
    write(tmp_path, "02_second", EXERCISE, PASSED)
    forget(tmp_path, LESSON)
    forget(tmp_path, "03_never_checked")
    assert read(tmp_path, LESSON, EXERCISE) is None
    assert read(tmp_path, "02_second", EXERCISE) == PASSED


def test_a_checksum_ignores_blanks_at_the_ends_of_lines_and_nothing_else() -> None:
    assert checksum("def f():  \n    return 1\n") == checksum("def f():\n    return 1")
    assert checksum("def f():\n    return 1") != checksum("def f():\n  return 1")
