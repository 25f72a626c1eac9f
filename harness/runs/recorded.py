"""Unlabelled cassettes -> those whose requests hold a whole conversation, as subjects for agents.

Such a cassette is judged twice: its turns through normalizers, and the conversation through
agents. Why another one is not is counted, so that nobody takes silence for agreement.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from harness.judging.conversations.recording import NotHad, script_of_recording
from harness.runs.plan import Subject
from harness.runs.worker import load_subject


class Recorded(msgspec.Struct, frozen=True):
    """What the cassettes of a selection hold.

    Fields:
        subjects: those with a conversation.
        refused: why others of several requests have none -> how many.
    """

    subjects: tuple[Subject, ...] = ()
    refused: dict[str, int] = msgspec.field(default_factory=dict)


def recorded_conversations(subjects: Iterable[Subject]) -> Recorded:
    """Return what the cassettes among `subjects` hold for agents.

    Raises:
        UnreadableError: a cassette cannot be used.
    """
    found: list[Subject] = []
    refused: Counter[str] = Counter()
    for subject in subjects:
        if subject.kind != "cassette":
            continue
        cassette = load_subject(subject).cassette
        script = script_of_recording(cassette)
        if not isinstance(script, NotHad):
            found.append(msgspec.structs.replace(subject, conversation=True))
        elif len(cassette.interactions) > 1:
            refused[script.why] += 1
    return Recorded(tuple(found), dict(refused.most_common()))
