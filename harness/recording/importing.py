"""One file of a recording -> the cassettes that the suite can use, and why the rest is not.

Takes the dialects that the suite reads, and every answer to a request for a stream, be it an
error, a page or nothing at all. What is not taken is counted with its reason, and
credentials never come along.
"""

from collections.abc import Iterable
from itertools import count, islice
from pathlib import PurePath
from typing import Final

import msgspec

from harness.conversation.history.jsonl import LoggedConversation, decode, is_conversation
from harness.conversation.history.third_party import read_messages
from harness.dialects.table import DIALECTS, read_request
from harness.providers import UNKNOWN
from harness.recording import identify
from harness.recording.detect import Detected
from harness.recording.importers import raw_body, read
from harness.recording.importers.container import BY
from harness.recording.secrets import credentials
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import VCRPY
from harness.wire.decompress import why_encoded
from harness.wire.framing import iter_frames
from harness.wire.interaction import Headers, Interaction

CONVERSATION: Final = "conversation"
_CONVERSATION_LABELS: Final = ("provider", "model", "prompt")


def read_conversations(path: PurePath, data: bytes) -> tuple[LoggedConversation, ...] | None:
    """Return the conversations of a file; None where it is another container's.

    Raises:
        UnreadableError: it says that it is ours, and is damaged.
    """
    if is_conversation(data):
        return decode(data, str(path))
    if b'"messages"' in data.lstrip().partition(b"\n")[0]:
        return None
    return read_messages(data)


def label_conversation(logged: LoggedConversation, labels: dict[str, str]) -> LoggedConversation:
    """Put the user's labels on; what they leave open stays as the file has it."""
    said = {name: labels[name] for name in _CONVERSATION_LABELS if labels.get(name)}
    return msgspec.structs.replace(logged, about=msgspec.structs.replace(logged.about, **said))


