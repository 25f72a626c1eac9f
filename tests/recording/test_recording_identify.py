"""Provider, model, prompt and dialect are told by what the recording shows."""

import json
from datetime import date
from pathlib import PurePath

import msgspec
import pytest

from harness.providers import PROVIDERS, provider_of
from harness.recording.identify import STALE_DAYS, age_text, days_old, identify, provider_of_path
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic_reads
from tests.tables import each_row

CHUNK = b'data: {"id": "1", "object": "chat.completion.chunk", "model": "%s", "choices": []}\n\n'
TOOLS = [{"type": "function", "function": {"name": "get_weather"}}]


def interaction(uri: str = "", asked: object = None, body: bytes = b"") -> Interaction:
    sent = b"" if asked is None else json.dumps(asked).encode()
    request = Request("POST", uri, (), sent)
    return Interaction(request, 200, (), body, synthetic_reads(body), reads_kept=False)


def cassette(*interactions: Interaction, dialect: str = "unknown", **known: str) -> Cassette:
    made = Cassette("a", interactions, Origin("imported"))
    return msgspec.structs.replace(made, **known).with_each(dialect=dialect)


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


def test_each_interaction_has_its_own_dialect() -> None:
    openai = interaction("https://api.openai.com/v1/chat/completions")
    anthropic = interaction("https://api.anthropic.com/v1/messages")
    told = identify(cassette(openai, anthropic, interaction())).interactions
    assert [each.dialect for each in told] == ["openai-chat", "anthropic", "openai-chat"]


@pytest.mark.parametrize(
    ("uri", "model"),
    [
        ("https://x/model/amazon.nova-lite-v1%3A0/converse-stream", "amazon.nova-lite-v1:0"),
        (
            "https://x/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            "gemini-2.5-flash",
        ),
        ("https://x/openai/deployments/my-gpt/chat/completions", "my-gpt"),
        ("https://api-inference.huggingface.co/models/google/flan-t5", "google/flan-t5"),
        ("https://x.models.ai.azure.com/models/chat/completions", "unknown"),
    ],
)
def test_the_address_names_the_model(uri: str, model: str) -> None:
    assert identify(cassette(interaction(uri))).model == model


@pytest.mark.parametrize(
    "event",
    [
        '{"type": "message_start", "message": {"model": "m-1"}}',
        '{"type": "response.created", "response": {"model": "m-1"}}',
        '{"event_type": "interaction.start", "interaction": {"model": "m-1"}}',
        '{"candidates": [], "modelVersion": "m-1"}',
    ],
)
def test_the_first_events_name_the_model_in_the_way_of_each_api(event: str) -> None:
    assert identify(cassette(interaction(body=f"data: {event}\n\n".encode()))).model == "m-1"


def test_a_gateway_is_told_by_what_it_adds() -> None:
    chunk = b'data: {"provider": "p", "model": "m", "choices": []}\n\n'
    shown = interaction("https://api.openai.com/v1/chat/completions", body=chunk)
    assert identify(cassette(shown)).provider == "openrouter"


def test_a_placeholder_host_names_a_provider() -> None:
    known = identify(cassette(interaction("<GPUSTACK_API_BASE>/chat/completions")))
    assert known.provider == "gpustack"
    assert identify(cassette(interaction("<MY_HOST>/chat/completions"))).provider == "unknown"


@pytest.mark.parametrize(
    ("path", "provider"),
    [
        ("openai/fixtures/zai_coder/glm/a.json", "zai"),
        ("src/fixtures/a.json", "unknown"),
        ("src/fixtures/lmstudio-basic.1.txt", "lmstudio"),
        ("src/amazon-bedrock-text.txt", "aws-bedrock"),
        ("groq/mistral-saba.sse", "groq"),
    ],
)
def test_the_innermost_folder_counts_and_then_the_name(path: str, provider: str) -> None:
    assert provider_of_path(PurePath(path)) == provider


@each_row(
    ("host", "provider"),
    [
        ("api.avian.io", "avian"),
        ("adb-123.4.azuredatabricks.net", "databricks"),
        ("dbc-a1b2.cloud.databricks.com", "databricks"),
        ("oai.endpoints.kepler.ai.cloud.ovh.net", "ovhcloud"),
        ("us-south.ml.cloud.ibm.com", "watsonx"),
        ("avian.io.example.com", "unknown"),
        ("api.avian.io.evil.example", "unknown"),
    ],
)
def test_a_provider_is_known_by_its_host(host: str, provider: str) -> None:
    assert provider_of(f"https://{host}:443/v1/chat/completions") == provider


def test_each_host_and_folder_belongs_to_one_provider() -> None:
    rows = PROVIDERS.values()
    hosts = [host for row in rows for host in (*row.hosts, *row.domains)]
    folders = [*PROVIDERS, *(folder for row in rows for folder in row.folders)]
    assert len(hosts) == len(set(hosts))
    assert len(folders) == len(set(folders))
    assert sum(bool(row.hosts or row.domains) for row in rows) >= 90


TODAY = date(2026, 11, 22)


@each_row(
    ("origin", "days", "words"),
    [
        (Origin("recorded", at="2026-11-22"), 0, "0 days"),
        (Origin("recorded", at="2026-11-21T10:00:00Z"), 1, "1 day"),
        (Origin("imported", at="2026-05-26"), STALE_DAYS, "180 days"),
        (Origin("imported", at="2026-05-25"), 181, "181 days, stale (over 180)"),
        (Origin("recorded", at="2027-01-01"), 0, "0 days"),
        (Origin("recorded"), None, ""),
        (Origin("recorded", at="yesterday"), None, ""),
        (Origin("emulated", at="2020-01-01"), None, ""),
    ],
)
def test_age(origin: Origin, days: int | None, words: str) -> None:
    assert days_old(origin, TODAY) == days
    assert age_text(origin, TODAY) == words
