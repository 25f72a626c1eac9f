"""Read a file of prompts, and build the requests with them, in order.

    - id: weather-oslo
      question: What is the weather in Oslo?
      prompt: tag-tools/v1          # of `harness list prompts`; by default native-tools/v2
      tools: [{name: get_weather, parameters: {type: object}}]
      options: {temperature: 0.7}   # further fields of the request

An unknown key is an error. Tools that the prompt describes are recorded with the request.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from harness.conversation.prompts import DEFAULT_PROMPT, find_prompt, system_text
from harness.conversation.replies import next_request
from harness.conversation.task import Reply, Task
from harness.errors import UnreadableError
from harness.files.load import load_yaml_file
from harness.files.typed import (
    expect_list,
    expect_mapping,
    expect_text,
    refuse_type,
    refuse_unknown_keys,
)
from harness.turns.messages import system, user
from harness.turns.turn import Tool
from harness.wire import prompt_tools
from harness.wire.interaction import Request

_KEYS: Final = ("id", "question", "prompt", "system", "tools", "options")


class PromptEntry(msgspec.Struct, frozen=True):
    """An entry of a file of prompts: a question to record.

    Fields:
        id: the name of the cassette.
        question: the user's text.
        prompt: id of a prompt of `conversation.prompts`.
        options: further keys of the request's JSON body.
    """

    id: str
    question: str
    prompt: str = DEFAULT_PROMPT
    system: str = ""
    tools: tuple[Tool, ...] = ()
    options: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def described_tools(self) -> tuple[dict[str, Any], ...]:
        """The tools that the prompt describes in text, as the cassette stores them."""
        if not find_prompt(self.prompt).describes_tools:
            return ()
        return tuple(msgspec.to_builtins(tool) for tool in self.tools)


def load_prompts(path: Path) -> tuple[PromptEntry, ...]:
    """Return the prompts in a file.

    Raises:
        UnreadableError: the file cannot be read, or is not a list of prompts.
        UsageError: the file names an unknown prompt.
    """
    items = expect_list(load_yaml_file(path, hint="Check --prompts."), str(path))
    entries = tuple(_prompt_entry(item, f"{path}: [{n}]") for n, item in enumerate(items))
    if not entries:
        raise UnreadableError("expected a list of prompts, found none", where=str(path))
    return entries


def _prompt_entry(value: object, where: str) -> PromptEntry:
    fields = expect_mapping(value, where)
    refuse_unknown_keys(fields, _KEYS, where)
    texts = {name: expect_text(fields.get(name), f"{where}.{name}") for name in _KEYS[:4]}
    for name in ("id", "question"):
        if not texts[name]:
            refuse_type("text", fields.get(name), f"{where}.{name}")
    prompt = find_prompt(texts["prompt"] or DEFAULT_PROMPT).id
    tools = prompt_tools.read_prompt_tools(fields.get("tools"), f"{where}.tools")
    return PromptEntry(
        texts["id"],
        texts["question"],
        prompt,
        texts["system"],
        msgspec.convert(tools, tuple[Tool, ...]),
        expect_mapping(fields.get("options"), f"{where}.options"),
    )


def prompt_requests(
    asked: Sequence[PromptEntry], uri: str, dialect: str, model: str, options: Mapping[str, Any]
) -> Iterator[tuple[PromptEntry, Request]]:
    """Yield each prompt with its request.

    Args:
        asked: the entries of a file of prompts.
        uri: the complete address of the server.
        dialect: the dialect of the server's API.
        model: the model of the request.
        options: further keys of all request bodies; the options of an entry override them.

    Raises:
        UsageError: the harness cannot write requests in `dialect`.
    """
    for each in asked:
        prompt = find_prompt(each.prompt)
        instructions = system(system_text(prompt, each.tools, each.system))
        task = Task((each.question,), each.tools, _no_provider, _no_tool, model, "", dialect, uri)
        tools = () if prompt.describes_tools else each.tools
        request = next_request(
            task, (instructions, user(each.question)), tools, {**options, **each.options}
        )
        yield each, request


def _no_provider(request: Request) -> Reply:
    raise NotImplementedError(f"{request.uri}: recording sends its requests otherwise")


def _no_tool(name: str, arguments: dict[str, Any]) -> object:
    raise NotImplementedError(f"{name}({arguments}): recording executes no tools")
