"""Define rules about executed calls: the expected ones, and none of a broken turn."""

from collections import Counter
from collections.abc import Iterator

from harness.judging.conversations.evidence import ConversationEvidence, conversation_rule
from harness.judging.conversations.script import ExpectedExecution
from harness.judging.conversations.session import Execution, json_or_repr
from harness.judging.rule import Violation
from harness.judging.rules.conversation_told import tells_what_did_not_run
from harness.results.outcome import Outcome


@conversation_rule("CONV-CALL-FROM-BROKEN-TURN", Outcome.SILENT_WRONG, always=True)
def _from_broken_turn(evidence: ConversationEvidence) -> Iterator[Violation]:
    for index, reason in sorted(evidence.forbidden.items()):
        actual = _execution_text(evidence.executions[index])
        yield Violation(f"executed[{index}]", f"nothing executed, because {reason}", actual)


@conversation_rule("CONV-CALL-UNWANTED", Outcome.SILENT_WRONG)
def _surplus(evidence: ConversationEvidence) -> Iterator[Violation]:
    for index in evidence.matches.surplus:
        actual = _execution_text(evidence.executions[index])
        yield Violation(f"executed[{index}]", "no such call", actual)


@conversation_rule("CONV-CALL-ARGUMENTS", Outcome.SILENT_WRONG)
def _arguments(evidence: ConversationEvidence) -> Iterator[Violation]:
    for at, index in evidence.matches.changed:
        expected = json_or_repr(evidence.expected_calls[at].arguments)
        actual = evidence.executions[index].arguments
        yield Violation(f"executed[{index}].arguments", expected, actual)


@conversation_rule(
    "CONV-CALL-LOST",
    Outcome.LOST_CALL,
    yields_to=("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-UNPLAYED"),
)
def _lost(evidence: ConversationEvidence) -> Iterator[Violation]:
    for at in evidence.matches.lost:
        expected = _expected_text(evidence.expected_calls[at])
        came = evidence.own_design if _is_serial(evidence) else ""
        yield Violation(f"executed[{at}]", expected, "not executed", came=came)


def _is_serial(evidence: ConversationEvidence) -> bool:
    """Return whether the agent ran one call of each turn, as the provider's capabilities allow.

    If a provider does not support parallel calls, an agent may answer the others of a turn with
    the request to repeat them alone. It may not drop them silently.
    """
    if evidence.task.capabilities.supports_parallel_tools:
        return False
    ran = Counter(execution.after for execution in evidence.executions)
    return bool(ran) and max(ran.values()) == 1 and tells_what_did_not_run(evidence)


@conversation_rule("CONV-CALL-ORDER", Outcome.MISMATCH)
def _order(evidence: ConversationEvidence) -> Iterator[Violation]:
    pairs = evidence.matches.pairs
    indexes = [index for _, index in pairs]
    if indexes != sorted(indexes):
        expected = " ".join(evidence.expected_calls[at].tool for at, _ in pairs)
        yield Violation("executed", expected, " ".join(it.tool for it in evidence.executions))


def _execution_text(execution: Execution) -> str:
    return f"{execution.tool} {execution.arguments}"


def _expected_text(expected: ExpectedExecution) -> str:
    arguments = "" if expected.arguments is None else f" {json_or_repr(expected.arguments)}"
    return f"{expected.tool}{arguments}"
