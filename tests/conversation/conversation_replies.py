"""Any reply that a provider may give, each with what of it may be run.

The truth is told by whoever makes the reply, and by nobody who reads it.
"""

import json
from typing import Final

import msgspec
from hypothesis import strategies as st

from harness.conversation.gateway import DUMMY
from tests.conversation.conversation_provider import FAILING, MEMORY, WEATHER, said

CALL: Final = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
_WHOLE: Final = ("", "stop", "tool_calls", "eos")
_CUT: Final = ("length", "content_filter", None)
_OSLO: Final = (WEATHER.name, '{"city": "Oslo"}')


class Given(msgspec.Struct, frozen=True):
    """One reply.

    Fields:
        reply: what the provider gives.
        may_run: names and arguments, as canonical JSON, of the calls that may run.
    """

    reply: bytes | tuple[int, bytes] | OSError
    may_run: tuple[tuple[str, str], ...] = ()


_IDS = st.sampled_from(["c1", "c2", "call_0", "", "functions.get_weather:0", "ключ", "x" * 80])
_GOOD = st.sampled_from(
    [
        _OSLO,
        (WEATHER.name, '{ "city":"Bergen" }'),
        ("memory_set", '{"a": [1, {"b": "\u2028"}]}'),
        (MEMORY.name, ""),
        (FAILING.name, "{}"),
    ]
)
_USELESS = st.sampled_from(
    [
        ("nope", "{}"),
        ("", "{}"),
        ("delete files; now", '{"a": 1}'),
        (DUMMY.name, '{"ok": true}'),
        (WEATHER.name, '{"town": 1}'),
        (WEATHER.name, '{"city": "Os'),
        (WEATHER.name, "杭州天气"),
        (WEATHER.name, '{"city": "Oslo"}{"city": "Oslo"}'),
        (WEATHER.name, '"{\\"city\\": \\"Oslo\\"}"'),
        (WEATHER.name, "[1]"),
        (MEMORY.name, '{"a": 1, "a": 2}'),
        (MEMORY.name, '{"a": ' + "[" * 400 + "]" * 400 + "}"),
    ]
)
_DECLARED: Final = {"memory_set": MEMORY.name}
_TEXTS = st.sampled_from(["", " ", "Let me see.", "我来查一下。", "{", "</tool_call>", "\ud83d"])


@st.composite
def calling(draw: st.DrawFn) -> Given:
    """Draw a whole reply with calls in the API's own field, good ones and others."""
    calls = draw(
        st.lists(st.tuples(_IDS, _GOOD | _USELESS), min_size=draw(st.integers(1, 4)), max_size=4)
    )
    finish = draw(st.sampled_from(_WHOLE))
    body = said(draw(_TEXTS), tuple((call_id, *call) for call_id, call in calls), finish)
    return Given(body, tuple(_named(call) for _, call in calls))


@st.composite
def cut_short(draw: st.DrawFn) -> Given:
    """Draw a reply that is not whole, whatever it has said by then."""
    calls = draw(
        st.lists(st.tuples(_IDS, _GOOD | _USELESS), min_size=draw(st.integers(0, 3)), max_size=3)
    )
    listed = tuple((call_id, *call) for call_id, call in calls)
    return Given(said(draw(_TEXTS), listed, draw(st.sampled_from(_CUT))))


@st.composite
def answering(draw: st.DrawFn) -> Given:
    """Draw a reply of text alone."""
    text = draw(_TEXTS | st.text(max_size=20))
    return Given(said(text, (), "stop", reasoning=draw(_TEXTS)))


@st.composite
def spelling(draw: st.DrawFn) -> Given:
    """Draw a reply that spells one call in its text, whole or broken."""
    frame = draw(
        st.sampled_from(
            [
                "{}",
                "```json\n{}\n```",
                "I look it up.\n```json\n{}\n```",
                "<tool_call>{}</tool_call>",
                '{{"reasoning": "r", "action": "tool_call", "tool_calls": [{}]}}',
                "I look: {} there",
            ]
        )
    )
    whole = draw(st.booleans())
    text = frame.format(CALL if whole else CALL[: -draw(st.integers(1, 30))])
    # Whether a spelled call is one depends on the prompt; broken, it never is.
    finish = draw(st.sampled_from(["stop", *(() if whole else _CUT)]))
    return Given(said(text, (), finish), (_named(_OSLO),) if whole and finish == "stop" else ())


def failing() -> st.SearchStrategy[Given]:
    """Draw a reply that is no turn at all, or an error."""
    error = b'{"error": {"message": "no", "code": "tool_use_failed"}}'
    whole = said("", (("c1", *_OSLO),))
    return st.sampled_from(
        [
            Given(b""),
            Given(b"\x00\xff\xfe"),
            Given(b"data: {]\n\n"),
            Given(b"<html>busy</html>"),
            Given((200, b'{"candidates": [{"content": {"parts": [{"text": "hi"}]}}]}')),
            Given((400, error)),
            Given((429, b"")),
            Given((500, whole)),
            Given((503, b"<html>busy</html>")),
            Given(whole[:150]),
            Given(said("", (), "tool_calls")),
            Given(ConnectionError("refused")),
            Given(b'data: {"choices": []}\n\n' * 50),
        ]
    )


def probe_answers() -> st.SearchStrategy[Given]:
    """Draw what a provider says to a probe; nothing of it may ever run."""
    return st.sampled_from(
        [
            Given(said("", (("p1", DUMMY.name, '{"ok": true}'),))),
            Given(said("", (("p1", DUMMY.name, "yes"),))),
            Given(said("I have no tools.")),
            Given((400, b'{"error": {"message": "does not support tools"}}')),
        ]
    )


def _named(call: tuple[str, str]) -> tuple[str, str]:
    name, arguments = call
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return "", ""
    if name == WEATHER.name and value not in ({"city": "Oslo"}, {"city": "Bergen"}):
        return "", ""  # it does not fit its tool
    return _DECLARED.get(name, name), json.dumps(value, sort_keys=True)
