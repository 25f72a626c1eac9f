"""Find out whether a provider supports tools, by one request to call a dummy tool.

A call in the API's own field means yes. Text or a refusal means no. Any other reply leaves it
unknown, and the gateway uses the JSON fallback. The dummy is never executed, and the probe is not
part of the history.
"""

from typing import Any, Final

from msgspec.structs import replace

from harness.conversation.conversation import Probe
from harness.conversation.replies import next_request, request_turn
from harness.conversation.task import Task
from harness.dialects.table import DIALECTS
from harness.normalizers.respond import respond
from harness.turns.messages import user
from harness.turns.turn import Tool, Turn

DUMMY: Final = Tool(
    "harness_probe",
    "Does nothing. Call it to show that you can call tools.",
    {
        "type": "object",
        "properties": {"ok": {"type": "boolean", "description": "always true"}},
        "required": ["ok"],
    },
)
_QUESTION: Final = "Call the tool harness_probe with ok = true, and say nothing."
_CHOICE: Final[dict[str, Any]] = {
    "tool_choice": {"type": "function", "function": {"name": DUMMY.name}}
}
_REFUSALS: Final = frozenset(("refusal",))
_MOST_ERROR_CHARACTERS: Final = 200


def probe(task: Task) -> Probe:
    """Send the probe and return its result."""
    asked = replace(task, tools=(DUMMY,))
    row = DIALECTS.get(task.dialect)
    options = _CHOICE if row and row.can_require_tool else {}
    request = next_request(asked, [user(_QUESTION)], asked.tools, options)
    # Calls in text prove nothing about the field, so they are not parsed.
    return _probe_result(request_turn(asked, request, respond))


def _probe_result(turn: Turn) -> Probe:
    failure = turn.failure
    if failure is not None and failure.code not in _REFUSALS:
        return Probe(ok=False, error=f"{failure.code}: {failure.message}"[:_MOST_ERROR_CHARACTERS])
    if failure is None and turn.finish is None:
        return Probe(ok=False, error="the reply has no end")
    return Probe(ok=failure is None and bool(turn.tool_calls or turn.parse_errors))
