"""Find what a failure should say: why a call is unusable, and what a client does instead.

The rules decide without `reference`. It only explains a violation that a rule found.
"""

from typing import Final
from weakref import ref

from harness.judging.evidence import TurnEvidence
from harness.normalizers import reference
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction

KEEP_REST: Final = "report the unusable call alone (`withheld_call`) and keep the rest of the turn"
# Many replays of one interaction break the same rule: the interaction, and the turn of `reference`.
_LAST: Final[list[tuple[ref[Interaction], Turn]]] = []


def with_reason(text: str, evidence: TurnEvidence, name: str, call_id: str = "") -> str:
    """Return `text` with the reason why a call of the stream is unusable, if one is known."""
    errors = _turn_of(evidence.interaction).parse_errors
    of_id = (it.error for it in errors if call_id and it.id == call_id)
    of_name = (it.error for it in errors if it.name == name)
    reason = next(of_id, "") or next(of_name, "")
    return f"{text}: {reason}" if reason else text


def _turn_of(interaction: Interaction) -> Turn:
    if not _LAST or _LAST[0][0]() is not interaction:
        turn = fold(reference.normalize(interaction.without_body(), (interaction.body,)))
        _LAST[:] = [(ref(interaction), turn)]
    return _LAST[0][1]
