"""Rules about arguments: exact where they are usable, reported and not run where they are not."""

import re
from collections.abc import Iterator

from harness.judging.expectation import ExpectedCall
from harness.judging.results import Outcome
from harness.judging.rule import Rule, TurnEvidence, Violation, arguments_text, unreported_names
from harness.judging.rules.markup import markers_in_arguments, markers_in_name
from harness.turns.arguments import parse, same_value
from harness.turns.deltas import SNIPPET_CHARACTERS, ToolCall
from harness.turns.exact_json import join_surrogates

_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
# What a cut leaves of an escape, or of a pair of them.
_CUT_ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z")


def _usable(call: ToolCall) -> bool:
    return call.kind == "custom" or parse(call.arguments).value is not None


def _same(call: ToolCall, expected: str) -> bool:
    if call.kind == "custom":
        return call.arguments == expected
    return same_value(call.arguments, expected)


def _marked(call: ToolCall, wanted: ExpectedCall) -> bool:
    return bool(markers_in_name(call, wanted) or markers_in_arguments(call, wanted))


def _exact(seen: TurnEvidence) -> Iterator[Violation]:
    if "calls" not in seen.expectation.judged:
        return
    for place, actual in seen.pairing.pairs:
        call = seen.replay.turn.tool_calls[actual]
        wanted = seen.expectation.calls[place]
        expected = arguments_text(wanted)
        if call.kind != wanted.kind:
            yield Violation(f"calls[{place}].kind", wanted.kind, call.kind)
        elif _usable(call) and not _same(call, expected) and not _marked(call, wanted):
            yield Violation(f"calls[{place}].arguments", expected, call.arguments)


def _arguments_usable(seen: TurnEvidence) -> Iterator[Violation]:
    if seen.expectation.failure is not None:
        return
    for place, call in enumerate(seen.replay.turn.tool_calls):
        parsed = parse(call.arguments)
        if parsed.value is None and call.kind == "function":
            expected = f"a JSON object: {parsed.error}"
            yield Violation(f"calls[{place}].arguments", expected, call.arguments)


def _broken_not_run(seen: TurnEvidence) -> Iterator[Violation]:
    if "calls" not in seen.expectation.judged or seen.expectation.failure is not None:
        return
    names = unreported_names(seen.expectation, seen.pairing)
    for place in seen.pairing.surplus:
        call = seen.replay.turn.tool_calls[place]
        if (call.name in names or "" in names) and call.name and _usable(call):
            actual = f"{call.name} {call.arguments}"
            yield Violation(f"calls[{place}]", "a parse error, nothing run", actual)


def _truncated_not_run(seen: TurnEvidence) -> Iterator[Violation]:
    if "failure" not in seen.expectation.judged or seen.expectation.failure is None:
        return
    for place, call in enumerate(seen.replay.turn.tool_calls):
        expected = f"no call from a turn that failed ({seen.expectation.failure})"
        yield Violation(f"calls[{place}]", expected, f"{call.name} {call.arguments}")


def _reported(seen: TurnEvidence) -> Iterator[Violation]:
    if "rejected" not in seen.expectation.judged:
        return
    run = {seen.replay.turn.tool_calls[place].name for place in seen.pairing.surplus}
    for place in seen.pairing.unreported:
        name = seen.expectation.rejected[place].name
        if name not in run and not (not name and run):
            yield Violation(f"parse_errors[{place}]", f"{name or 'a call'} rejected", "nothing")


def _good_not_rejected(seen: TurnEvidence) -> Iterator[Violation]:
    if "calls" not in seen.expectation.judged:
        return
    missing = {seen.expectation.calls[place].name for place in seen.pairing.missing}
    for error in seen.pairing.unexpected:
        if error.name in missing:
            yield Violation("parse_errors", f"{error.name} executed", f"rejected: {error.error}")


def _not_invented(seen: TurnEvidence) -> Iterator[Violation]:
    if "rejected" not in seen.expectation.judged:
        return
    missing = {seen.expectation.calls[place].name for place in seen.pairing.missing}
    for error in seen.pairing.unexpected:
        if error.name not in missing:
            yield Violation(
                "parse_errors", "no further parse error", f"{error.name}: {error.error}"
            )


