"""A gradebook's address is never shown with its password."""

from pathlib import Path

import pytest

from grader.gradebook.address import (
    file_url,
    has_password,
    is_on_server,
    shown,
    sqlite_file,
    without_password,
)

WITH_PASSWORD = [
    "postgresql://ada:s%25ecret@host/grades",
    "postgresql://ada@host/grades?password=s%25ecret",
]


@pytest.mark.parametrize("url", WITH_PASSWORD)
def test_a_password_is_masked_wherever_it_stands(url):
    assert has_password(url)
    assert "ecret" not in shown(url)
    assert "***" in shown(url)
    assert without_password("it said s%ecret", url) == "it said ***"


def test_an_address_without_one_is_shown_as_it_is():
    url = "postgresql://ada@host/grades"
    assert (has_password(url), shown(url)) == (False, url)


def test_a_file_is_no_server_and_a_server_no_file():
    assert sqlite_file("sqlite:////one/book.db") == Path("/one/book.db")
    assert sqlite_file("postgresql://host/grades") is None
    assert is_on_server("postgresql://host/grades")
    assert not is_on_server("sqlite:////one/book.db")


@pytest.mark.parametrize("name", ["100%", "per%20cent", "which?", "a#b", "line\nbreak", "zoë's"])
def test_a_files_address_leads_to_the_file_whatever_its_folder_is_called(name):
    file = Path("/courses") / name / "gradebook.db"
    assert sqlite_file(file_url(file)) == file
