"""Names in addresses are read as they were before escaping."""

from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.kit.parse_request import path_of, unescaped
from harness.dialects.table import DIALECTS
from tests.tables import each_row


@given(st.text(max_size=12), st.sampled_from(["", "/", "/:"]))
def test_what_was_escaped_comes_back(name: str, safe: str) -> None:
    assert unescaped(quote(name, safe=safe)) == name


@each_row("text", ["", "%", "%4", "100%", "%zz", "a+b"])
def test_what_is_no_escape_stays(text: str) -> None:
    assert unescaped(text) == text


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert unescaped("a%FFb%c3%a9") == "a\ufffdb\u00e9"


def test_the_query_is_no_part_of_the_path() -> None:
    assert path_of("https://x/model/m/converse?a=/b") == "https://x/model/m/converse"
    assert path_of("/x") == "/x"


@each_row(
    ("dialect", "path", "base"),
    [
        ("anthropic", "/v1/messages", ""),
        ("anthropic", "/proxy/v1/messages", "/proxy"),
        ("anthropic", "/model/m/invoke-with-response-stream", ""),
        ("anthropic", "/v1/projects/p/publishers/anthropic/models/m:streamRawPredict", ""),
        ("cohere", "/v2/chat", ""),
        ("dashscope", "/api/v1/services/aigc/text-generation/generation", "/api/v1"),
        ("gemini", "/v1beta/models/m:streamGenerateContent", ""),
        ("mistral", "/v1/chat/completions", ""),
        ("ollama", "/api/chat", ""),
        ("openai-chat", "/compatible-mode/v1/chat/completions", "/compatible-mode/v1"),
        ("openai-completions", "/v1/completions", "/v1"),
        ("openai-responses", "/v1/realtime", "/v1"),
        ("tgi", "/models/m/generate_stream", "/models/m/generate_stream"),
        ("openai-chat", "/elsewhere", "/elsewhere"),
    ],
)
def test_the_base_url_is_what_comes_before_the_path_that_an_sdk_appends(
    dialect: str, path: str, base: str
) -> None:
    assert DIALECTS[dialect].base_of(path) == base
