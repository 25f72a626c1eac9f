"""Import one file as cassettes, and give the reason for each interaction that is skipped.

The importer takes interactions of known dialects, and every response to a request for a stream,
also if the response is an error, a page or empty. It counts each skipped interaction with its
reason, and removes secrets as the recorder does.

A file of conversations without the bytes of responses gives no cassettes, because there is nothing
to replay. The importer returns its conversations instead. Lines `{"messages": [...]}` give
cassettes, because the reader of chat logs rebuilds each answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, islice, zip_longest
from pathlib import PurePath
from typing import Final

import msgspec

from harness.conversation.history.jsonl import LoggedConversation, decode, is_conversation
from harness.conversation.history.third_party import read_messages
from harness.dialects.table import DIALECTS, read_request
from harness.errors import UnscrubbedError
from harness.files.load import BOM
from harness.providers import UNKNOWN
from harness.recording import identify, sessions
from harness.recording.detect import Detected, token_exchange_reason, unsupported_api
from harness.recording.importers import raw_body, read
from harness.recording.importers.container import BY, body_file
from harness.recording.importers.request_file import request_beside
from harness.recording.secrets.scrubber import Scrubber, clean_text, scrubbed_conversation
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import VCRPY
from harness.wire.decompress import why_encoded
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Request
from harness.wire.session import Session

CONVERSATION: Final = "conversation"
_SCRUBBER: Final = Scrubber()
_CONVERSATION_LABELS: Final = ("provider", "model", "prompt")


def read_conversations(path: PurePath, data: bytes) -> tuple[LoggedConversation, ...] | None:
    """Return the conversations of a file, or None if the file has another format.

    Raises:
        UnreadableError: the file has the header of this project and is damaged.
    """
    data = data.removeprefix(BOM)
    if is_conversation(data):
        return decode(data, str(path))
    if b'"messages"' in data.lstrip().partition(b"\n")[0]:
        return None
    return read_messages(data)


def label_conversation(logged: LoggedConversation, labels: dict[str, str]) -> LoggedConversation:
    """Return a conversation with the user's labels; empty labels change nothing."""
    given = {name: labels[name] for name in _CONVERSATION_LABELS if labels.get(name)}
    return msgspec.structs.replace(logged, about=msgspec.structs.replace(logged.about, **given))


# Containers of complete answers, and of bodies without a request: these are imported, too.
_PLAIN_CONTAINERS: Final = frozenset({"chat-log", raw_body.CONTAINER})
# Containers of responses, whose requests may be in other files.
_WITHOUT_REQUESTS: Final = frozenset({"chunk-list", "raw-sse", raw_body.CONTAINER})
# Ends of the addresses of requests for a stream, and for a complete response.
_STREAM_VERBS: Final = (
    ":streamGenerateContent",
    ":streamRawPredict",
    "/converse-stream",
    "/invoke-with-response-stream",
)
_PLAIN_VERBS: Final = (":generateContent", ":rawPredict", "/converse", "/invoke")
_NAMED: Final = "named by --dialect"
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_STREAMING: Final = frozenset({("x-dashscope-sse", "enable"), ("accept", "text/event-stream")})


class Labels(msgspec.Struct, frozen=True):
    """The labels that the user gave for the recordings; the importer detects a label that is ""."""

    provider: str = ""
    model: str = ""
    prompt: str = ""
    dialect: str = ""
    licence: str = ""


class Imported(msgspec.Struct, frozen=True):
    """The result of importing one file.

    Fields:
        container: the file format: a key of `importers.READERS`, or `conversation`; "" if no reader
            knows the format.
        cassettes: one cassette for each provider, model and dialect, in the order of their first
            interactions.
        skipped: the reason for each skipped interaction; damaged ones first.
        detected: number in the file and dialect of each imported interaction.
        conversations: the conversations in a file that does not contain the bytes of responses.
    """

    container: str
    cassettes: tuple[Cassette, ...] = ()
    skipped: tuple[str, ...] = ()
    detected: tuple[tuple[int, Detected], ...] = ()
    conversations: tuple[LoggedConversation, ...] = ()


class _TakenInteraction(msgspec.Struct, frozen=True):
    """An interaction that may be imported, with its number in the file and its labels."""

    number: int
    interaction: Interaction
    provider: str
    model: str
    detected: Detected


