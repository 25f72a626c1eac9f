"""While it is blocked, nothing leaves this machine; afterwards all is as before."""

import socket

import pytest

from harness.errors import BlockedRequestError
from harness.recording.network import block_remote_connections, is_local
from tests.tables import each_row


def test_other_machines_are_refused_and_this_one_is_not() -> None:
    before = (socket.socket.connect, socket.getaddrinfo)
    with block_remote_connections():
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
            pytest.raises(BlockedRequestError, match=r"192\.0\.2\.1 is blocked"),
        ):
            datagrams.sendto(b"x", ("192.0.2.1", 9))
        with socket.socket() as plain, pytest.raises(BlockedRequestError):
            plain.connect(("192.0.2.1", 9))
        with pytest.raises(BlockedRequestError, match="api"):
            socket.getaddrinfo(b"api.example.com", 443)
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(("localhost", server.getsockname()[1])).close()
    assert (socket.socket.connect, socket.getaddrinfo) == before


@each_row(
    ("host", "local"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("127.0.0.2", True),
        ("::1", True),
        ("fe80::1%eth0", False),
        ("0.0.0.0", True),  # noqa: S104 - a name to judge, no address to listen on
        ("10.0.0.1", False),
        ("127.0.0.1.example.com", False),
        ("localhost.example.com", False),
    ],
)
def test_which_hosts_are_this_machine(host: str, *, local: bool) -> None:
    assert is_local(host) is local
