"""What may be written of a recording: allowed headers and no secrets.

The scrubber fails closed: if it cannot replace a secret, it writes nothing. The audit uses the same
detectors for cassettes of any origin and age, and never prints the secret itself.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import msgspec

from harness.errors import UnscrubbedError
from harness.recording.secrets import credentials
from harness.recording.secrets.detectors import Detector, literal_detector
from harness.recording.secrets.scan import Secret, secrets_in, without_secrets
from harness.recording.secrets.views import URL_ESCAPE
from harness.wire.cassette import Cassette
from harness.wire.interaction import Headers, Interaction, Request

KnownSecrets: TypeAlias = tuple[Detector, ...]

# Placeholders that clients send if no key is needed; they may be ordinary words.
_DUMMIES: Final = frozenset(
    {"lm-studio", "no-key-required", "not-needed", "not-required", "sk-no-key-required"}
)
_SHORTEST: Final = 8


class Scrubber:
    """Removes secrets and unnecessary headers from a recording.

    Args:
        keep_headers: names of further headers to keep, of requests and responses; credentials are
            never kept.
        secrets: values that must not be written.
    """

    def __init__(self, keep_headers: Iterable[str] = (), secrets: Iterable[str] = ()) -> None:
        self._more = frozenset(name.lower() for name in keep_headers)
        self._secrets = set(secrets)

    def learn(self, request: Request) -> int:
        """Remember the credentials of `request`; return how many secrets are known now."""
        self._secrets.update(iter_credentials(request))
        return len(self._secrets)

    def request(self, request: Request) -> Request:
        """Return `request` as it is written.

        Raises:
            UnscrubbedError: a secret cannot be replaced.
        """
        return self._request(request, self._known([request]), "the request")

    def cleaned(
        self, interactions: Sequence[Interaction], where: str, *, first: int = 0
    ) -> list[Interaction]:
        """Return `interactions` as they are written; bodies keep their length and their reads.

        Credentials of these requests, and of those given to `learn`, are also removed if a server
        repeats them. `first` is the number of the first interaction, for messages.

        Raises:
            UnscrubbedError: a secret cannot be replaced.
        """
        known = self._known([each.request for each in interactions])
        return [
            msgspec.structs.replace(
                each,
                request=self._request(each.request, known, f"{where}: interactions[{index}]"),
                headers=self._headers(each.headers, credentials.HEADERS.of_responses, known),
                body=without_secrets(each.body, f"{where}: interactions[{index}]", known),
            )
            for index, each in enumerate(interactions, first)
        ]

    def text(self, text: str, where: str) -> str:
        """Return a text of the user without secrets."""
        return _clean_text(text, where, self._known([]))

    def _request(self, request: Request, known: KnownSecrets, where: str) -> Request:
        uri = credentials.scrub_address(request.uri).encode("utf-8", "surrogateescape")
        return msgspec.structs.replace(
            request,
            uri=without_secrets(uri, where, known, URL_ESCAPE).decode("utf-8", "replace"),
            headers=self._headers(request.headers, credentials.HEADERS.of_requests, known),
            body=without_secrets(request.body, where, known),
        )

    def _headers(self, headers: Headers, allowed: frozenset[str], known: KnownSecrets) -> Headers:
        kept = tuple(pair for pair in headers if pair[0].lower() in allowed | self._more)
        return tuple(
            (name, _clean_text(value, f"header {name}", known))
            for name, value in credentials.scrub_headers(kept)
        )

    def _known(self, requests: Iterable[Request]) -> KnownSecrets:
        values = {value for request in requests for value in iter_credentials(request)}
        longest_first = sorted({*values, *self._secrets}, key=lambda value: (-len(value), value))
        return tuple(literal_detector(value) for value in longest_first)


def check_labels(cassette: Cassette, where: str) -> None:
    """Reject a cassette whose labels contain a secret.

    Raises:
        UnscrubbedError: they do, and the user must fix them.
    """
    labels = msgspec.structs.replace(cassette, interactions=())
    found = secrets_in(msgspec.json.encode((labels, cassette.tools)))
    if found:
        raise UnscrubbedError(
            f"expected labels without secrets, found one of kind {found[0].kind!r}",
            where=where,
            hint="No file was written. Remove the secret from the provider, model, prompt or tools "
            "label.",
        )


def iter_credentials(request: Request) -> Iterator[str]:
    """Yield the credentials in headers and address of `request`."""
    for name, value in request.headers:
        if credentials.is_secret_name(name):
            yield from _header_credentials(name, value)
    try:
        query = parse_qsl(urlsplit(request.uri).query)
    except ValueError:  # brackets without an address in them
        return
    for name, value in query:
        if credentials.is_secret_name(name) and len(value) >= _SHORTEST:
            yield value


def _header_credentials(name: str, value: str) -> Iterator[str]:
    for word in re.split(r"[\s;,]+", value):
        value_part = word.partition("=")[2] if "cookie" in name.lower() else word
        if len(value_part) >= _SHORTEST and value_part.lower() not in _DUMMIES:
            yield value_part


def _clean_text(text: str, where: str, known: KnownSecrets) -> str:
    data = text.encode("utf-8", "surrogateescape")
    return without_secrets(data, where, known).decode("utf-8", "surrogateescape")


def iter_leaks(cassette: Cassette) -> Iterator[str]:
    """Yield a line with location and kind for each secret in `cassette`."""
    for index, interaction in enumerate(cassette.interactions):
        for what in _leaks_of_interaction(interaction):
            yield f"{cassette.id}#{index}: {what}"
    labels = msgspec.structs.replace(cassette, interactions=())
    for secret in secrets_in(msgspec.json.encode((labels, cassette.tools))):
        yield f"{cassette.id}: harness: {secret.kind}"


def _leaks_of_interaction(interaction: Interaction) -> Iterator[str]:
    request = interaction.request
    yield from credentials.unscrubbed_parts(interaction)
    uri = request.uri.encode("utf-8", "surrogateescape")
    yield from (f"the address: {secret.kind}" for secret in secrets_in(uri, escape=URL_ESCAPE))
    for name, value in (*request.headers, *interaction.headers):
        for secret in secrets_in(value.encode("utf-8", "surrogateescape")):
            yield f"header {name}: {secret.kind}"
    yield from (f"request body: {_secret_text(secret)}" for secret in secrets_in(request.body))
    yield from (f"response body: {_secret_text(secret)}" for secret in secrets_in(interaction.body))


def _secret_text(secret: Secret) -> str:
    return f"{secret.kind} of {secret.size} characters at byte {secret.offset} ({secret.where})"