def import_file(
    path: PurePath,
    data: bytes,
    source: str,
    labels: Labels,
    requests: Sequence[Request] = (),
) -> Imported:
    """Import the bytes of one file, and return its cassettes or conversations.

    Args:
        path: the file's path, whose folders may name the provider.
        data: the bytes of the file.
        source: the source of the file, for `origin.source`.
        labels: the user's labels, which override the labels of the recording.
        requests: the requests of the responses, if the file does not contain them.

    Raises:
        UnreadableError: the file format is known, but no entry can be read.
    """
    logged = read_conversations(path, data)
    if logged is not None:
        return _imported_conversations(logged, labels)
    found = read(path, data)
    if found is None and labels.dialect:  # then any bytes are a body
        found = raw_body.CONTAINER, body_file(path, data)
    if found is None:
        return Imported("")
    container, held = found
    cassette = held.cassette
    if not requests and container in _WITHOUT_REQUESTS:
        requests = tuple(filter(None, [request_beside(path)]))
    whole = _labelled(with_requests(cassette, requests), source, labels)
    numbers = (n for n in count() if n not in held.damaged and n not in held.sessions)
    seen = [
        _seen(n, interaction, whole, path, labels)
        for n, interaction in zip(numbers, whole.interactions, strict=False)
    ]
    reasons = [_reason_to_skip(item, container) for item in seen]
    chosen = [item for item, reason in zip(seen, reasons, strict=True) if not reason]
    taken, refused = _without_secrets(chosen)
    inside = _imported_sessions(whole, held.sessions, path, labels)
    return Imported(
        container,
        (*(_part(whole, items) for items in _groups(taken)), *inside.cassettes),
        (*held.damaged.values(), *filter(None, reasons), *refused, *inside.skipped),
        (*((item.number, item.detected) for item in taken), *inside.detected),
    )


def _imported_sessions(
    whole: Cassette, held: Mapping[int, Session], path: PurePath, labels: Labels
) -> Imported:
    """Return a cassette for each WebSocket connection in which a response of a dialect is found."""
    cassettes, skipped, detected = [], [], []
    for number, session in held.items():
        named = (whole.provider, identify.provider(session.request.uri))
        by = next((name for name in named if name != UNKNOWN), "")
        by = by or identify.provider_of_path(path)
        seen = sessions.detected_session(session, by, labels.dialect)
        try:
            clean = sessions.clean_session(session, _SCRUBBER, "")
        except UnscrubbedError as error:
            skipped.append(_refused(error))
            continue
        found = sessions.found_session(clean, seen.dialect)
        if not found.turns:
            skipped.append(_reason_without_turns(seen))
            continue
        numbered = msgspec.structs.replace(whole.origin, source=f"{whole.origin.source}#{number}")
        origin = numbered if whole.origin.by == BY else whole.origin
        pattern = msgspec.structs.replace(whole, provider=by, origin=origin)
        cassettes.append(sessions.session_cassette(pattern, found, seen.dialect))
        detected.append((number, seen))
    return Imported("", tuple(cassettes), tuple(skipped), tuple(detected))


def _reason_without_turns(seen: Detected) -> str:
    row = DIALECTS.get(seen.dialect)
    if row is None:
        return "no recognized dialect in a WebSocket connection"
    if row.sessions is None:
        return f"dialect {seen.dialect} has no WebSocket sessions"
    return "a WebSocket connection without messages of the server"


def with_requests(cassette: Cassette, requests: Sequence[Request]) -> Cassette:
    """Return a cassette whose interactions without a request body have those of `requests`.

    If there are more requests than responses, the last ones count.
    """
    first = max(len(requests) - len(cassette.interactions), 0)
    pairs = zip_longest(cassette.interactions, requests[first:])
    return msgspec.structs.replace(
        cassette,
        interactions=tuple(
            msgspec.structs.replace(each, request=request)
            if request is not None and not each.request.body
            else each
            for each, request in pairs
        ),
    )


def _imported_conversations(logged: Iterable[LoggedConversation], labels: Labels) -> Imported:
    given = msgspec.structs.asdict(labels)
    taken, refused = [], []
    for each in logged:
        try:
            taken.append(label_conversation(scrubbed_conversation(each), given))
        except UnscrubbedError as error:
            refused.append(_refused(error))
    return Imported(CONVERSATION, skipped=tuple(refused), conversations=tuple(taken))


def only_answers(cassette: Cassette) -> Cassette:
    """Return a cassette of vcrpy without the interactions that the importer would skip.

    Users of vcrpy record all requests of a client: logins, uploads, lists of models. From a
    cassette with another origin, only exchanges of tokens are removed. A cassette that would be
    empty is unchanged.
    """
    reasons = reasons_to_skip(cassette)
    pairs = zip(cassette.interactions, reasons, strict=True)
    kept = tuple(interaction for interaction, reason in pairs if not reason)
    return msgspec.structs.replace(cassette, interactions=kept)


def reasons_to_skip(cassette: Cassette) -> tuple[str, ...]:
    """Return, for each interaction, why the harness cannot judge it; "" if it can.

    If none can be judged, all reasons are "", because the user must see the interactions.
    """
    reasons = tuple(
        _reason_to_skip(_seen(n, interaction, cassette, PurePath(), Labels()), "")
        if cassette.origin.by == VCRPY
        else token_exchange_reason(interaction) or reason_of_unread_api(interaction)
        for n, interaction in enumerate(cassette.interactions)
    )
    return reasons if not all(reasons) else ("",) * len(reasons)


