"""Define rules about the system text and the tools that an agent sends to the model."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from harness.conversation.prompts import PROMPTS, Prompt, system_text
from harness.judging.conversations.evidence import (
    ConversationEvidence,
    RequestEvidence,
    conversation_rule,
)
from harness.judging.conversations.session import json_or_repr, same_value
from harness.judging.rule import Violation
from harness.results.outcome import Outcome
from harness.turns.messages import text_of
from harness.turns.turn import Tool

_FENCE = "```"


@conversation_rule("CONV-SYSTEM-LOST", Outcome.MISMATCH)
def _system_lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    wanted = evidence.task.system
    for index, request in _of_user(evidence):
        if wanted not in request.system:
            yield Violation(f"requests[{index}].messages", wanted, request.system or "none")


@conversation_rule("CONV-TOOLS-OFFERED", Outcome.LOST_CALL)
def _offered(evidence: ConversationEvidence) -> Iterator[Violation]:
    tools = evidence.task.tools
    descriptions = _descriptions(tools)
    for index, request in _of_user(evidence):
        text = request.system
        if request.tools is not None:
            if any(described in text for described in descriptions):
                actual = "both the tools and a text that describes calls of them"
                yield Violation(f"requests[{index}].tools", "one of both", actual)
            for path, expected, found in _undeclared(tools, request.declared):
                place = f"requests[{index}].tools{path}"
                came = evidence.own_design if ".parameters" in path else ""
                yield Violation(place, expected, found, came=came)
        elif missing := [name for name in _names_of(tools) if name not in text]:
            yield Violation(f"requests[{index}]", "each tool with its parameters", missing)
        elif alike := next(_iter_alike(tools, text), None):
            expected = f"words that tell that {alike[0]} is required and {alike[1]} is optional"
            yield Violation(f"requests[{index}]", expected, "the same words for both")


@conversation_rule("CONV-PROMPT-TEXT", Outcome.MISMATCH, yields_to=("CONV-TOOLS-OFFERED",))
def _prompt_text(evidence: ConversationEvidence) -> Iterator[Violation]:
    in_text = [(index, it) for index, it in _of_user(evidence) if it.tools is None]
    descriptions = _descriptions(evidence.task.tools) if in_text else ()
    for index, request in in_text if descriptions else ():
        text = request.system
        # The application's own text may have any examples, also those of a prompt.
        added = text.replace(evidence.task.system, "", 1)
        found = [described for described in descriptions if described in added]
        if not found or _FENCE in added.replace(found[0], "", 1):
            expected = f"the text of the prompt {evidence.task.prompt}, and no other example"
            yield Violation(f"requests[{index}].messages", expected, text)


@conversation_rule("CONV-PROBE-LEAKED", Outcome.MISMATCH, yields_to=("CONV-META-HONEST",))
def _probe_leaked(evidence: ConversationEvidence) -> Iterator[Violation]:
    probes = evidence.requests[: evidence.probes]
    questions = {text_of(it) for probe in probes for it in probe.messages}
    questions -= {"", *evidence.task.questions}
    dummies = {name for probe in probes for name in probe.tools or ()}
    dummies -= {tool.name for tool in evidence.task.tools}
    for index, request in _of_user(evidence):
        for number, message in enumerate(request.messages):
            if any(question in text_of(message) for question in questions):
                path = f"requests[{index}].messages[{number}]"
                yield Violation(path, "nothing of the probe", text_of(message))
        for name in dummies.intersection(request.tools or ()):
            yield Violation(f"requests[{index}].tools", "no tool of the probe", name)


def _of_user(evidence: ConversationEvidence) -> Iterator[tuple[int, RequestEvidence]]:
    """Yield the index and the evidence of each request that is not a probe for tool support."""
    yield from enumerate(evidence.requests[evidence.probes :], evidence.probes)


# Members that SDKs add to a schema: strict schemas bar further members and require each one
# (https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas"), Pydantic and
# others give titles, and a tool without parameters needs an empty object.
_ADDED: Final[dict[str, tuple[object, ...] | None]] = {
    "additionalProperties": (False,),
    "$schema": None,
    "title": None,
    "type": ("object",),
    "properties": ({},),
    "required": ([],),
}


def _undeclared(
    tools: tuple[Tool, ...], declared: tuple[Tool, ...]
) -> Iterator[tuple[str, object, object]]:
    """Yield each difference of declared tools from the given ones: path, expected, actual."""
    if len(tools) != len(declared):
        names = [tool.name for tool in declared]
        yield "", f"tools: {len(tools)}", f"{len(names)}: {', '.join(names)}"
        return
    by_name = {tool.name: index for index, tool in enumerate(declared)}
    # A name that the API refuses is sent in another form.
    known = {tool.name for tool in tools}
    others = iter([index for name, index in by_name.items() if name not in known])
    for tool in tools:
        index = by_name[tool.name] if tool.name in by_name else next(others, None)
        if index is None:
            yield "", f"a tool {tool.name!r}", ", ".join(by_name)
            continue
        found = declared[index]
        if found.description.strip() != tool.description.strip():
            yield f"[{index}].description", tool.description, found.description
        schema = json_or_repr(found.parameters)
        if lost := [name for name in _properties(tool) if json_or_repr(name) not in schema]:
            yield f"[{index}]", f"the parameters {', '.join(lost)}", "not declared"
        required = found.parameters.get("required") or []
        if lost := [name for name in _required(tool) if name not in required]:
            yield f"[{index}]", f"required: {', '.join(lost)}", "optional"
        for path, expected, actual in _changed(tool.parameters, found.parameters):
            yield f"[{index}].parameters{path}", expected, actual


def _changed(expected: object, found: object, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield each difference of a schema from the application's, except what SDKs add."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in {**expected, **found}:
            if key not in expected:
                allowed = _ADDED.get(key, ())
                if allowed is not None and found[key] not in allowed:
                    yield f"{path}.{key}", "no such member", json_or_repr(found[key])
            elif key not in found:
                yield f"{path}.{key}", json_or_repr(expected[key]), "no such member"
            else:
                yield from _changed(expected[key], found[key], f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, pair in enumerate(zip(expected, found, strict=True)):
            yield from _changed(*pair, f"{path}[{index}]")
    elif not same_value(expected, found):
        yield path, json_or_repr(expected), json_or_repr(found)


def _names_of(tools: tuple[Tool, ...]) -> Iterator[str]:
    for tool in tools:
        yield tool.name
        yield from _properties(tool)


def _properties(tool: Tool) -> dict[str, Any]:
    properties = tool.parameters.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(tool: Tool) -> list[str]:
    required = tool.parameters.get("required")
    listed = required if isinstance(required, list) else []
    return [name for name in _properties(tool) if name in listed]


def _iter_alike(tools: tuple[Tool, ...], text: str) -> Iterator[tuple[str, str]]:
    """Yield each required and optional parameter of one tool that `text` describes alike.

    That is certain only if the schemas are equal, each name is in one line alone, both lines are
    equal without the names, and no line between them is about something else.
    """
    for tool in tools:
        text = text.replace(tool.description.strip() or "\n", "\n")
    lines = text.splitlines()
    for tool in tools:
        places: dict[str, int] = {}
        for name in _properties(tool):
            alone = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            found = [at for at, line in enumerate(lines) if alone.search(line)]
            if len(found) == 1:
                places[name] = found[0]
        for one, other in product(_required(tool), _properties(tool)):
            if other in _required(tool) or not {one, other} <= places.keys():
                continue
            first, last = sorted((places[one], places[other]))
            between = range(first, last + 1)
            if (
                first != last
                and _properties(tool)[one] == _properties(tool)[other]
                and lines[places[one]].replace(one, "") == lines[places[other]].replace(other, "")
                and set(between) <= set(places.values())
            ):
                yield one, other


def _descriptions(tools: tuple[Tool, ...]) -> tuple[str, ...]:
    """Return the texts with which the harness's prompts describe `tools`."""
    prompts = (prompt for prompt in PROMPTS.values() if prompt.describes_tools)
    return tuple(_description(prompt, tools) for prompt in prompts) if tools else ()


def _description(prompt: Prompt, tools: tuple[Tool, ...]) -> str:
    mark = "\0"
    return system_text(prompt, tools, mark).removeprefix(mark).strip()