def _told(seen: TurnEvidence) -> Iterator[Violation]:
    for place, error in enumerate(seen.replay.turn.parse_errors):
        if not error.error:
            yield Violation(f"parse_errors[{place}].error", "what was wrong", "")
        if len(error.snippet) > SNIPPET_CHARACTERS:
            limit = f"at most {SNIPPET_CHARACTERS} characters"
            yield Violation(f"parse_errors[{place}].snippet", limit, len(error.snippet))
    if "rejected" not in seen.expectation.judged:
        return
    snippets = [error.snippet for error in seen.replay.turn.parse_errors]
    for place, rejection in enumerate(seen.expectation.rejected):
        if snippets and not any(_quotes(snippet, rejection.snippet) for snippet in snippets):
            yield Violation(f"parse_errors[{place}].snippet", rejection.snippet, snippets)


def _quotes(snippet: str, sent: str) -> bool:
    """Whether `snippet` has what was sent, maybe with other escapes: to parse is to lose them."""
    return sent in snippet or _unescaped(_CUT_ESCAPE.sub("", sent)) in _unescaped(snippet)


def _unescaped(text: str) -> str:
    return join_surrogates(_ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text))


def _identified(seen: TurnEvidence) -> Iterator[Violation]:
    if "rejected" not in seen.expectation.judged:
        return
    reported = [error.id for error in seen.replay.turn.parse_errors]
    for place, rejection in enumerate(seen.expectation.rejected):
        missed = place in seen.pairing.unreported
        if rejection.id is not None and not missed and rejection.id not in reported:
            yield Violation(f"parse_errors[{place}].id", rejection.id, reported)


RULES = (
    Rule(
        "CALL-ARGUMENTS-EXACT",
        "MUST",
        "Arguments have the value that the stream spells, numbers and text exactly.",
        Outcome.SILENT_WRONG,
        ("DELTA-INTERLEAVED", "ARGS-CUMULATIVE", "ARGS-REPEATED-AT-END", "ARGS-BIGINT"),
        _exact,
    ),
    Rule(
        "ARGUMENTS-USABLE",
        "MUST",
        "A call that may be executed has one JSON object as its arguments, or none.",
        Outcome.SILENT_WRONG,
        ("ARGS-TRUNCATED-FINISH-OK", "ARGS-NATURAL-LANGUAGE", "ARGS-NON-OBJECT"),
        _arguments_usable,
    ),
    Rule(
        "BROKEN-CALL-NOT-RUN",
        "MUST",
        "Unusable arguments are not repaired in silence: the call is not executed.",
        Outcome.SILENT_WRONG,
        ("ARGS-TRUNCATED-SALVAGED", "ARGS-SILENT-EMPTY", "ARGS-CONCAT-OBJECTS"),
        _broken_not_run,
    ),
    Rule(
        "TRUNCATED-CALL-NOT-RUN",
        "MUST",
        "No call of a turn that was interrupted or failed is executed.",
        Outcome.SILENT_WRONG,
        ("SSE-EOF-MIDCALL", "ERR-IN-200", "REFUSAL-DELTA"),
        _truncated_not_run,
    ),
    Rule(
        "PARSE-ERROR-REPORTED",
        "MUST",
        "A call that cannot be used is reported as a parse error, not dropped.",
        Outcome.LOST_CALL,
        ("ARGS-TRUNCATED-FINISH-OK", "ARGS-NATURAL-LANGUAGE", "FINISH-LENGTH-WITH-CALL"),
        _reported,
    ),
    Rule(
        "GOOD-CALL-NOT-REJECTED",
        "MUST",
        "A usable call is not rejected, whatever became of its siblings.",
        Outcome.LOST_CALL,
        ("BATCH-ONE-BAD", "ARGS-EMPTY-NOARG"),
        _good_not_rejected,
    ),
    Rule(
        "PARSE-ERROR-NOT-INVENTED",
        "MUST",
        "No parse error is reported where the stream holds no unusable call.",
        Outcome.MISMATCH,
        ("LEGACY-FC-STUB", "ARGS-TRAILING-EMPTY"),
        _not_invented,
    ),
    Rule(
        "PARSE-ERROR-TOLD",
        "SHOULD",
        "A parse error says what was wrong and quotes the start of the raw text.",
        Outcome.MISMATCH,
        ("ARGS-NATURAL-LANGUAGE",),
        _told,
    ),
    Rule(
        "PARSE-ERROR-IDENTIFIED",
        "SHOULD",
        "A parse error keeps the id of its call, so that the model can be told of it.",
        Outcome.MISMATCH,
        ("BATCH-ONE-BAD",),
        _identified,
    ),
)
