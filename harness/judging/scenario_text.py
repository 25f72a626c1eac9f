"""An expectation of a new cassette -> the text of a scenario file, for a person to confirm.

What is not certain is left out, so that it is not judged; YAML that the reader of scenarios
takes as it is.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from harness.judging.expectation import Expectation, ExpectedCall
from harness.turns.deltas import FinishReason
from harness.wire.scalar import flow

_SHOWN: Final = frozenset({"text", "reasoning", "calls", "rejected", "finish", "failure"})
_TO_CONFIRM: Final = (
    "# Read from the bytes alone: confirm what must come out, then remove this line."
)
_TO_BLAME: Final = (
    "# Say whose fault a parse_error or a failure is by a line `blame: model` or `blame: provider`."
)


def scenario_text(
    title: str, cassette: str, expectations: Sequence[Expectation], quirks: Sequence[str] = ()
) -> str:
    """Return the text of the scenario file.

    Args:
        title: one line.
        cassette: its id.
        expectations: one for each interaction.
        quirks: ids of the catalogue.
    """
    lines = [_TO_CONFIRM, f"title: {flow(title)}", f"cassette: {flow(cassette)}"]
    lines += [f"quirks: {flow(quirks)}"] if quirks else []
    if any(each.rejected or each.failure for each in expectations):
        lines.append(_TO_BLAME)
    lines.append("expect:")
    for expectation in expectations:
        open_fields = sorted(_SHOWN - expectation.judged)
        if open_fields:
            lines.append(f"# The bytes leave open: {', '.join(open_fields)}")
        lines += [f"{'  ' if n else '- '}{line}" for n, line in enumerate(_turn(expectation))]
    return "\n".join([*lines, ""])


def _turn(expectation: Expectation) -> Iterator[str]:
    """Yield the lines of a turn; its finish is what the bytes say even where that is open."""
    failed = expectation.failure is not None
    said: dict[str, Any] = {
        "text": expectation.text,
        "reasoning": expectation.reasoning,
        "tool_calls": [_call(call) for call in expectation.calls],
        "parse_errors": _rejected(expectation),
        "failure": {"code": expectation.failure, "says": expectation.failure_says}
        if failed
        else None,
        "finish": None if failed else (expectation.finish or FinishReason.OTHER).value,
    }
    yield from (f"{key}: {flow(value)}" for key, value in said.items() if value)


def _rejected(expectation: Expectation) -> object:
    if "rejected" not in expectation.judged:
        return "any"
    return [_kept({"name": each.name, "snippet": each.snippet}) for each in expectation.rejected]


def _call(call: ExpectedCall) -> dict[str, Any]:
    function = call.kind == "function"
    given = {"arguments": call.arguments} if function else {"input": call.arguments_text}
    return {**_kept({"id": call.id}), "name": call.name, **given}


def _kept(said: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if value}
