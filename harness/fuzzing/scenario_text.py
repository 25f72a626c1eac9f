"""A finding -> the text of a scenario file that says what must come out of its cassette.

What the bytes leave open stands in `open`, so that it is not judged.
"""

from collections.abc import Iterator
from typing import Any, Final

from harness.fuzzing.found import FuzzFinding
from harness.fuzzing.mutators import MUTATORS
from harness.judging.expectation import Expectation, ExpectedCall, Field
from harness.wire.scalar import word

# What a scenario judges unless its key stands in `open`.
_KEYS: Final[dict[Field, str]] = {
    "text": "text",
    "reasoning": "reasoning",
    "calls": "tool_calls",
    "failure": "failure",
}
_QUIRKS = {mutator.name: mutator.quirks for mutator in MUTATORS}


def scenario_text(finding: FuzzFinding, cassette: str) -> str:
    """Return the YAML text; `cassette` is the id of its cassette."""
    expected = finding.expectation
    if finding.conversation is not None:
        lines = (f"  {key}: {_flow(value)}" for key, value in finding.conversation.items())
        return "\n".join([*_head(finding, cassette), "conversation:", *lines, ""])
    if expected is None:
        raise ValueError("a finding has either an expectation or a conversation")
    return "\n".join([*_head(finding, cassette), "expect:", *_turn(expected), ""])


def _head(finding: FuzzFinding, cassette: str) -> Iterator[str]:
    steps = ", ".join(dict.fromkeys(step.name for step in finding.trail))
    after = f" after {steps}" if steps else ""
    yield f"title: {word(f'Fuzzing: {finding.normalizer} breaks {finding.finding.rule}{after}')}"
    yield f"cassette: {word(cassette)}"
    quirks = sorted({quirk for step in finding.trail for quirk in _QUIRKS.get(step.name, ())})
    lists = (("quirks", quirks), ("rules", [finding.finding.rule]))
    for key, names in (*lists, ("capabilities", finding.capabilities)):
        if names:
            yield f"{key}: [{', '.join(map(word, names))}]"
    if finding.text_dialect:
        yield f"text_dialect: {word(finding.text_dialect)}"
    if finding.policies:
        yield f"policies: {_flow(finding.policies)}"


def _turn(expected: Expectation) -> Iterator[str]:
    lines = list(_members(expected))
    yield f"- {lines[0]}"
    yield from (f"  {line}" for line in lines[1:])


def _members(expected: Expectation) -> Iterator[str]:
    unknown = list(_open(expected))
    if unknown:
        yield f"open: [{', '.join(unknown)}]"
    for key in ("text", "reasoning"):
        if key in expected.judged and getattr(expected, key):
            yield f"{key}: {word(getattr(expected, key))}"
    if expected.calls and ("calls" in expected.judged or expected.calls_at_most):
        yield "tool_calls:"
        yield from (f"- {_flow(_call(call))}" for call in expected.calls)
    if "rejected" not in expected.judged:
        yield "parse_errors: any"
    elif expected.rejected:
        yield "parse_errors:"
        for each in expected.rejected:
            said = {"name": each.name, "snippet": each.snippet, "id": each.id or ""}
            yield f"- {_flow({key: value for key, value in said.items() if value})}"
    yield from _end(expected)


def _open(expected: Expectation) -> Iterator[str]:
    for field, key in _KEYS.items():
        if field not in expected.judged:
            yield "missing_calls" if field == "calls" and expected.calls_at_most else key
    fails = "failure" in expected.judged and expected.failure is not None
    if not fails and (expected.finish is None or "finish" not in expected.judged):
        yield "finish"


def _call(call: ExpectedCall) -> dict[str, Any]:
    said: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
    if call.kind == "custom":
        said = {"name": call.name, "input": call.arguments_text}
    return said if call.id is None else {"id": call.id, **said}


def _end(expected: Expectation) -> Iterator[str]:
    if expected.failure is not None and "failure" in expected.judged:
        said = {"code": expected.failure, "says": expected.failure_says}
        yield f"failure: {_flow({key: value for key, value in said.items() if value})}"
    if "finish" in expected.judged and expected.finish is not None:
        yield f"finish: {expected.finish.value}"
    if "finish_raw" in expected.judged:
        yield f"finish_raw: {word(expected.finish_raw)}"
    if "usage" in expected.judged and expected.usage is not None:
        usage = expected.usage
        tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        yield f"usage: {_flow(tokens)}"


def _flow(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Spell a value on one line, so that YAML 1.1 and 1.2 read the same."""
    match value:
        case dict():
            inside = (f"{word(key)}: {_flow(item)}" for key, item in value.items())
            return f"{{{', '.join(inside)}}}"
        case list() | tuple():
            return f"[{', '.join(map(_flow, value))}]"
        case str():
            return word(value)
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case float():
            said = repr(value)
            return said if "." in said or "e" not in said else said.replace("e", ".0e")
        case _:
            return str(value)
