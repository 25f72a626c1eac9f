"""Responses of APIs that no dialect reads are named, and become no dialect that looks alike."""

import base64
import json
from pathlib import Path

import pytest

from harness.judging.judge import judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.recording.importing import Labels, import_file
from harness.results.outcome import Outcome
from harness.runs.load import load_subject
from harness.runs.plan import Subject
from harness.wire.aws import encode_event
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Request
from harness.wire.reads import synthetic_interaction

BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/{}/invoke-with-response-stream"
AGENT = "https://bedrock-agent-runtime.us-east-1.amazonaws.com"


def chunks(*events: object) -> bytes:
    """Return events as Bedrock frames those of another API."""
    parts = (base64.b64encode(json.dumps(event).encode()).decode() for event in events)
    return b"".join(encode_event(json.dumps({"bytes": part}).encode(), "chunk") for part in parts)


def sse(*events: object) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)


# Address, response -> the name of the API.
UNREAD = {
    "titan": (
        BEDROCK.format("amazon.titan-text-express-v1"),
        chunks({"outputText": "Hi", "index": 0, "completionReason": "FINISH"}),
        "the text API of Amazon Titan",
    ),
    "titan by its address": (
        BEDROCK.format("arn%3Aaws%3Abedrock%3A%3A%3Afoundation-model%2Famazon.titan-tg1-large"),
        b"",
        "the text API of Amazon Titan",
    ),
    "command": (
        BEDROCK.format("cohere.command-light-text-v14"),
        chunks({"is_finished": False, "text": "Hi"}),
        "the text API of Cohere Command on Bedrock",
    ),
    "claude on bedrock": (
        BEDROCK.format("anthropic.claude-instant-v1"),
        chunks({"type": "completion", "completion": "Hi", "stop_reason": None}),
        "the text completions of Anthropic",
    ),
    "claude": (
        "https://api.anthropic.com/v1/complete",
        sse({"completion": "Hi", "stop_reason": None, "model": "claude-2"}),
        "the text completions of Anthropic",
    ),
    "jurassic": (
        BEDROCK.format("ai21.j2-ultra-v1"),
        b'{"id": 1, "completions": [{"data": {"text": "Hi"}}]}',
        "the text API of AI21 Jurassic",
    ),
    "mistral on bedrock": (
        BEDROCK.format("mistral.mistral-7b-instruct-v0:2"),
        chunks({"outputs": [{"text": "Hi", "stop_reason": "stop"}]}),
        "the text API of Mistral on Bedrock",
    ),
    "writer": (
        "https://api.writer.com/v1/completions",
        sse({"value": "Hi"}),
        "the text completions of Writer",
    ),
    "agents": (
        f"{AGENT}/agents/A1/agentAliases/B2/sessions/s/text",
        encode_event(b'{"bytes": "SGk="}', "chunk"),
        "Bedrock agents",
    ),
    "retrieve and generate": (
        f"{AGENT}/retrieveAndGenerateStream",
        encode_event(b'{"text": "Hi"}', "output"),
        "the retrieveAndGenerate API of Bedrock",
    ),
    "replicate": (
        "https://api.replicate.com/v1/models/meta/llama/predictions",
        b'{"id": "p", "status": "starting", "urls": {}, "input": {}, "stream": true}',
        "the API of Replicate",
    ),
    "a stream of replicate": (
        "https://stream.replicate.com/v1/files/abc",
        b"event: output\ndata: Hi\n\nevent: done\ndata: {}\n\n",
        "the API of Replicate",
    ),
    "watsonx": (
        "https://eu-de.ml.cloud.ibm.com/ml/v1/text/generation_stream?version=2024-01-01",
        sse({"results": [{"generated_text": "Hi", "stop_reason": "eos_token"}]}),
        "the text generation of watsonx",
    ),
    "assistants": (
        "https://api.openai.com/v1/threads/t/runs",
        b'event: thread.run.created\ndata: {"object": "thread.run"}\n\n',
        "the OpenAI Assistants API",
    ),
    "an error": (
        "https://api.replicate.com/v1/predictions",
        b'{"detail": "You did not pass a token", "status": 401}',
        "the API of Replicate",
    ),
}
ASKED = json.dumps({"prompt": "Hi", "input": "Hi", "stream": True}).encode()


def cassette_of(name: str, dialect: str = "unknown") -> Cassette:
    address, body, _ = UNREAD[name]
    interaction = synthetic_interaction(body, Request("POST", address, (), ASKED))
    return Cassette("a", (interaction,), Origin("imported")).with_each(dialect=dialect)


@pytest.mark.parametrize("name", UNREAD)
def test_a_response_is_skipped_with_the_name_of_its_api(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    save_cassette(cassette_of(name), path)
    found = import_file(path, path.read_bytes(), "a.yaml", Labels())
    assert (found.cassettes, found.skipped) == ((), (f"no dialect reads {UNREAD[name][2]}",))


@pytest.mark.parametrize("name", UNREAD)
def test_a_cassette_that_states_a_dialect_is_not_judged(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    save_cassette(cassette_of(name, "bedrock-converse"), path)
    subject = Subject("cassette", str(path), (str(tmp_path),))
    result, _ = judge_subject(load_subject(subject), load_normalizer("reference"))
    assert (result.outcome, result.turns) == (Outcome.UNSUPPORTED, ())


@pytest.mark.parametrize(
    ("address", "body", "dialect"),
    [
        (
            "https://api.writer.com/v1/completions",
            sse({"object": "chat.completion.chunk", "choices": [{"delta": {"content": "Hi"}}]}),
            "openai-chat",
        ),
        (
            BEDROCK.format("cohere.command-r-v1:0"),
            chunks({"is_finished": False, "event_type": "text-generation", "text": "Hi"}),
            "cohere",
        ),
        (
            BEDROCK.format("anthropic.claude-3-haiku"),
            chunks({"type": "message_start", "message": {"role": "assistant"}}),
            "anthropic",
        ),
    ],
)
def test_an_answer_in_a_known_dialect_is_imported(
    address: str, body: bytes, dialect: str, tmp_path: Path
) -> None:
    interaction = synthetic_interaction(body, Request("POST", address, (), ASKED))
    path = tmp_path / "a.yaml"
    cassette = Cassette("a", (interaction,), Origin("imported")).with_each(dialect="unknown")
    save_cassette(cassette, path)
    (found,) = import_file(path, path.read_bytes(), "a.yaml", Labels()).cassettes
    assert found.dialect == dialect
