"""What may stand in `hub.toml`, and what is said of what may not."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.errors import CourseError
from hub.settings import FILE, HubSettings, Lti, read_settings, verify_name

LTI = """
[lti]
client_id = "1"
issuer = "https://lms.example"
authorize_url = "https://lms.example/auth"
jwks_endpoint = "https://lms.example/keys"
"""


def read(folder: Path, text: str) -> HubSettings:
    (folder / FILE).write_text(text)
    return read_settings(folder)


def test_without_the_file_everything_is_as_usual(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == HubSettings()


def test_what_stands_there_is_read_and_the_rest_is_as_usual(tmp_path: Path) -> None:
    text = """
        place = "/srv/elsewhere"
        address = "https://0.0.0.0:443"
        subdomain_host = "https://hub.example.org"
        cpus = 1.5
        processes = 100
        certificate = "/etc/hub.crt"
        key = "/etc/hub.key"
    """
    assert read(tmp_path, text) == HubSettings(
        Path("/srv/elsewhere"), "https://0.0.0.0:443", "https://hub.example.org", cpus=1.5,
        processes=100, certificate="/etc/hub.crt", key="/etc/hub.key",
    )  # fmt: skip


def test_a_learning_system_is_read_and_gives_an_email_as_the_name(tmp_path: Path) -> None:
    assert read(tmp_path, LTI).lti == Lti(
        "1", "https://lms.example", "https://lms.example/auth", "https://lms.example/keys", "email"
    )


MISTAKES = {
    "no TOML": ("memory = 2G", "cannot be read"),
    "instructors, of before": ('instructors = ["ada"]', "instructors grade with make teach"),
    "signing up, of before": ("sign_up = true", "whoever is in the roster has a first password"),
    "a mistyped name": ('memry = "2G"', "Did you mean memory?"),
    "a memory without a unit": ('memory = "2"', 'such as "2G"'),
    "a number in quotes": ('cpus = "2"', "cpus must be a number"),
    "a yes for a number": ("cpus = true", "cpus must be a number"),
    "nothing left": ("cpus = 0", "must be above 0"),
    "a place in the air": ('place = "hub"', "a folder's whole path"),
    "the whole machine": ('place = "/"', "a folder's whole path"),
    "an address without http": ('address = "hub:80"', "such as http://"),
    "a port that is none": ('address = "http://a:99999"', "such as http://"),
    "a host without a scheme": ('subdomain_host = "hub.example.org"', "a whole address"),
    "a host that is a number": ('subdomain_host = "http://10.0.0.1"', "a whole address"),
    "a host with a path": ('subdomain_host = "https://a.org/hub"', "a whole address"),
    "a host with an account": ('subdomain_host = "https://me@a.org"', "a whole address"),
    "no host": ('subdomain_host = "https://"', "a whole address"),
    "half of https": ('key = "/a"', "certificate and key go together"),
    "half of LTI": (LTI.replace('issuer = "https://lms.example"', ""), "[lti] lacks issuer"),
    "a mistyped LTI": (LTI.replace("issuer", "isuer"), "Did you mean issuer?"),
    "a line for a table": ('lti = "yes"', "[lti] must have lines"),
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
    assert replace(HubSettings(), address=address).port == port


@pytest.mark.parametrize("host", ["https://hub.example.org", "http://hub.localhost:8000", ""])
def test_students_may_have_domains_below_a_host(tmp_path: Path, host: str) -> None:
    assert read(tmp_path, f'subdomain_host = "{host}"').subdomain_host == host
