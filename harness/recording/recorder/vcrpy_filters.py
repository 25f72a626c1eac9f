"""Apply vcrpy's filters to recorded interactions; only this module calls its filters.

Without filters, vcrpy is not imported. If a filter returns None, the interaction is left out.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.playback.matching import vcrpy_request
from harness.wire.interaction import Headers, Interaction, Read, Request

_KNOWN = (
    "before_record_request",
    "before_record_response",
    "filter_headers",
    "filter_post_data_parameters",
    "filter_query_parameters",
    "ignore_hosts",
    "ignore_localhost",
)


class Filters:
    """Applies the user's vcrpy filters to the interactions of one recorder.

    Args:
        options: name of an option of vcrpy, such as `filter_headers` -> its value.

    Raises:
        UsageError: an option is unknown, or vcrpy is not installed.
    """

    def __init__(self, options: Mapping[str, object]) -> None:
        self._config = _config(options) if options else None

    def request(self, request: Request) -> Request | None:
        """Return `request` as the user's filters change it; None if it must not be recorded."""
        if self._config is None:
            return request
        found = self._config["before_record_request"](vcrpy_request(request))
        return None if found is None else _request(found)

    def interaction(self, interaction: Interaction) -> Interaction | None:
        """Return `interaction` filtered, or None if it must not be recorded.

        Raises:
            UsageError: a filter changed the length of a body, so that its reads would be wrong.
        """
        if self._config is None:
            return interaction
        request = self.request(interaction.request)
        response = self._config["before_record_response"](_as_vcrpy(interaction))
        if request is None or response is None:
            return None
        body = response["body"]["string"]
        return msgspec.structs.replace(
            interaction,
            request=request,
            status=response["status"]["code"],
            headers=_pairs(response["headers"]),
            body=body,
            reads=_reads(interaction, body),
        )


def _config(options: Mapping[str, object]) -> Any:  # noqa: ANN401 - vcrpy ships no types
    unknown = sorted(set(options) - set(_KNOWN))
    if unknown:
        raise UsageError(
            f"unknown filter {unknown[0]!r}", hint=f"Choose from: {', '.join(_KNOWN)}."
        )
    try:
        package = import_module("vcr")
    except ImportError:
        raise UsageError(
            "filters are vcrpy's, which is not installed",
            hint="Install it: pip install 'toolcall-harness[vcrpy]'",
        ) from None
    return package.VCR().get_merged_config(**options)


def _request(found: Any) -> Request:  # noqa: ANN401 - a request of vcrpy
    body = found.body or b""
    given = body.encode() if isinstance(body, str) else bytes(body)
    return Request(found.method, found.uri, tuple(found.headers.items()), given)


def _as_vcrpy(interaction: Interaction) -> dict[str, Any]:
    headers: dict[str, list[str]] = {}
    for name, value in interaction.headers:
        headers.setdefault(name, []).append(value)
    return {
        "status": {"code": interaction.status, "message": ""},
        "headers": headers,
        "body": {"string": interaction.body},
    }


def _pairs(headers: Mapping[str, Any]) -> Headers:
    return tuple(
        (name, value)
        for name, values in headers.items()
        for value in ([values] if isinstance(values, str) else values)
    )


def _reads(interaction: Interaction, body: bytes) -> tuple[Read, ...]:
    if len(body) != len(interaction.body):
        raise UsageError(
            f"expected a filter that keeps the body's {len(interaction.body)} bytes, "
            f"found {len(body)}: the reads would be wrong",
            hint="Replace secrets by text of the same length.",
        )
    return interaction.reads
