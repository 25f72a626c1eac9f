"""Recipes: a taught prompt tells of the tools in words, a native one in the request."""

import json
from typing import Any

import pytest

from harness.conversation.prompts import PROMPTS, system_text
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette
from scripts.recipes.kit import Recipe, cassette, finish, stream, text
from scripts.recipes.tools import functions

NAMES = ("schema.list_tables", "get_time")


def made(prompt: str) -> tuple[Cassette, dict[str, Any]]:
    reply = stream(text("Hello."), finish("stop"))
    stored = cassette(Recipe("compatible/any/x", "Hello?", NAMES, (reply,), prompt=prompt))
    return stored, json.loads(stored.interactions[0].request.body)


@pytest.mark.parametrize("prompt_id", PROMPTS)
def test_the_cassette_says_how_its_tools_were_asked_for(prompt_id: str) -> None:
    stored, body = made(prompt_id)
    prompt, listed = PROMPTS[prompt_id], functions(NAMES)
    assert stored.prompt == prompt_id
    assert stored.tools == (listed if prompt.taught else ())
    assert ("tools" in body) is not prompt.taught
    tools = tuple(Tool(**function) for function in listed)
    assert body["messages"][0] == {"role": "system", "content": system_text(prompt, tools)}
