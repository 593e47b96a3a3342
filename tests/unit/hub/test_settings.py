"""What may stand in `hub.toml`, and what is said of what may not."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.errors import CourseError
from hub.settings import FILE, HubSettings, Lti, read_settings, verify_name, write_settings

LTI = """
instructors = ["ada"]
[lti]
client_id = "1"
issuer = "https://lms.example"
authorize_url = "https://lms.example/auth"
jwks_endpoint = "https://lms.example/keys"
"""


def read(folder: Path, text: str) -> HubSettings | None:
    (folder / FILE).write_text(text)
    return read_settings(folder)


def test_without_the_file_nothing_is_set(tmp_path: Path) -> None:
    assert read_settings(tmp_path) is None


def test_one_line_is_enough(tmp_path: Path) -> None:
    assert read(tmp_path, 'instructors = ["ada"]') == HubSettings(("ada",))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    settings = HubSettings(
        ("ada", "ben"), Path("/srv/elsewhere"), "https://0.0.0.0:443", True, "800M", 1.5, 100, 30,
        "/etc/hub.crt", "/etc/hub.key",
    )  # fmt: skip
    write_settings(tmp_path, settings)
    assert read_settings(tmp_path) == settings


def test_a_learning_system_is_read_and_gives_an_email_as_the_name(tmp_path: Path) -> None:
    found = read(tmp_path, LTI)
    assert found is not None
    assert found.lti == Lti(
        "1", "https://lms.example", "https://lms.example/auth", "https://lms.example/keys", "email"
    )


MISTAKES = {
    "no TOML": ("instructors = ada", "cannot be read"),
    "no instructors": ("", "names no instructors"),
    "an empty list": ("instructors = []", "instructors is empty"),
    "a text for a list": ('instructors = "ada"', 'a list of names, such as ["ada"]'),
    "a name for no account": ('instructors = ["Ada L"]', "cannot be an account's name"),
    "a mistyped name": ('instructors = ["ada"]\nmemry = "2G"', "Did you mean memory?"),
    "a memory without a unit": ('instructors = ["ada"]\nmemory = "2"', 'such as "2G"'),
    "a number in quotes": ('instructors = ["ada"]\ncpus = "2"', "cpus must be a number"),
    "a yes for a number": ('instructors = ["ada"]\ncpus = true', "cpus must be a number"),
    "nothing left": ('instructors = ["ada"]\ncpus = 0', "must be above 0"),
    "a place in the air": ('instructors = ["ada"]\nplace = "hub"', "a folder's whole path"),
    "the whole machine": ('instructors = ["ada"]\nplace = "/"', "a folder's whole path"),
    "an address without http": ('instructors = ["ada"]\naddress = "hub:80"', "such as http://"),
    "a port that is none": ('instructors = ["ada"]\naddress = "http://a:99999"', "such as http://"),
    "half of https": ('instructors = ["ada"]\nkey = "/a"', "certificate and key go together"),
    "half of LTI": (LTI.replace('issuer = "https://lms.example"', ""), "[lti] lacks issuer"),
    "a mistyped LTI": (LTI.replace("issuer", "isuer"), "Did you mean issuer?"),
    "a line for a table": ('instructors = ["ada"]\nlti = "yes"', "[lti] must have lines"),
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_the_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CourseError) as error:
        read(tmp_path, text)
    assert said in str(error.value)
    assert str(tmp_path / FILE) in str(error.value)


@pytest.mark.parametrize("name", ["", "1a", "A", "a b", "a+b", "../a", "a\n", "a" * 32, "-a"])
def test_what_cannot_be_an_account_is_refused(name: str) -> None:
    with pytest.raises(CourseError):
        verify_name(name)


@pytest.mark.parametrize(
    ("address", "port"),
    [("http://a:81", 81), ("http://a", 80), ("https://a", 443)],
)
def test_the_port_is_the_addresss(address: str, port: int) -> None:
    assert replace(HubSettings(("ada",)), address=address).port == port
