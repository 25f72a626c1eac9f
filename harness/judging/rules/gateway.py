"""Define rules about gateways between two APIs: the request that arrives, the contract of answers.

The other rules judge whether the turn is the same. These judge the rest of what crossed the
gateway, and find nothing for normalizers without an exchange.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from harness.judging.deviations import own_deviations
from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.rule import Violation
from harness.normalizers.gateway.neutral import (
    OPTIONS,
    SERIAL,
    NeutralMessage,
    NeutralRequest,
    read_neutral,
)
from harness.results.finding import Came
from harness.results.outcome import Outcome
from harness.turns.turn import Tool

_FIRST_ERROR_STATUS: Final = 400
_SHOWN_BYTES: Final = 300
_OF_ERRORS: Final = "ERR-"  # duties of errors: a client does not read the failure
_CHOICES: Final = frozenset(("openai-chat", "openai-responses", "anthropic", "gemini"))
# Parts of a schema that decide which arguments a model writes.
_MEANING: Final = ("type", "properties", "required", "items", "enum")

_Sides = tuple[NeutralRequest, NeutralRequest]


@turn_rule("ANSWER-CONTRACT", Outcome.MISMATCH)
def _answer_contract(evidence: TurnEvidence) -> Iterator[Violation]:
    return _own_violations(evidence, breaks_clients=True)


@turn_rule("ANSWER-MEMBERS", Outcome.MISMATCH)
def _answer_members(evidence: TurnEvidence) -> Iterator[Violation]:
    return _own_violations(evidence, breaks_clients=False)


def _own_violations(evidence: TurnEvidence, *, breaks_clients: bool) -> Iterator[Violation]:
    """Yield the gateway's own deviations that lose something or break a client, or the others."""
    exchange = evidence.replay.exchange
    if exchange is None or exchange.refused or _is_spoilt(evidence):
        return
    answer = exchange.answer
    for each in own_deviations(answer, evidence.interaction, "MUST"):
        if (each.severity == "cosmetic") != breaks_clients:
            shown = answer.body[each.offset : each.offset + _SHOWN_BYTES]
            text = shown.decode("utf-8", "backslashreplace")
            is_told = evidence.tells_failure and not each.duty.startswith(_OF_ERRORS)
            came: Came = "failure" if is_told else ""
            yield Violation(f"answer.{each.duty}", each.send, text, came=came)


def _is_spoilt(evidence: TurnEvidence) -> bool:
    """Return whether the upstream failed, or sent a call that no API can hand over."""
    upstream, expected = evidence.interaction, evidence.expectation
    is_failed = upstream.status >= _FIRST_ERROR_STATUS or expected.failure is not None
    has_bad_call = expected.rejected or any(not call.name for call in evidence.oracle.calls or ())
    return upstream.broken or is_failed or bool(has_bad_call)


@turn_rule("REQUEST-ONCE", Outcome.MISMATCH)
def _request_once(evidence: TurnEvidence) -> Iterator[Violation]:
    exchange = evidence.replay.exchange
    if exchange is None:
        return
    count = len(exchange.arrived)
    # A failed request may be sent again.
    is_failed = exchange.refused or evidence.expectation.failure
    if count == 0 or (count > 1 and not is_failed):
        came = f"HTTP status {exchange.answer.status} to the client"
        yield Violation("request", "one request upstream", f"{count} requests, {came}")


@turn_rule("REQUEST-ACCEPTED", Outcome.MISMATCH)
def _request_accepted(evidence: TurnEvidence) -> Iterator[Violation]:
    exchange = evidence.replay.exchange
    if exchange is not None and exchange.refused:
        api = evidence.interaction.dialect
        yield Violation("request", f"a request that {api} accepts", exchange.refused)


@turn_rule("REQUEST-SYSTEM-KEPT", Outcome.MISMATCH, yields_to=("REQUEST-ONCE",))
def _system_kept(evidence: TurnEvidence) -> Iterator[Violation]:
    for sent, came in _sides(evidence):
        if _squeezed(sent.system) != _squeezed(came.system):
            yield Violation("request.system", sent.system, came.system)


@turn_rule(
    "REQUEST-HISTORY-KEPT", Outcome.MISMATCH, yields_to=("REQUEST-ONCE", "REQUEST-SYSTEM-KEPT")
)
def _history_kept(evidence: TurnEvidence) -> Iterator[Violation]:
    for sent, came in _sides(evidence):
        if _has_open_calls(sent):
            return
        pairs = zip(_padded(sent, came), _padded(came, sent), strict=True)
        for index, (before, after) in enumerate(pairs):
            if _shape(before) != _shape(after):
                yield Violation(f"request.messages[{index}]", before, after)
                return


def _has_open_calls(sent: NeutralRequest) -> bool:
    """Return whether a call of the history has no result.

    Providers refuse such a request, so a gateway may complete it.
    """
    made = {call.id for message in sent.messages for call in message.calls}
    return bool(made - {message.answers for message in sent.messages})


