"""A class's settings: what is taken, and what is refused in one sentence."""

import datetime as dt
from pathlib import Path

import pytest

from utils.lab.settings import FILE, Settings, SettingsError, read_settings


def read(folder: Path, text: str) -> Settings:
    (folder / FILE).write_text(text, encoding="utf-8")
    return read_settings(folder)


def test_without_the_file_nothing_is_set(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()


def test_an_absolute_path_is_a_shared_exchange(tmp_path: Path) -> None:
    found = read(tmp_path, f'submit = "{tmp_path}/exchange"')
    assert (found.shared, found.upload) == (tmp_path / "exchange", "")


def test_a_path_may_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read(tmp_path, 'submit = "~/exchange"').shared == tmp_path / "exchange"


def test_any_other_text_says_where_to_upload(tmp_path: Path) -> None:
    found = read(tmp_path, 'submit = "Moodle,\\n below Lesson/2 "')
    assert (found.shared, found.upload) == (None, "Moodle, below Lesson/2")


@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16"])
def test_the_file_is_read_as_windows_writes_it(tmp_path: Path, code: str) -> None:
    (tmp_path / FILE).write_bytes('submit = "Moodle"\r\n'.encode(code))
    assert read_settings(tmp_path).upload == "Moodle"


def test_a_day_is_due_at_its_end_and_a_time_as_it_is_written(tmp_path: Path) -> None:
    found = read(tmp_path, "[due]\n00_a = 2026-12-01\n01_b = 2026-12-02T12:00:00+02:00").due
    assert found["00_a"].replace(tzinfo=None) == dt.datetime(2026, 12, 1, 23, 59)
    assert found["01_b"] == dt.datetime(2026, 12, 2, 10, 0, tzinfo=dt.UTC)


def test_the_points_of_labs_count_only_where_the_class_says_so(tmp_path: Path) -> None:
    assert not read(tmp_path, "submit = 'Moodle'").labs
    assert read(tmp_path, "labs = true").labs


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("submit =", "cannot be read"),
        ("submit = 5", "in quotes"),
        ("sumbit = 'x'", "sets sumbit; known are submit"),
        ("due = 'tomorrow'", r"\[due\] must name lessons"),
        ("labs = 'yes'", "labs must be true or false"),
        ("[due]\n00_a = 'tomorrow'", "00_a is due at 'tomorrow'; write it as"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as refused:
        read(tmp_path, text)
    assert str(tmp_path / FILE) in str(refused.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff\xff")
    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings(tmp_path)
