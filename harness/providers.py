"""Providers: their hosts, and the capabilities of their APIs.

The provider of an address is never guessed from a part of its name: a host is known, or lies
under a known domain, or the provider is unknown.
"""

from importlib import resources
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

UNKNOWN: Final = "unknown"

JsonStability = Literal["high", "medium", "low"]


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The known capabilities of the API of a provider.

    Fields:
        supports_tool_use: the API accepts tools in a field of the request; None if that is not
            known, so that a test request decides.
        supports_parallel_tools: the client may execute several calls of one turn and answer them
            together.
        tool_id_pattern: a regular expression that ids in requests must match in full; "" for any.
        allows_midturn_system: a system message may be after the first message.
        json_stability: how reliable JSON in the model's text is. The gateway checks every response
            alike. At `low`, it adds an example of a call to the request that repeats a failed one.
        content_beside_calls: the `content` that a message with calls and without text must have:
            `null`, `empty` for "", `present` for either. `any` also accepts a missing key.
        reasoning_field: the field in which requests must return the reasoning; "" for none.
    """

    supports_tool_use: bool | None = None
    supports_parallel_tools: bool = True
    tool_id_pattern: str = ""
    allows_midturn_system: bool = False
    json_stability: JsonStability = "medium"
    content_beside_calls: Literal["any", "present", "null", "empty"] = "any"
    reasoning_field: str = ""

    @property
    def silent_content(self) -> Literal[""] | None:
        """The `content` to send in a message with calls and without text: "" or None."""
        return "" if self.content_beside_calls in {"empty", "present"} else None


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A provider: its hosts, and what its API supports.

    Fields:
        hosts: the hosts of its API.
        domains: domains whose hosts all belong to the provider.
        port: the default port of a local server in its documentation; 0 if none.
        folders: other names of the folders in which projects store recordings of this provider.
        capabilities: what its API supports.
    """

    hosts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    port: int = 0
    folders: tuple[str, ...] = ()
    capabilities: Capabilities = Capabilities()


_TEXT = resources.files(__package__).joinpath("providers.toml").read_text(encoding="utf-8")
PROVIDERS: Final = msgspec.toml.decode(_TEXT, type=dict[str, Provider])
# `compatible` is any copy of the OpenAI API; no cassette names it.
PROVIDER_NAMES: Final = frozenset(PROVIDERS) - {"compatible"}

FOLDERS: Final = {folder: name for name, row in PROVIDERS.items() for folder in row.folders}
_HOSTS: Final = {host: name for name, row in PROVIDERS.items() for host in row.hosts}
_DOMAINS: Final = {domain: name for name, row in PROVIDERS.items() for domain in row.domains}
_LOCAL_PORTS: Final = {row.port: name for name, row in PROVIDERS.items() if row.port}
_LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1", "host.docker.internal"})


def provider_of(uri: str) -> str:
    """Return the provider whose host or domain is in the address `uri`, or "unknown"."""
    try:
        parts = urlsplit(uri)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:  # not an address
        return UNKNOWN
    if host in _LOCAL_HOSTS:
        return _LOCAL_PORTS.get(port or 0, UNKNOWN)
    return _HOSTS.get(host) or _provider_of_domain(host)


def _provider_of_domain(host: str) -> str:
    labels = host.split(".")
    domains = (".".join(labels[start:]) for start in range(1, len(labels)))
    return next((_DOMAINS[domain] for domain in domains if domain in _DOMAINS), UNKNOWN)


def capabilities_of(provider: str, id_pattern: str = "") -> Capabilities:
    """Return the capabilities of `provider`; the defaults for an unknown one.

    Args:
        provider: the provider's name.
        id_pattern: the pattern that the API requires for ids of calls; a pattern of the provider
            overrides it.
    """
    row = PROVIDERS.get(provider)
    declared = row.capabilities if row else Capabilities()
    return replace(declared, tool_id_pattern=declared.tool_id_pattern or id_pattern)
