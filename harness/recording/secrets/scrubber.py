"""Remove what must not be written: secrets, and headers that are not allowed.

If the scrubber cannot replace a secret, nothing is written. The audit uses the same detectors for
cassettes of any origin and age, and never prints the secret itself.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from harness.conversation.history.jsonl import LoggedConversation, decode, encode
from harness.errors import UnscrubbedError
from harness.recording.secrets import credentials
from harness.recording.secrets.known import (
    PATH_KEY,
    KnownSecrets,
    iter_credentials,
    known_secrets,
    readable_request,
)
from harness.recording.secrets.scan import Secret, secrets_in, without_secrets
from harness.recording.secrets.views import URL_ESCAPE
from harness.wire.cassette import Cassette
from harness.wire.interaction import Headers, Interaction, Request


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
        """Store the credentials of `request`; return how many secrets are known now."""
        self._secrets.update(iter_credentials(request))
        return len(self._secrets)

    def request(self, request: Request) -> Request:
        """Return `request` without secrets and without headers that are not kept.

        Raises:
            UnscrubbedError: a secret cannot be replaced.
        """
        return self._request(request, self.known([request]), "the request")

    def cleaned(
        self, interactions: Sequence[Interaction], where: str, *, first: int = 0
    ) -> list[Interaction]:
        """Return `interactions` without secrets; bodies keep their length and their reads.

        Credentials of these requests, and of requests given to `learn`, are also removed from
        responses. `first` is the number of the first interaction, for messages.

        Raises:
            UnscrubbedError: a secret cannot be replaced.
        """
        known = self.known(each.request for each in interactions)
        return [
            self.interaction(each, known, f"{where}: interactions[{index}]")
            for index, each in enumerate(interactions, first)
        ]

    def interaction(self, given: Interaction, known: KnownSecrets, where: str) -> Interaction:
        """Return one interaction without secrets, including the `known` secrets of other requests.

        Raises:
            UnscrubbedError: a secret cannot be replaced.
        """
        return msgspec.structs.replace(
            given,
            request=self._request(given.request, known, where),
            headers=self._headers(given.headers, credentials.HEADERS.of_responses, known),
            body=without_secrets(given.body, where, known),
        )

    def text(self, text: str, where: str) -> str:
        """Return a text from the user, such as a label, without secrets."""
        return clean_text(text, where, self.known([]))

    def _request(self, request: Request, known: KnownSecrets, where: str) -> Request:
        request = readable_request(request, where)
        uri = credentials.scrub_address(request.uri).encode("utf-8", "surrogateescape")
        return msgspec.structs.replace(
            request,
            uri=without_secrets(uri, where, (PATH_KEY, *known), URL_ESCAPE).decode(
                "utf-8", "replace"
            ),
            headers=self._headers(request.headers, credentials.HEADERS.of_requests, known),
            body=without_secrets(request.body, where, known),
        )

    def _headers(self, headers: Headers, allowed: frozenset[str], known: KnownSecrets) -> Headers:
        kept = tuple(pair for pair in headers if pair[0].lower() in allowed | self._more)
        return tuple(
            (name, clean_text(value, f"header {name}", known))
            for name, value in credentials.scrub_headers(kept)
        )

    def known(self, requests: Iterable[Request]) -> KnownSecrets:
        """Return detectors of the credentials of `requests`, and of the given secrets."""
        return known_secrets(requests, self._secrets)


def scrubbed_conversation(logged: LoggedConversation) -> LoggedConversation:
    """Return a conversation without secrets.

    Raises:
        UnscrubbedError: a secret cannot be replaced.
    """
    data = encode(logged)
    clean = without_secrets(data, "the conversation")
    return logged if clean == data else decode(clean)[0]


def check_labels(cassette: Cassette, where: str) -> None:
    """Reject a cassette whose labels contain a secret.

    Raises:
        UnscrubbedError: a label contains a secret, and the user must change it.
    """
    labels = msgspec.structs.replace(cassette, interactions=(), session=None)
    found = secrets_in(msgspec.json.encode((labels, cassette.tools)))
    if found:
        raise UnscrubbedError(
            f"expected labels without secrets, found one of kind {found[0].kind!r}",
            where=where,
            hint="No file was written. Remove the secret from the provider, model, prompt or tools "
            "label.",
        )


def clean_text(text: str, where: str, known: KnownSecrets) -> str:
    """Return a text without secrets.

    Raises:
        UnscrubbedError: a secret cannot be replaced.
    """
    half_pairs = "surrogatepass"  # of JSON, or bytes that are not UTF-8
    data = text.encode("utf-8", half_pairs)
    return without_secrets(data, where, known).decode("utf-8", half_pairs)


def iter_leaks(cassette: Cassette) -> Iterator[str]:
    """Yield a line with location and kind for each secret in `cassette`."""
    session = cassette.session
    for index, interaction in enumerate(cassette.interactions if session is None else ()):
        for what in _leaks_of_interaction(interaction):
            yield f"{cassette.id}#{index}: {what}"
    for what in _leaks_of_interaction(session.whole()) if session is not None else ():
        yield f"{cassette.id}: session: {what}"
    labels = msgspec.structs.replace(cassette, interactions=(), session=None)
    for secret in secrets_in(msgspec.json.encode((labels, cassette.tools))):
        yield f"{cassette.id}: harness: {secret.kind}"


def _leaks_of_interaction(interaction: Interaction) -> Iterator[str]:
    try:
        request = readable_request(interaction.request, "the request")
    except UnscrubbedError as error:
        yield f"request body: {error.what}"
        return
    yield from credentials.unscrubbed_parts(interaction)
    uri = request.uri.encode("utf-8", "surrogateescape")
    known = known_secrets([request])
    in_address = secrets_in(uri, (PATH_KEY, *known), URL_ESCAPE)
    yield from (f"the address: {secret.kind}" for secret in in_address)
    for name, value in (*request.headers, *interaction.headers):
        for secret in secrets_in(value.encode("utf-8", "surrogateescape"), known):
            yield f"header {name}: {secret.kind}"
    for part, body in (("request", request.body), ("response", interaction.body)):
        for secret in secrets_in(body, known):
            yield f"{part} body: {_secret_text(secret)}"


def _secret_text(secret: Secret) -> str:
    return f"{secret.kind} of {secret.size} characters at byte {secret.offset} ({secret.where})"
