"""Check a client command with ten responses that every client of an API reads in the same way."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from harness.checks.bundled_data import Check
from harness.dialects.kit.dialect import Dialect
from harness.dialects.table import DIALECTS
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.replaying import Cuts
from harness.normalizers.client import client_normalizer
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.runs.filters import globs_of
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallStart,
    Usage,
    UsageDelta,
    call_deltas,
)
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read
from harness.wire.reads import synthetic_interaction

_LONG: Final = 2_000
_SHOWN: Final = 120
_STOP: Final = Finish(FinishReason.STOP, "stop")
_CALLS: Final = Finish(FinishReason.TOOL_CALLS, "tool_calls")
_OSLO: Final = call_deltas(0, "call_a", "get_weather", '{"city": ', '"Oslo"}')
_TURNS: Final[dict[str, tuple[Delta, ...]]] = {
    "text in two pieces": (TextDelta("Hello, "), TextDelta("world."), _STOP),
    "text that is not ASCII": (TextDelta("雪化了。"), TextDelta("🌱 é"), _STOP),
    f"text in {_LONG} pieces": (*(TextDelta(f"{n} ") for n in range(_LONG)), _STOP),
    "usage": (TextDelta("Hi."), _STOP, UsageDelta(Usage(12, 3))),
    "one call": (*_OSLO, _CALLS),
    "text, then a call": (TextDelta("Let me look."), *_OSLO, _CALLS),
    "two calls": (*_OSLO, *call_deltas(1, "call_b", "get_time", '{"zone": "雪"}'), _CALLS),
    "a call without arguments": (*call_deltas(0, "call_a", "list_files", "{}"), _CALLS),
}
# Those that the calls name, and one that no call names, as in the request of a user.
_TOOLS: Final = tuple(
    Tool(name, about, {"type": "object", "properties": {key: {"type": "string"}}})
    for name, about, key in (
        ("get_weather", "Tell the weather in a city.", "city"),
        ("get_time", "Tell the time in a time zone.", "zone"),
        ("list_files", "List the files of a folder.", "path"),
        ("read_file", "Return the text of a file.", "path"),
    )
)
_JSON: Final = (("content-type", "application/json"),)
_NO_KEY: Final = b'{"error": {"message": "no such key", "type": "authentication_error"}}'
_BROKEN: Final = "a connection that breaks off after half of the body"
_REFUSED: Final = "status 401 with an error document"


def check_client(command: str) -> Iterator[Check]:
    """Run a client on the ten responses of each dialect that it supports, and yield the results.

    Args:
        command: the command line that starts the client, as for `client_normalizer`.

    Raises:
        NormalizerLoadError: the command cannot be started, or its first line is not a valid hello.
    """
    client = client_normalizer(command)
    yield Check(f"hello: {client.summary}", ok=True, count=len(client.dialects), detail=())
    for name in sorted(client.dialects):
        for title, interaction in iter_responses(DIALECTS[name]):
            yield _check_one(f"{name}: {title}", interaction, client)


def check_plain(name: str, filters: str) -> tuple[Check, ...]:
    """Run a client of the project on the ten responses of each dialect, unsplit.

    It runs third-party code, so call it in a worker process.

    Args:
        name: the name of a normalizer that is not a gateway.
        filters: the filters of the project, which may select dialects.

    Raises:
        NormalizerLoadError: the client cannot be loaded.
        UsageError: the filters are not `key:glob`.
    """
    client = load_normalizer(name)
    globs = globs_of(filters, "dialect")
    chosen = (it for it in sorted(client.dialects) if all(fnmatchcase(it, each) for each in globs))
    return tuple(_check_dialect(name, DIALECTS[each], client) for each in chosen)


def _check_dialect(name: str, dialect: Dialect, client: Normalizer) -> Check:
    responses = iter_responses(dialect)
    checks = [_check_one(title, it, client, cuts="whole") for title, it in responses]
    wrong = tuple(
        f"{it.check}: {line}" for it in checks if not it.ok for line in it.detail or ("it fails",)
    )
    title = f"{name} reads plain responses of {dialect.name}"
    return Check(title, ok=not wrong, count=len(checks), detail=wrong)


def iter_responses(dialect: Dialect) -> Iterator[tuple[str, Interaction]]:
    """Yield ten responses of an API, each with its title, that every client reads alike."""
    replace, has_calls = msgspec.structs.replace, dialect.arguments != "none"
    tools = _TOOLS if has_calls else ()
    request = dialect.request_forms[""].first_request("check", "Hi.", tools)
    for title, deltas in _TURNS.items():
        if has_calls or not any(isinstance(it, ToolCallStart) for it in deltas):
            yield title, dialect.interaction(deltas, request=request)
    text = dialect.interaction(_TURNS["text in two pieces"], request=request)
    half = text.body[: len(text.body) // 2]
    yield _BROKEN, replace(text, body=half, reads=(Read(len(half)),), ended="truncated")
    yield (
        _REFUSED,
        synthetic_interaction(_NO_KEY, request, status=401, headers=_JSON, dialect=dialect.name),
    )


def _check_one(
    title: str, interaction: Interaction, client: Normalizer, *, cuts: Cuts = "quick"
) -> Check:
    cassette = Cassette(title, (interaction,), Origin("emulated"))
    result, _ = judge_subject(LoadedSubject(cassette), client, cuts=cuts)
    wrong = tuple(
        f"{found.rule} at {found.path}: expected {found.expected[:_SHOWN]}, "
        f"found {found.actual[:_SHOWN]}"
        for found in result.findings
        if found.level == "MUST"
    )
    return Check(title, ok=not result.outcome.fails, count=result.replays, detail=wrong)
