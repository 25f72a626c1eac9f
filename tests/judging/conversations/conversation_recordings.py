"""Cassettes of whole conversations, as a client recorded them, for the tests of conversations."""

import json
from typing import Any

from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request
from tests.conversation.conversation_provider import TOOLS, said, weather

USER = {"role": "user", "content": "Weather?"}
DECLARED = [
    {"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}}
    for tool in TOOLS
]
Message = dict[str, Any]


def asked(*messages: Message) -> bytes:
    return json.dumps({"model": "m", "messages": messages, "tools": DECLARED}).encode()


def recorded(*exchanges: tuple[bytes, bytes], dialect: str = "openai-chat") -> Cassette:
    interactions = tuple(
        Interaction(Request(body=request), 200, (), reply, (Read(len(reply)),), dialect=dialect)
        for request, reply in exchanges
    )
    return Cassette("a/b", interactions, Origin("imported"), "openai", "m", "p")


def called(*ids: str, **more: object) -> Message:
    entries = [
        {"id": each, "type": "function", "function": {"name": name, "arguments": arguments}}
        for each, name, arguments in map(weather, ids)
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries, **more}


def gave(call_id: str, content: str = "clear") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


CALL = (asked(USER), said("", (weather(),)))
ROUND_TRIP = recorded(CALL, (asked(USER, called("c1"), gave("c1")), said("Clear.")))
