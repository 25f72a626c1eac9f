"""What the writers write by contract is what the providers' own packages declare.

Each event is checked strictly by the model that the package has for its type: no member that the
package requires may be missing, null or of another type.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import shipped
from harness.dialects.openai_responses.write import WriterOptions
from harness.dialects.table import DIALECTS
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.wire import cassette_file
from harness.wire.framing import iter_frames
from tests.normalizers.sdk.sdk_streams import clean_turns

# Dialect -> the provider's words for an end without calls and with them.
WORDS: Final = {
    "anthropic": ("end_turn", "tool_use"),
    "openai-chat": ("stop", "tool_calls"),
    "openai-responses": ("completed", "completed"),
}
CASSETTES: Final = shipped.bundled_folder("cassettes")
# Whose streams are those of the API itself.
OFFICIAL: Final = {
    "anthropic": ("anthropic",),
    "openai-chat": ("openai", "azure"),
    "openai-responses": ("openai", "azure"),
}
# Cassettes of theirs with an event that the package has no model for, and why.
ODD: Final = {
    "anthropic": {
        "claude-sonnet-4-5/document": "a document that was not streamed",
        "claude-opus-4-6/compaction": "a block of the beta API",
        "claude-sonnet-4-5/server-tools-and-text": "a block of the beta API",
        "claude-sonnet-4-5/signatures-late": "encrypted reasoning that is a number",
        "claude-sonnet-4-5/unknown-types": "types that no client knows",
    },
    "openai-chat": {
        "gpt-4o/delta-null": "a delta that is null",
        "gpt-5-mini/custom-tool": "its model of streamed calls has functions only",
        "gpt-5-mini/custom-tool-call": "its model of streamed calls has functions only",
        "gpt-5-mini/custom-tool-cut": "its model of streamed calls has functions only",
        "gpt-5-mini/custom-tool-equal-fragments": "its model of streamed calls has functions only",
    },
    "openai-responses": {
        "gpt-5.4/responses-cancelled": "events that the API does not document",
        "gpt-5.4/responses-web-search-in-progress": "a search without an action, as recorded",
        "gpt-5/reasoning-repeated": "reasoning without an id",
        "gpt-5-mini/responses-end-in-call": "cut inside an event",
        "gpt-5-mini/responses-error-behind-a-name": "an error in place of an event",
        "gpt-5-mini/responses-error-then-failed": "an error inside `error`",
        "gpt-5-mini/responses-json-for-stream": "a document that was not streamed",
        "gpt-realtime/realtime-call": "the Realtime API",
        "gpt-realtime/realtime-spoken": "the Realtime API",
        "gpt-realtime/realtime-translation": "the Realtime API",
    },
}
# The package reads these by their name and has no model of them as events.
UNTYPED: Final = {"anthropic": ("ping", "error")}

Model = Callable[[dict[str, Any]], Any]


@cache
def model(dialect: str) -> Model:
    """Return what gives the package's model for an event; skips where it is not installed."""
    if dialect == "anthropic":
        types = pytest.importorskip("anthropic.types", reason="the extra anthropic is missing")
        return _by_type(types.RawMessageStreamEvent)
    reason = "the extra openai is not installed"
    if dialect == "openai-responses":
        responses = pytest.importorskip("openai.types.responses", reason=reason)
        return _by_type(responses.ResponseStreamEvent)
    chunk = pytest.importorskip("openai.types.chat", reason=reason).ChatCompletionChunk
    return lambda _: chunk


def _by_type(annotated: object) -> Model:
    """Return the choice among the models of a union by the `type` of an event."""
    union = get_args(annotated)[0]
    models = {get_args(one.model_fields["type"].annotation)[0]: one for one in get_args(union)}

    def chosen(event: dict[str, Any]) -> Any:  # noqa: ANN401 - a model of the package
        if event.get("type") not in models:
            raise ValueError(f"no model of the type {event.get('type')!r}")
        return models[event["type"]]

    return chosen


