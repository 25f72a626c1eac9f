"""One file of a recording -> the cassettes that the suite can use, and why the rest is not.

Takes only the dialects that the suite reads, one cassette for each model. What is not taken
is counted with its reason, and credentials never come along.
"""

from pathlib import PurePath

import msgspec

from harness.dialects.table import DIALECTS, read_request
from harness.recording import identify, scrub
from harness.recording.importers import read
from harness.recording.importers.container import BY
from harness.wire.cassette import Cassette
from harness.wire.hosts import UNKNOWN
from harness.wire.interaction import Interaction


class Labels(msgspec.Struct, frozen=True):
    """What the user says about the recordings; "" where they leave it to the recording."""

    provider: str = ""
    model: str = ""
    prompt: str = ""
    dialect: str = ""
    licence: str = ""


class Imported(msgspec.Struct, frozen=True):
    """What one file gave.

    Fields:
        container: a key of `importers.READERS`; "" where no reader knows the file.
        cassettes: one for each model, in the order of their first interactions.
        skipped: for each interaction that was not taken, the reason.
    """

    container: str
    cassettes: tuple[Cassette, ...] = ()
    skipped: tuple[str, ...] = ()


def import_file(path: PurePath, data: bytes, source: str, labels: Labels) -> Imported:
    """Return the cassettes that the bytes of one file hold.

    Args:
        path: the file's path, whose folders may name the provider.
        data: its bytes.
        source: what `origin.source` calls the file.
        labels: what the user says; it outranks the recording.

    Raises:
        UnreadableError: a known container that is damaged.
    """
    found = read(path, data)
    if found is None:
        return Imported("")
    container, cassette = found
    skipped: list[str] = []
    taken: dict[tuple[str, str], list[tuple[int, Interaction]]] = {}
    for n, interaction in enumerate(cassette.interactions):
        by = labels.provider or _provider(interaction, path)
        dialect = labels.dialect or identify.dialect_of(interaction, by)
        reason = "" if labels.dialect else _reason_to_skip(interaction, dialect)
        if reason:
            skipped.append(reason)
            continue
        interaction = msgspec.structs.replace(interaction, dialect=dialect)  # noqa: PLW2901 - the same one, known better
        model = labels.model or _model(cassette, interaction)
        taken.setdefault((model, dialect), []).append((n, _scrubbed(interaction)))
    whole = _in_folder(_labelled(cassette, source, labels), path)
    cassettes = (_part(whole, model, numbered) for (model, _), numbered in taken.items())
    return Imported(container, tuple(cassettes), tuple(skipped))


def _provider(interaction: Interaction, path: PurePath) -> str:
    """Return the provider that the address says, else the innermost telling folder."""
    by_address = identify.provider(interaction.request.uri)
    if by_address != UNKNOWN:
        return by_address
    return identify.provider_of_folder(path.parent.parts)


def _reason_to_skip(interaction: Interaction, dialect: str) -> str:
    if dialect == UNKNOWN:
        return "no dialect recognised"
    if dialect not in DIALECTS:
        return f"dialect {dialect} is not read yet"
    if not interaction.body:
        return "empty response"
    encoding = interaction.header("content-encoding")
    if encoding:
        return f"content encoding {encoding[:20]} is not read"
    request = interaction.request
    if request.body and _is_plain(interaction) and not read_request(dialect, request).stream:
        return "no stream was asked for"
    return ""


def _is_plain(interaction: Interaction) -> bool:
    return interaction.body.lstrip().startswith((b"{", b"[", b"<"))


def _model(cassette: Cassette, interaction: Interaction) -> str:
    return cassette.model if cassette.model != UNKNOWN else identify.model_of(interaction)


def _labelled(cassette: Cassette, source: str, labels: Labels) -> Cassette:
    """Put the user's labels on; a cassette that names its own origin keeps that."""
    origin = cassette.origin
    if origin.by == BY:
        origin = msgspec.structs.replace(origin, source=source, licence=labels.licence)
    return msgspec.structs.replace(
        cassette,
        origin=origin,
        provider=labels.provider or cassette.provider,
        prompt=labels.prompt or cassette.prompt,
    )


def _in_folder(cassette: Cassette, path: PurePath) -> Cassette:
    """Take the provider from the folder where neither the cassette nor an address says it."""
    if identify.identify(cassette).provider != UNKNOWN:
        return cassette
    provider = identify.provider_of_folder(path.parent.parts)
    return msgspec.structs.replace(cassette, provider=provider)


def _part(cassette: Cassette, model: str, numbered: list[tuple[int, Interaction]]) -> Cassette:
    """Return the interactions of one model as a cassette that says where they come from."""
    origin = cassette.origin
    if origin.by == BY:
        numbers = ",".join(str(n) for n, _ in numbered)
        origin = msgspec.structs.replace(origin, source=f"{origin.source}#{numbers}")
    interactions = tuple(interaction for _, interaction in numbered)
    return identify.identify(
        msgspec.structs.replace(cassette, interactions=interactions, origin=origin, model=model)
    )


def _scrubbed(interaction: Interaction) -> Interaction:
    request = msgspec.structs.replace(
        interaction.request,
        uri=scrub.address(interaction.request.uri),
        headers=scrub.headers(interaction.request.headers),
    )
    headers = scrub.headers(interaction.headers)
    return msgspec.structs.replace(interaction, headers=headers, request=request)
