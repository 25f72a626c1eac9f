"""Each adapter conforms on ordinary answers of its dialects: text, one call, two calls, an error.

An adapter that fails here accuses its library of its own faults.
"""

from typing import Final

import pytest

from harness import shipped
from harness.judging.judge import judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.runs.declared import available_normalizers
from harness.runs.load import load_subject
from harness.runs.plan import Subject

SCENARIOS: Final = {
    "anthropic": ("text-then-call", "call", "parallel", "http-529"),
    "bedrock-converse": ("text", "call", "two-calls", "http-400"),
    "cohere": ("thinking-then-text", "single-call", "plan-then-calls", "http-429"),
    "dashscope": (
        "dashscope-native/plain-text",
        "dashscope-native/single-call",
        "dashscope-native/snapshots-call",
        "dashscope-native/http-400",
    ),
    "gemini": ("thoughts", "call", "parallel", "http-429"),
    "mistral": ("plain-text", "single-call", "parallel", "http-429"),
    # The package ollama drops the ids of calls, so these have none.
    "ollama": ("length", "calls-without-ids", "http-404"),
    "openai-chat": ("text/plain", "calls/as-documented", "calls/parallel", "errors/http-429"),
    "openai-responses": ("answer", "call", "parallel", "http-429"),
}
# A client over WebSocket supports sessions only.
SESSIONS: Final = {
    "openai-sdk-realtime": ("realtime/text", "realtime/call", "realtime/parallel"),
    "openai-sdk-websocket": (
        "responses-websocket/text",
        "responses-websocket/call",
        "responses-websocket/parallel",
    ),
}
FOLDER: Final = shipped.bundled_folder("scenarios")
PEERS: Final = {each.name: each for each in available_normalizers() if each.role == "peer"}
CELLS: Final = [
    (name, scenario if "/" in scenario else f"{dialect}/{scenario}")
    for name, peer in PEERS.items()
    for dialect in sorted(peer.dialects)
    for scenario in SESSIONS.get(name, SCENARIOS[dialect])
]
# A warning of a library about its dependencies is not an error of its user.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize(("name", "scenario"), CELLS, ids=str)
def test_an_adapter_conforms_on_an_ordinary_answer(name: str, scenario: str) -> None:
    if PEERS[name].missing:
        pytest.skip(f"the extra {PEERS[name].extra} is not installed")
    path = FOLDER / f"{scenario}.yaml"
    roots = (str(FOLDER), str(shipped.bundled_folder("cassettes")))
    subject = load_subject(Subject("scenario", str(path), roots))
    result, case = judge_subject(subject, load_normalizer(name), cuts="quick")
    assert result.replays
    assert result.outcome.conforms, case
