"""Block connections of this process to other machines.

It is for tests, which must not connect to a live server unnoticed. Connections of other processes,
or below Python's sockets, are not blocked.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any, Final
from unittest import mock

from harness.errors import BlockedRequestError

_NAMES: Final = frozenset({"", "localhost", "localhost.localdomain"})
_METHODS: Final = ("connect", "connect_ex", "sendto")


@contextmanager
def block_remote_connections() -> Iterator[None]:
    """Block connections to other machines, and look-ups of their names, until the block ends.

    Raises, from an attempt to connect:
        BlockedRequestError: the connection is to another machine.
    """
    guarded: dict[str, Any] = {name: _guarded(getattr(socket.socket, name)) for name in _METHODS}
    resolving = _resolving(socket.getaddrinfo)
    with (
        mock.patch.multiple(socket.socket, **guarded),
        mock.patch.object(socket, "getaddrinfo", resolving),
    ):
        yield


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, *args: Any) -> Any:  # noqa: ANN401 - the types of socket
        address = args[-1] if args else None
        if self.family in {socket.AF_INET, socket.AF_INET6} and isinstance(address, tuple):
            _check(address[0])
        return method(self, *args)

    return guarded


def _resolving(resolve: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(host: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as above
        _check(host)
        return resolve(host, *args, **options)

    return guarded


def _check(host: object) -> None:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
    if not is_local(name):
        raise BlockedRequestError(
            f"a connection to {name} is blocked",
            where="--harness-block-network",
            hint="Play a cassette (fixture harness_client), or drop the option to record one.",
        )


def is_local(host: str) -> bool:
    """Return whether `host` refers to this machine."""
    if host.lower().rstrip(".") in _NAMES:
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
