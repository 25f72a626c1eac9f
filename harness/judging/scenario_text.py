"""Write expected results as the YAML text of a scenario file.

It lists a field that is not judged in `open`, or leaves it out if that means the same. The harness
writes the draft of a scenario for a new cassette in this way, and an author confirms it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from harness.files.yaml_text import format_flow
from harness.results.expectation import Expectation, ExpectedCall, Field

# Fields that a scenario judges unless `open` lists their keys.
_KEYS: Final[dict[Field, str]] = {
    "text": "text",
    "reasoning": "reasoning",
    "calls": "tool_calls",
    "failure": "failure",
}
_TO_CONFIRM: Final = (
    "# Read from the bytes alone: confirm the expected result, then remove this line."
)
_TO_BLAME: Final = (
    "# Add `blame: model` or `blame: provider` to name the cause of a parse_error or a failure."
)
_TO_CLOSE: Final = (
    "# The bytes are ambiguous about what is `open` or `any`: specify what you expect there."
)
_TO_DECLARE: Final = "# The text has markup of this text dialect. If it is prose, remove the key."
# An author does not confirm how a normalizer quotes the provider.
_QUOTED: Final = frozenset({"finish_raw", "usage"})
_NO_MORE: Final[Mapping[str, object]] = {}


def scenario_text(  # noqa: PLR0913 - each argument is a part of the file
    title: str,
    cassette: str,
    expectations: Sequence[Expectation],
    quirks: Sequence[str] = (),
    more: Mapping[str, object] = _NO_MORE,
    *,
    reasons: Sequence[str] = (),
) -> str:
    """Return the text of the scenario file of a new cassette, for its author to confirm.

    Args:
        title: the title of the scenario, one line.
        cassette: the id of the cassette.
        expectations: the expected result of each interaction.
        quirks: ids of quirks in the cassette.
        more: further keys: what a client needs (`capabilities`, `text_dialect`), and `evidence`.
        reasons: why the expected results are ambiguous, one line each.
    """
    lines = [_TO_CONFIRM, f"title: {format_flow(title)}", f"cassette: {format_flow(cassette)}"]
    lines += [f"quirks: {format_flow(quirks)}"] if quirks else []
    for key, value in more.items():
        if value:
            lines += [_TO_DECLARE] if key == "text_dialect" else []
            lines.append(f"{key}: {format_flow(value)}")
    if any(each.rejected or each.failure for each in expectations):
        lines.append(_TO_BLAME)
    if any("rejected" not in each.judged or any(_open(each)) for each in expectations):
        lines += [_TO_CLOSE, *(f"# - {reason}" for reason in reasons)]
    return "\n".join(
        [*lines, "expect:", *(line for each in expectations for line in _draft(each)), ""]
    )


def _draft(expected: Expectation) -> Iterator[str]:
    """Yield the YAML lines of one expected turn and of the other turns that are as correct."""
    # A scenario with a text dialect is only for clients that read it.
    same = [each for each in expected.readings if dialect_of(each) == dialect_of(expected)]
    first, *others = (
        tuple(turn_lines(replace(each, judged=each.judged - _QUOTED))) for each in same
    )
    yield from first
    different = [each for each in dict.fromkeys(others) if each != first]
    yield from ["  alternatives:"] if different else []
    yield from (f"  {line}" for each in different for line in each)


def dialect_of(expected: Expectation) -> str:
    """Return the text dialect in which the calls of an expected turn are written; "" if none."""
    return next((it for it, answer in expected.decisions.items() if answer == "calls"), "")


def turn_lines(expected: Expectation) -> Iterator[str]:
    """Yield the YAML lines of one expected turn, as an item of the list `expect`."""
    for number, line in enumerate(_members(expected)):
        yield f"{'  ' if number else '- '}{line}"


def _members(expected: Expectation) -> Iterator[str]:
    unknown = list(_open(expected))
    if unknown:
        yield f"open: {format_flow(unknown)}"
    for key in ("text", "reasoning"):
        if key in expected.judged and getattr(expected, key):
            yield f"{key}: {format_flow(getattr(expected, key))}"
    if expected.calls and ("calls" in expected.judged or expected.calls_at_most):
        yield "tool_calls:"
        yield from (f"- {format_flow(_call(call))}" for call in expected.calls)
    if "rejected" not in expected.judged:
        yield "parse_errors: any"
    elif expected.rejected:
        yield "parse_errors:"
        for each in expected.rejected:
            fields = _not_empty({"snippet": each.snippet, "id": each.id})
            named = fields if each.name is None else {"name": each.name, **fields}
            yield f"- {format_flow(named)}"
    yield from _end(expected)


def _open(expected: Expectation) -> Iterator[str]:
    for field, key in _KEYS.items():
        if field not in expected.judged:
            yield "missing_calls" if field == "calls" and expected.calls_at_most else key
    fails = "failure" in expected.judged and expected.failure is not None
    if not fails and (expected.finish is None or "finish" not in expected.judged):
        yield "finish"


def _call(call: ExpectedCall) -> dict[str, Any]:
    match call.kind:
        case "function":
            given: dict[str, Any] = {"arguments": call.arguments}
        case "custom":
            given = {"input": call.arguments_text}
        case "action":
            given = {"action": json.loads(call.json_text)}
    namespace = _not_empty({"namespace": call.namespace})
    return {**_not_empty({"id": call.id}), "name": call.name, **namespace, **given}


def _end(expected: Expectation) -> Iterator[str]:
    if expected.failure is not None and "failure" in expected.judged:
        fields = {"code": expected.failure, "says": expected.failure_says}
        yield f"failure: {format_flow(_not_empty(fields))}"
    if expected.may_fail:
        yield "may_fail: true"
    if "finish" in expected.judged and expected.finish is not None:
        yield f"finish: {expected.finish.value}"
    if "finish_raw" in expected.judged:
        yield f"finish_raw: {format_flow(expected.finish_raw)}"
    if "usage" in expected.judged and expected.usage is not None:
        usage = expected.usage
        tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        yield f"usage: {format_flow(tokens)}"


def _not_empty(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}