def _seen(
    n: int, interaction: Interaction, whole: Cassette, path: PurePath, labels: Labels
) -> _TakenInteraction:
    named = (whole.provider, identify.provider_of_interaction(interaction))
    by = next((name for name in named if name != UNKNOWN), "") or identify.provider_of_path(path)
    detected = _detected(interaction, by, labels)
    identified = msgspec.structs.replace(interaction, dialect=detected.dialect)
    model = whole.model if whole.model != UNKNOWN else identify.model_of(identified)
    return _TakenInteraction(n, identified, by, model, detected)


def _detected(interaction: Interaction, by: str, labels: Labels) -> Detected:
    if labels.dialect:
        return Detected(labels.dialect, "certain", _NAMED)
    return identify.detected(interaction, by)


def _groups(taken: Iterable[_TakenInteraction]) -> Iterable[list[_TakenInteraction]]:
    groups: dict[tuple[str, str, str], list[_TakenInteraction]] = {}
    for item in taken:
        key = (item.provider, item.model, item.interaction.dialect)
        groups.setdefault(key, []).append(item)
    return groups.values()


def _reason_to_skip(item: _TakenInteraction, container: str) -> str:
    """Return why the importer skips `item`; "" if it imports it.

    It imports every response to a request for a stream.
    """
    interaction = item.interaction
    reason = token_exchange_reason(interaction) or why_encoded(
        interaction.body, interaction.headers
    )
    if not reason and item.detected.because != _NAMED:
        reason = reason_of_unread_api(interaction)
    if reason:
        return reason
    if interaction.dialect not in DIALECTS:
        unread = f"dialect {interaction.dialect} is not supported"
        return "no recognized dialect" if interaction.dialect == UNKNOWN else unread
    if container in _PLAIN_CONTAINERS:
        return ""
    return _reason_of_plain(interaction) if _is_plain(interaction.body) else ""


def reason_of_unread_api(interaction: Interaction) -> str:
    """Return why no client is judged on a response of an API that no dialect reads; else ""."""
    api = unsupported_api(interaction)
    return f"no dialect reads {api}" if api else ""


def _reason_of_plain(interaction: Interaction) -> str:
    """Return why the importer skips a response without events; "" if it imports it."""
    streams = asked_for_stream(interaction)
    if streams is False:
        return "the request was not for a stream"
    return "empty response to an unknown request" if not streams and not interaction.body else ""


def _is_plain(body: bytes) -> bool:
    """Whether `body` is empty, a page, or one JSON document, and so not a stream."""
    if not (start := body.lstrip()).startswith(b"{"):
        return not start or start.startswith((b"[", b"<"))
    return len(list(islice(iter_frames([body]), 2))) < 2  # noqa: PLR2004 - one is a document, two are events


def asked_for_stream(interaction: Interaction) -> bool | None:
    """Return whether the request asks for a stream; None if the request was not recorded."""
    path = (request := interaction.request).uri.partition("?")[0]
    if request.method.upper() in _WITHOUT_BODY or path.endswith(_PLAIN_VERBS):
        return False
    if path.endswith(_STREAM_VERBS):
        return True
    parsed = read_request(interaction.dialect, request)
    if not parsed.tools_known:
        return None
    headers = ((name.lower(), value.lower()) for name, value in request.headers)
    return parsed.stream or not _STREAMING.isdisjoint(headers)


def _labelled(cassette: Cassette, source: str, labels: Labels) -> Cassette:
    """Return a cassette with the user's labels; an origin that the cassette has stays unchanged."""
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
    """Return the provider that the file states, for the addresses that show none."""
    return UNKNOWN if cassette.origin.by == BY else cassette.provider


def _part(whole: Cassette, items: list[_TakenInteraction]) -> Cassette:
    """Return a cassette of `items`, which have one provider, model and dialect."""
    origin = whole.origin
    if origin.by == BY:
        numbers = ",".join(str(item.number) for item in items)
        origin = msgspec.structs.replace(origin, source=f"{origin.source}#{numbers}")
    part = msgspec.structs.replace(
        whole,
        interactions=tuple(item.interaction for item in items),
        origin=origin,
        provider=items[0].provider,
        model=items[0].model,
    )
    return identify.identify(part)


def _without_secrets(
    chosen: Iterable[_TakenInteraction],
) -> tuple[list[_TakenInteraction], list[str]]:
    """Remove the secrets of the interactions as the recorder does.

    Returns:
        The interactions without secrets, and the reasons why others cannot be written.
    """
    items = tuple(chosen)
    known = _SCRUBBER.known(item.interaction.request for item in items)
    taken, refused = [], []
    for item in items:
        try:
            scrubbed = _SCRUBBER.interaction(item.interaction, known, "")
            model = clean_text(item.model, "the model", known)
        except UnscrubbedError as error:
            refused.append(_refused(error))
        else:
            taken.append(msgspec.structs.replace(item, interaction=scrubbed, model=model))
    return taken, refused


def _refused(error: UnscrubbedError) -> str:
    return f"a secret cannot be replaced: {error.what}"