def typed_events(dialect: str, reads: Iterable[bytes]) -> Iterator[object]:
    """Yield each event as the package's model of it.

    Raises:
        ValueError: an event is none, by that model.
    """
    for frame in iter_frames(reads):
        if frame.data == b"[DONE]":
            continue
        event = json.loads(frame.data)
        if event.get("type") not in UNTYPED.get(dialect, ()):
            yield model(dialect)(event).model_validate_json(frame.data, strict=True)


@pytest.mark.parametrize("dialect", WORDS)
@given(data=st.data())
def test_a_turn_by_contract_has_every_member_that_the_package_requires(
    dialect: str, data: st.DataObject
) -> None:
    thought: list[Delta] = [ReasoningDelta("Hm."), ReasoningDelta(" So.")]
    said = thought * data.draw(st.integers(0, 1))
    said += data.draw(clean_turns(*WORDS[dialect], usage_first=True))
    assert any(typed_events(dialect, DIALECTS[dialect].write(said, None)))


@given(
    turn=clean_turns("completed", "completed", usage_first=True),
    reasoning=st.sampled_from(("summary", "text")),
    obfuscation=st.booleans(),
)
def test_so_has_a_response_with_a_custom_call_in_every_spelling_that_is_no_quirk(
    turn: list[Delta], reasoning: Literal["summary", "text"], *, obfuscation: bool
) -> None:
    custom = (ToolCallStart(9, "c9", "patch", "custom"), ArgumentsDelta(9, "*** "), ToolCallEnd(9))
    spelling = WriterOptions(reasoning=reasoning, obfuscation=obfuscation)
    events = DIALECTS["openai-responses"].write([ReasoningDelta("Hm."), *custom, *turn], spelling)
    assert any(typed_events("openai-responses", events))


@pytest.mark.parametrize("dialect", WORDS)
def test_so_have_the_cassettes_of_the_api_itself(dialect: str) -> None:
    model(dialect)
    bodies = list(_official(dialect))
    assert len(bodies) > len(ODD[dialect])
    odd = {name for name, body in bodies if not _is_typed(dialect, body)}
    assert odd == {*ODD[dialect]}


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
def test_so_has_each_emulated_stream_whose_scenario_names_no_quirk(dialect: str) -> None:
    model(dialect)
    bodies = list(_without_quirk(dialect))
    assert bodies
    assert [name for name, body in bodies if not _is_typed(dialect, body)] == []


def _without_quirk(dialect: str) -> Iterator[tuple[str, bytes]]:
    """Yield scenario and body of the emulated answers of all servers."""
    root = shipped.bundled_folder("scenarios")
    for path in find_scenarios([root]):
        scenario = load_scenario(path, root)
        if not scenario.quirks:
            cassette = cassette_file.load_cassette(
                CASSETTES / f"{scenario.cassette}.yaml", CASSETTES
            )
            for answer in cassette.interactions if cassette.origin.kind == "emulated" else ():
                if answer.dialect == dialect and answer.status in (101, 200):
                    yield scenario.id, answer.body


def _official(dialect: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and body of the answers that a provider gave in its own API."""
    for provider in OFFICIAL[dialect]:
        folder = CASSETTES / provider
        for path in sorted(folder.rglob("*.yaml")):
            name = path.relative_to(folder).with_suffix("").as_posix()
            for answer in cassette_file.load_cassette(path, CASSETTES).interactions:
                if (answer.dialect, answer.status) == (dialect, 200):
                    yield name, answer.body


def _is_typed(dialect: str, body: bytes) -> bool:
    try:
        return all(typed_events(dialect, [body]))
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("dialect", "member", "rest"),
    [
        ("anthropic", b'"output_tokens": 9', b'"other": 1'),
        ("openai-chat", b'"created": 1760000000, ', b""),
        ("openai-responses", b'"content_index": 0, ', b""),
    ],
)
def test_a_member_that_is_missing_is_found(dialect: str, member: bytes, rest: bytes) -> None:
    said = (TextDelta("Ja."), UsageDelta(Usage(3, 9)), Finish(FinishReason.STOP, WORDS[dialect][0]))
    body = b"".join(DIALECTS[dialect].write(said, None))
    assert _is_typed(dialect, body)
    assert member in body
    assert not _is_typed(dialect, body.replace(member, rest))
