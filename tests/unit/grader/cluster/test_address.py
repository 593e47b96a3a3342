import pytest

from grader.cluster.address import Local, Remote, read_address
from grader.errors import UsageError


def test_a_number_of_workers_on_this_machine_is_read():
    assert read_address("local:3") == Local(3)


@pytest.mark.parametrize("text", ["tls://grader.example.org:8786", "tls://127.0.0.1:1",
                                  "tls://[::1]:8786"])  # fmt: skip
def test_addresses_by_tls_are_taken(text):
    assert read_address(text) == Remote(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{scheme}://{host}:8786"
        for scheme in ("tcp", "ws", "wss", "ucx", "http", "TCP")
        for host in ("127.0.0.1", "localhost", "[::1]", "10.0.0.7", "grader.example.org")
    ],
)
def test_all_other_addresses_are_refused_this_machines_too_with_both_forms_named(text):
    with pytest.raises(UsageError, match=r"not encrypted by TLS.* local:N .*tls://host:port"):
        read_address(text)


@pytest.mark.parametrize("text", ["local:0", "local:two", "local:", "local:-1", "local:9999"])
def test_a_count_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="a number of workers"):
        read_address(text)


@pytest.mark.parametrize(
    "text", ["", "here", "tls://host", "inproc://1:2", "tls://:8786", "tls://h:port", "tcp://[1:2"]
)
def test_what_is_no_address_is_refused_with_both_forms_named(text):
    with pytest.raises(UsageError, match=r"local:N .*tls://host:port"):
        read_address(text)