# Containers of whole answers, and bodies without a request: who imports them wants those.
_PLAIN_CONTAINERS: Final = frozenset({"chat-log", raw_body.CONTAINER})
# How an address ends -> whether it is asked for a stream.
_VERBS: Final = (
    (":streamGenerateContent", True),
    (":generateContent", False),
    (":streamRawPredict", True),
    (":rawPredict", False),
    ("/converse-stream", True),
    ("/converse", False),
    ("/invoke-with-response-stream", True),
    ("/invoke", False),
)
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_STREAMING: Final = frozenset({("x-dashscope-sse", "enable"), ("accept", "text/event-stream")})


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
        container: a key of `importers.READERS`, or `conversation`; "" where no reader knows
            the file.
        cassettes: one for each provider, model and dialect, in the order of their first
            interactions.
        skipped: for each interaction that was not taken, the reason; damaged ones first.
        detected: for each interaction that was taken, its number in the file and its dialect.
        conversations: those that the file holds without the bytes of their responses.
    """

    container: str
    cassettes: tuple[Cassette, ...] = ()
    skipped: tuple[str, ...] = ()
    detected: tuple[tuple[int, Detected], ...] = ()
    conversations: tuple[LoggedConversation, ...] = ()


class _TakenInteraction(msgspec.Struct, frozen=True):
    """An interaction that is taken, and what is known of it."""

    number: int
    interaction: Interaction
    provider: str
    model: str
    detected: Detected


def import_file(path: PurePath, data: bytes, source: str, labels: Labels) -> Imported:
    """Return the cassettes that the bytes of one file hold.

    Args:
        path: the file's path, whose folders may name the provider.
        data: its bytes.
        source: what `origin.source` calls the file.
        labels: what the user says; it outranks the recording.

    Raises:
        UnreadableError: a known container that is damaged as a whole.
    """
    logged = read_conversations(path, data)
    if logged is not None:
        said = msgspec.structs.asdict(labels)
        named = tuple(label_conversation(each, said) for each in logged)
        return Imported(CONVERSATION, conversations=named)
    found = read(path, data)
    if found is None and labels.dialect:  # then it is known what to make of any bytes
        found = raw_body.CONTAINER, raw_body.body_file(path, data)
    if found is None:
        return Imported("")
    container, held = found
    whole = _labelled(held.cassette, source, labels)
    numbers = (n for n in count() if n not in held.damaged)
    seen = [
        _seen(n, interaction, whole, path, labels)
        for n, interaction in zip(numbers, whole.interactions, strict=False)
    ]
    reasons = [_reason_to_skip(item, container) for item in seen]
    taken = [item for item, reason in zip(seen, reasons, strict=True) if not reason]
    return Imported(
        container,
        tuple(_part(whole, items) for items in _groups(taken)),
        (*held.damaged.values(), *filter(None, reasons)),
        tuple((item.number, item.detected) for item in taken),
    )


def only_answers(cassette: Cassette) -> Cassette:
    """Return a cassette of vcrpy without the interactions that import would not take.

    Its users record whatever their client sends: logins, uploads, lists of models. A cassette
    that says where it comes from is taken as it is, and so is one that would be left empty.
    """
    reasons = reasons_to_skip(cassette)
    pairs = zip(cassette.interactions, reasons, strict=True)
    kept = tuple(interaction for interaction, reason in pairs if not reason)
    return msgspec.structs.replace(cassette, interactions=kept)


def reasons_to_skip(cassette: Cassette) -> tuple[str, ...]:
    """Return for each interaction why it is no answer to judge, "" where it is one.

    Where there is no answer at all, nothing is left out: a person must see what that is.
    """
    if cassette.origin.by != VCRPY:
        return ("",) * len(cassette.interactions)
    reasons = tuple(
        _reason_to_skip(_seen(n, interaction, cassette, PurePath(), Labels()), "")
        for n, interaction in enumerate(cassette.interactions)
    )
    return reasons if not all(reasons) else ("",) * len(reasons)


def _seen(
    n: int, interaction: Interaction, whole: Cassette, path: PurePath, labels: Labels
) -> _TakenInteraction:
    told = (whole.provider, identify.provider_of_interaction(interaction))
    by = next((name for name in told if name != UNKNOWN), "") or identify.provider_of_path(path)
    detected = _detected(interaction, by, labels)
    spoken = msgspec.structs.replace(interaction, dialect=detected.dialect)
    model = whole.model if whole.model != UNKNOWN else identify.model_of(spoken)
    return _TakenInteraction(n, spoken, by, model, detected)


def _detected(interaction: Interaction, by: str, labels: Labels) -> Detected:
    if labels.dialect:
        return Detected(labels.dialect, "certain", "--dialect says it")
    return identify.detected(interaction, by)


def _groups(taken: Iterable[_TakenInteraction]) -> Iterable[list[_TakenInteraction]]:
    groups: dict[tuple[str, str, str], list[_TakenInteraction]] = {}
    for item in taken:
        key = (item.provider, item.model, item.interaction.dialect)
        groups.setdefault(key, []).append(item)
    return groups.values()


def _reason_to_skip(item: _TakenInteraction, container: str) -> str:
    """Return why `item` is not taken, or ""; what was asked to stream is taken as it came."""
    interaction = item.interaction
    encoded = why_encoded(interaction.body, interaction.headers)
    if encoded:
        return encoded
    if interaction.dialect not in DIALECTS:
        return _unread(interaction.dialect)
    if container in _PLAIN_CONTAINERS:
        return ""
    return _reason_of_plain(interaction) if _is_plain(interaction.body) else ""


def _unread(dialect: str) -> str:
    return "no dialect recognised" if dialect == UNKNOWN else f"dialect {dialect} is not read"


def _reason_of_plain(interaction: Interaction) -> str:
    """Return why a response without events is none that the suite wants, or ""."""
    asked = _asked_for_stream(interaction)
    if asked is False:
        return "no stream was asked for"
    return "empty response to an unknown request" if not asked and not interaction.body else ""


def _is_plain(body: bytes) -> bool:
    """Whether `body` is empty, a page, or one JSON document: no stream, whatever was asked."""
    start = body.lstrip()
    if not start.startswith(b"{"):
        return not start or start.startswith((b"[", b"<"))
    return len(list(islice(iter_frames([body]), 2))) < 2  # noqa: PLR2004 - one is a document, two are events


def _asked_for_stream(interaction: Interaction) -> bool | None:
    """Tell whether the request asked for a stream; None where it was not kept."""
    request = interaction.request
    if request.method.upper() in _WITHOUT_BODY:
        return False
    path = request.uri.partition("?")[0]
    by_path = next((streams for ending, streams in _VERBS if path.endswith(ending)), None)
    if by_path is not None:
        return by_path
    asked = read_request(interaction.dialect, request)
    if not asked.tools_known:
        return None
    return asked.stream or any(header in _STREAMING for header in _lowered(request.headers))


def _lowered(headers: Headers) -> Iterable[tuple[str, str]]:
    return ((name.lower(), value.lower()) for name, value in headers)


def _labelled(cassette: Cassette, source: str, labels: Labels) -> Cassette:
    """Put the user's labels on; a cassette that names its own origin keeps that."""
    origin = cassette.origin
    if origin.by == BY:
        origin = msgspec.structs.replace(origin, source=source, licence=labels.licence)
    return msgspec.structs.replace(
        cassette,
        origin=origin,
        provider=labels.provider or _own_provider(cassette),
        model=labels.model or cassette.model,
        prompt=labels.prompt or cassette.prompt,
    )


def _own_provider(cassette: Cassette) -> str:
    """Return the provider that the file itself names; an address is looked at for each part."""
    return UNKNOWN if cassette.origin.by == BY else cassette.provider


def _part(whole: Cassette, items: list[_TakenInteraction]) -> Cassette:
    """Return interactions of one provider, model and dialect, saying where they come from."""
    origin = whole.origin
    if origin.by == BY:
        numbers = ",".join(str(item.number) for item in items)
        origin = msgspec.structs.replace(origin, source=f"{origin.source}#{numbers}")
    part = msgspec.structs.replace(
        whole,
        interactions=tuple(_scrubbed(item.interaction) for item in items),
        origin=origin,
        provider=items[0].provider,
        model=items[0].model,
    )
    return identify.identify(part)


def _scrubbed(interaction: Interaction) -> Interaction:
    request = msgspec.structs.replace(
        interaction.request,
        uri=credentials.scrub_address(interaction.request.uri),
        headers=credentials.scrub_headers(interaction.request.headers),
    )
    headers = credentials.scrub_headers(interaction.headers)
    return msgspec.structs.replace(interaction, headers=headers, request=request)
