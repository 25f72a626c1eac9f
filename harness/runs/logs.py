"""Read files of logged conversations: one subject for each conversation, and its content."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from harness.conversation.history.jsonl import LoggedConversation, agent_of, decode, is_conversation
from harness.conversation.history.third_party import read_messages
from harness.errors import UnreadableError
from harness.files.load import read_file, refuse_bom
from harness.runs.plan import Subject

LOG_SUFFIX: Final = ".jsonl"
_FILES_KEPT: Final = 4


def each_log(subject: Subject) -> Iterator[Subject]:
    """Yield a subject for each conversation in the log file of `subject`.

    Raises:
        UnreadableError: the file contains no conversation, or is damaged.
    """
    for index, logged in enumerate(_logs(subject.path)):
        yield msgspec.structs.replace(subject, index=index, agent=agent_of(logged))


def load_log(subject: Subject) -> LoggedConversation:
    """Return the logged conversation of one subject.

    Raises:
        UnreadableError: the file is damaged, or has fewer conversations than when the run began.
    """
    logs = _logs(subject.path)
    if subject.index >= len(logs):
        raise UnreadableError("conversations are missing at its end", where=subject.path)
    return logs[subject.index]


@lru_cache(_FILES_KEPT)
def _logs(path: str) -> tuple[LoggedConversation, ...]:
    data = read_file(Path(path))
    refuse_bom(data, path)
    found = decode(data, path) if is_conversation(data) else read_messages(data)
    if not found:
        raise UnreadableError(
            "expected conversations, one message or one list of `messages` a line",
            where=path,
            hint="Convert a recording of another tool with `harness import FILE`.",
        )
    return found
