"""Raw events get the members that the API has in each event, and keep what the author wrote."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.emulation.envelope import complete_events
from harness.emulation.recipe import Event, FramedEvent

_CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_760_000_000}


def _json(*values: Any) -> tuple[Event, ...]:  # noqa: ANN401 - any JSON
    return tuple(FramedEvent(json=value) for value in values)


def _objects(events: tuple[Event, ...]) -> list[Any]:
    found = []
    for event in events:
        assert isinstance(event, FramedEvent)
        is_named = event.keys[0] == "event"
        found.append(next(iter(event.value.values())) if is_named else event.value)
    return found


def test_the_first_delta_of_each_choice_gets_the_role() -> None:
    text: dict[str, Any] = {"index": 0, "delta": {"content": "a"}}
    call = {"index": 1, "delta": {"tool_calls": []}}
    events = complete_events("openai-chat", _json({"choices": [text]}, {"choices": [text, call]}))
    first, second = (value["choices"] for value in _objects(events))
    assert first == [
        {**text, "delta": {"role": "assistant", "content": "a"}, "finish_reason": None}
    ]
    assert [choice["delta"].get("role") for choice in second] == [None, "assistant"]


def test_a_chunk_gets_id_object_time_and_model() -> None:
    (chunk,) = _objects(complete_events("openai-chat", _json({"choices": []})))
    assert chunk == {**_CHUNK, "model": "{model}", "choices": []}


def test_a_role_of_null_and_an_own_id_are_kept() -> None:
    written = {"id": None, "choices": [{"index": 0, "delta": {"role": None}}]}
    (chunk,) = _objects(complete_events("openai-chat", _json(written)))
    assert (chunk["id"], chunk["choices"][0]["delta"]) == (None, {"role": None})


def test_a_named_function_gets_its_type_and_a_finished_stream_its_end() -> None:
    call, part = {"function": {"name": "f"}}, {"function": {"arguments": "{}"}}
    choice = {"index": 0, "delta": {"tool_calls": [call, part]}, "finish_reason": "tool_calls"}
    *chunks, end = complete_events("openai-chat", _json({"choices": [choice]}))
    (chunk,) = _objects(tuple(chunks))
    calls = chunk["choices"][0]["delta"]["tool_calls"]
    assert (calls, end) == ([{"type": "function", **call}, part], "data: [DONE]\n\n")
    (cut,) = complete_events("openai-chat", _json({"choices": [{**choice, "finish_reason": None}]}))
    assert isinstance(cut, FramedEvent)


def test_a_message_gets_event_lines_usage_and_role() -> None:
    start = {"type": "message_start", "message": {"id": "msg_9"}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    events = complete_events("anthropic", _json(start, end, {"type": "log"}))
    assert [event.keys[0] for event in events if isinstance(event, FramedEvent)] == [
        "event",
        "event",
        "json",
    ]
    message, delta, log = _objects(events)
    assert message["message"]["id"] == "msg_9"
    assert message["message"]["usage"] == {"input_tokens": 41, "output_tokens": 1}
    assert delta["usage"] == {"output_tokens": 12}
    assert log == {"type": "log"}


def test_a_response_starts_with_its_id_and_counts_its_events() -> None:
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "search"}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    delta = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"}
    end = {"type": "response.completed", "response": {"id": "resp_9", "output": []}}
    created, *others = _objects(complete_events("openai-responses", _json(added, delta, end)))
    assert (created["type"], created["response"]["id"]) == ("response.created", "resp_9")
    assert [value["sequence_number"] for value in (created, *others)] == [0, 1, 2, 3]
    assert others[0]["item"] == {**item, "status": "in_progress", "arguments": ""}
    assert others[1]["item_id"] == "fc_1"
    assert others[2]["response"]["output"] == []
    assert others[2]["response"]["usage"]["total_tokens"] == 53


def test_candidates_get_a_model_and_counts_if_the_response_has_none() -> None:
    first: dict[str, Any] = {"candidates": []}
    last: dict[str, Any] = {"candidates": [], "usage_metadata": {}}
    (bare,) = _objects(complete_events("gemini", _json(first)))
    assert bare["usageMetadata"]["totalTokenCount"] == 53
    counted = _objects(complete_events("gemini", _json(first, last)))
    assert counted == [{**first, "modelVersion": "{model}"}, {**last, "modelVersion": "{model}"}]


def test_events_of_the_realtime_api_stay_as_they_are() -> None:
    events = _json({"type": "response.output_item.added", "event_id": "e_1", "item": {}})
    assert complete_events("openai-responses", events) == events


@pytest.mark.parametrize(
    "dialect",
    ["openai-chat", "mistral", "openai-completions", "anthropic", "gemini", "openai-responses"],
)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["type", "choices", "candidates", "message", "item", "response", "id"]),
            st.sampled_from(["message_start", "response.completed", None, 1, [None], {"id": 2}]),
        )
    )
)
def test_what_the_author_wrote_is_kept(dialect: str, values: list[dict[str, Any]]) -> None:
    found = _objects(complete_events(dialect, _json(*values)))[-len(values) :] if values else []
    for value, completed in zip(values, found, strict=True):
        kept = {name: completed[name] for name in value}
        assert all(_contains(kept[name], value[name]) for name in value)


def _contains(completed: Any, written: Any) -> bool:  # noqa: ANN401 - any JSON
    if isinstance(written, dict):
        return all(_contains(completed[name], written[name]) for name in written)
    return bool(completed == written)


def test_text_and_other_dialects_stay_as_they_are() -> None:
    events: tuple[Event, ...] = ("data: {}\n\n", FramedEvent(json={"token": {}}))
    assert complete_events("tgi", events) == events
    assert complete_events("openai-chat", events[:1]) == events[:1]
