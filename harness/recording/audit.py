"""A cassette -> what of it is unscrubbed, in words that never hold the secret itself.

The same table of detectors that recording uses; for cassettes of any origin and age.
"""

from collections.abc import Iterator

import msgspec

from harness.recording import scrub
from harness.recording.secrets import URL_ESCAPE, Secret, secrets_in
from harness.wire.cassette import Cassette
from harness.wire.interaction import Interaction


def leaks(cassette: Cassette) -> Iterator[str]:
    """Yield a line for each secret in `cassette`: where it stands, and of what kind it is."""
    for place, interaction in enumerate(cassette.interactions):
        for what in _of_interaction(interaction):
            yield f"{cassette.id}#{place}: {what}"
    labels = msgspec.structs.replace(cassette, interactions=())
    for secret in secrets_in(msgspec.json.encode((labels, cassette.tools))):
        yield f"{cassette.id}: harness: {secret.kind}"


def _of_interaction(interaction: Interaction) -> Iterator[str]:
    request = interaction.request
    yield from scrub.leaks(interaction)
    uri = request.uri.encode("utf-8", "surrogateescape")
    yield from (f"the address: {secret.kind}" for secret in secrets_in(uri, escape=URL_ESCAPE))
    for name, value in (*request.headers, *interaction.headers):
        for secret in secrets_in(value.encode("utf-8", "surrogateescape")):
            yield f"header {name}: {secret.kind}"
    yield from (f"request body: {_told(secret)}" for secret in secrets_in(request.body))
    yield from (f"response body: {_told(secret)}" for secret in secrets_in(interaction.body))


def _told(secret: Secret) -> str:
    return f"{secret.kind} of {secret.size} characters at byte {secret.offset} ({secret.where})"
