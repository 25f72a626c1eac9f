"""Provider, model, prompt and dialect are told by what the recording shows."""

import json

import pytest

from harness.recording.identify import dialect_of, identify, provider_of_folder
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic

CHUNK = b'data: {"id": "1", "object": "chat.completion.chunk", "model": "%s", "choices": []}\n\n'
TOOLS = [{"type": "function", "function": {"name": "get_weather"}}]


def interaction(uri: str = "", asked: object = None, body: bytes = b"") -> Interaction:
    sent = b"" if asked is None else json.dumps(asked).encode()
    request = Request("POST", uri, (), sent)
    return Interaction(request, 200, (), body, synthetic(body), reads_kept=False)


def cassette(*interactions: Interaction, **known: str) -> Cassette:
    return Cassette("a", interactions, Origin("imported"), **{"dialect": "unknown", **known})


def test_everything_is_told_by_the_request() -> None:
    asked = {"model": "qwen-plus", "tools": TOOLS}
    uri = "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions?a=b"
    known = identify(cassette(interaction(uri, asked)))
    assert (known.provider, known.model, known.dialect) == ("dashscope", "qwen-plus", "openai-chat")
    assert known.prompt.startswith("native-tools-get_weather-")


def test_the_model_is_told_by_the_first_chunk_that_names_one() -> None:
    known = identify(cassette(interaction(body=CHUNK % b"" + CHUNK % b"m-1" + CHUNK % b"m-2")))
    assert (known.provider, known.model) == ("unknown", "m-1")
    assert (known.prompt, known.dialect) == ("unknown", "openai-chat")


def test_what_the_file_says_stays() -> None:
    said = {"provider": "p", "model": "m", "prompt": "q", "dialect": "d"}
    asked = interaction("https://api.openai.com/v1/chat/completions", {"model": "x"})
    assert identify(cassette(asked, **said)) == cassette(asked, **said)


def test_an_empty_or_hostile_cassette_stays_unknown() -> None:
    assert identify(cassette()) == cassette()
    assert identify(cassette(interaction(body=b"\xff" * 99))).dialect == "unknown"
    assert identify(cassette(interaction(body=b'data: {"model": 3}\n\n'))).model == "unknown"


@pytest.mark.parametrize(
    ("uri", "dialect"),
    [
        ("/v1/chat/completions", "openai-chat"),
        ("<OLLAMA_API_BASE>/chat/completions", "openai-chat"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://api.openai.com/v1/completions", "openai-completions"),
        ("https://api.anthropic.com/v1/messages", "anthropic"),
        ("https://x/v1beta/models/g:streamGenerateContent?alt=sse", "gemini"),
        ("http://localhost:11434/api/chat", "ollama"),
        ("https://x/model/m/converse-stream", "bedrock-converse"),
        ("https://x/model/m/invoke-with-response-stream", "bedrock-invoke"),
        ("https://api.cohere.com/v2/chat", "cohere"),
        ("https://api.openai.com/v1/embeddings", "unknown"),
    ],
)
def test_the_address_tells_the_dialect(uri: str, dialect: str) -> None:
    assert dialect_of(interaction(uri)) == dialect


@pytest.mark.parametrize(
    ("event", "dialect"),
    [
        ('{"object": "chat.completion.chunk"}', "openai-chat"),
        ('{"choices": [{"delta": {}}]}', "openai-chat"),
        ('{"type": "response.created"}', "openai-responses"),
        ('{"type": "message_start"}', "anthropic"),
        ('{"candidates": []}', "gemini"),
        ('{"model": "m", "done": false}', "ollama"),
        ('{"type": "message-start"}', "cohere"),
        ('{"hello": 1}', "unknown"),
        ("[1]", "unknown"),
        ("not json", "unknown"),
    ],
)
def test_the_first_events_tell_the_dialect(event: str, dialect: str) -> None:
    assert dialect_of(interaction(body=f": hi\n\ndata: {event}\n\n".encode())) == dialect


def test_a_placeholder_host_names_a_provider() -> None:
    known = identify(cassette(interaction("<GPUSTACK_API_BASE>/chat/completions")))
    assert known.provider == "gpustack"
    assert identify(cassette(interaction("<MY_HOST>/chat/completions"))).provider == "unknown"


def test_the_innermost_folder_that_names_a_provider_counts() -> None:
    assert provider_of_folder(("openai", "fixtures", "zai_coder", "glm")) == "zai"
    assert provider_of_folder(("src", "fixtures")) == "unknown"