@turn_rule("REQUEST-TOOLS-KEPT", Outcome.MISMATCH, yields_to=("REQUEST-ONCE",))
def _tools_kept(evidence: TurnEvidence) -> Iterator[Violation]:
    for sent, came in _sides(evidence):
        if sent.choice == "none" and not came.tools:
            return  # a model without tools cannot call one either
        before, after = _by_name(sent, _meaning), _by_name(came, _meaning)
        for name in (*before, *(set(after) - set(before))):
            if before.get(name) != after.get(name):
                path = f"request.tools.{name}"
                yield Violation(path, before.get(name, "no such tool"), after.get(name, "missing"))
                return


@turn_rule("REQUEST-SCHEMA-KEPT", Outcome.MISMATCH, yields_to=("REQUEST-TOOLS-KEPT",))
def _schema_kept(evidence: TurnEvidence) -> Iterator[Violation]:
    for sent, came in _sides(evidence):
        before, after = _by_name(sent, _complete), _by_name(came, _complete)
        for name in before:
            if name in after and before[name] != after[name]:
                yield Violation(f"request.tools.{name}", before[name], after[name])
                return


@turn_rule("REQUEST-CHOICE-KEPT", Outcome.MISMATCH, yields_to=("REQUEST-TOOLS-KEPT",))
def _choice_kept(evidence: TurnEvidence) -> Iterator[Violation]:
    for sent, came in _sides(evidence):
        if came.dialect in _CHOICES and sent.choice != came.choice and came.tools:
            yield Violation("request.tool_choice", sent.choice or "auto", came.choice or "auto")
        if sent.is_serial and not came.is_serial and came.dialect in SERIAL and came.tools:
            yield Violation("request.parallel_tool_calls", "one call at a time", "several calls")


@turn_rule("REQUEST-OPTIONS-KEPT", Outcome.MISMATCH, yields_to=("REQUEST-ONCE",))
def _options_kept(evidence: TurnEvidence) -> Iterator[Violation]:
    for sent, came in _sides(evidence):
        if not _is_rich(sent):
            return
        for option, value in sent.options.items():
            if option in OPTIONS.get(came.dialect, {}) and came.options.get(option) != value:
                path = f"request.{option}"
                yield Violation(path, value, came.options.get(option, "missing"))
        # Some APIs require a limit, so that a gateway must add one.
        for option in came.options.keys() - sent.options.keys() - {"max_tokens"}:
            yield Violation(f"request.{option}", "not sent", came.options[option])


def _is_rich(sent: NeutralRequest) -> bool:
    """Return whether a question has options or a history.

    A gateway that adds an option adds it to each request. That is one fault, and must not hide what
    the cells of plain questions show.
    """
    return len(sent.options.keys() - {"max_tokens"}) > 0 or len(sent.messages) > 1


def _sides(evidence: TurnEvidence) -> Iterator[_Sides]:
    """Yield the request to the gateway and the one that arrived, if there are both."""
    exchange = evidence.replay.exchange
    if exchange is None or not exchange.arrived:
        return
    answer = exchange.answer
    sent = read_neutral(answer.dialect, answer.request)
    came = read_neutral(evidence.interaction.dialect, exchange.arrived[0])
    if sent is not None and came is not None:
        yield sent, came


def _squeezed(text: str) -> str:
    """Return `text` without white space, which gateways add and drop where they join texts."""
    return "".join(text.split())


def _padded(one: NeutralRequest, other: NeutralRequest) -> list[NeutralMessage | None]:
    missing = len(other.messages) - len(one.messages)
    return [*one.messages, *([None] * max(0, missing))]


def _shape(message: NeutralMessage | None) -> object:
    if message is None:
        return None
    calls = [(each.id, each.name, each.arguments) for each in message.calls]
    return message.role, _squeezed(message.text), calls, message.answers


def _by_name(request: NeutralRequest, form: Callable[[Tool], Any]) -> dict[str, Any]:
    return {tool.name: form(tool) for tool in request.tools}


def _meaning(tool: Tool) -> object:
    """Return what the parameters of a tool are called, which are required, and their types."""
    return _schema_meaning(tool.parameters)


def _schema_meaning(schema: object) -> object:
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {name: schema[name] for name in _MEANING if schema.get(name)}
    if isinstance(found.get("type"), str):
        found["type"] = found["type"].lower()  # Gemini's own schemas have upper case
    if found.get("type") == "object" and "properties" not in found:
        found.pop("type")
    if isinstance(found.get("properties"), dict):
        found["properties"] = {k: _schema_meaning(v) for k, v in found["properties"].items()}
    if isinstance(found.get("required"), list):
        found["required"] = sorted(map(str, found["required"]))
    if "items" in found:
        found["items"] = _schema_meaning(found["items"])
    return found


def _complete(tool: Tool) -> str:
    return f"{tool.description}: {json.dumps(tool.parameters, ensure_ascii=False, sort_keys=True)}"
