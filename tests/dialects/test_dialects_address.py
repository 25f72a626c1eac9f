"""Names in addresses are read as they were before escaping."""

from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.kit.parse_request import path_of, unescaped
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
