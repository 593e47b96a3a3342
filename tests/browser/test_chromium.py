"""Where there is no browser, these tests fail unless they are told to be skipped."""

import pytest

from tests.browser import conftest


def test_without_a_browser_a_test_fails_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(conftest.SKIP, raising=False)
    monkeypatch.setattr(conftest, "find_chromium", lambda: None)
    with pytest.raises(pytest.fail.Exception, match=r"apt install chromium.*COURSE_BROWSER=skip"):
        conftest.require_chromium()


def test_a_test_that_is_told_to_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(conftest.SKIP, "skip")
    with pytest.raises(pytest.skip.Exception, match="COURSE_BROWSER=skip"):
        conftest.require_chromium()


def test_the_browser_that_is_there_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(conftest.SKIP, raising=False)
    monkeypatch.setattr(conftest, "find_chromium", lambda: "/usr/bin/some-browser")
    assert conftest.require_chromium() == "/usr/bin/some-browser"
