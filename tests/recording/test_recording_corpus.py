"""Real recordings, where they lie beside the repository: every stream is taken or counted."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from harness.recording.importing import Labels, import_file
from harness.wire.cassette_file import dump, loads

CORPUS = Path(
    os.environ.get("HARNESS_CORPUS") or Path(__file__).parents[2] / ".." / "shared/corpus"
)

# Their frames are AWS event-stream messages around the chat events.
NOT_TAKEN_CONTAINER_FRAMING = "aws-eventstream"


def expected_streams() -> Counter[str]:
    """Return file -> number of chat completion streams that another reader counted."""
    lines = (CORPUS / "streams.jsonl").read_text().splitlines()
    return Counter(
        row["file"]
        for row in map(json.loads, lines)
        if row["wire"] == "openai-chat" and row["framing"] != NOT_TAKEN_CONTAINER_FRAMING
    )


@pytest.mark.skipif(
    not (CORPUS / "streams.jsonl").is_file(),
    reason="no corpus of real streams beside the repository; set HARNESS_CORPUS to its folder",
)
def test_every_chat_stream_is_taken_byte_exact() -> None:
    taken: Counter[str] = Counter()
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file():
            source = path.relative_to(CORPUS).as_posix()
            for cassette in import_file(path, path.read_bytes(), source, Labels()).cassettes:
                assert loads(dump(cassette).encode(), cassette.id, where=source) == cassette
                taken[source] += len(cassette.interactions)
    assert taken == expected_streams()
