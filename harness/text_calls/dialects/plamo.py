"""Read PLaMo 3's requests, in which a pair of markers is around each part.

    <|plamo:begin_tool_requests:plamo|>
    <|plamo:begin_tool_request:plamo|>
    <|plamo:begin_tool_name:plamo|>NAME<|plamo:end_tool_name:plamo|>
    <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{...}
    <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>
    <|plamo:end_tool_requests:plamo|><|plamo:tag|>

The model writes all of it without line ends, and `<|plamo:tag|>` ends its turn. Source: vLLM's
parsers for PLaMo 3, by the maker of the model (pull requests 54234 and 56575).
"""

from collections.abc import Sequence
from typing import Final

from harness.text_calls.boundaries import SPACE, Head, literal
from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.tokens import TokenCalls


def _pair(word: str) -> tuple[str, str]:
    """Return the markers that begin and end the part with this name."""
    return f"<|plamo:begin_{word}:plamo|>", f"<|plamo:end_{word}:plamo|>"


_REQUESTS, _REQUESTS_END = _pair("tool_requests")
_REQUEST, _REQUEST_END = _pair("tool_request")
_NAME, _NAME_END = _pair("tool_name")
_ARGUMENTS, _ARGUMENTS_END = _pair("tool_arguments")
_JSON: Final = "<|plamo:constrain|>json"
_MESSAGE: Final = "<|plamo:msg|>"


class Plamo(TokenCalls):
    """Reads and writes calls in the markers of PLaMo 3."""

    title = "Pairs of markers around each part (PLaMo 3)"
    section_begins = (_REQUESTS,)
    call_begins = (f"{_REQUEST}{_NAME}", f"{_REQUEST}\n{_NAME}")
    separators = (_NAME_END,)
    before_json = Head(
        SPACE,
        *literal(_ARGUMENTS),
        r"(?:<[^{\[`]{0,60}+)?+",  # the tokens between, also half of them
        SPACE,
        "[{`]",
        commits=1,
    )
    call_ends = (_ARGUMENTS_END, _REQUEST_END)
    section_ends = (_REQUESTS_END,)
    ends = ("<|plamo:tag|>",)
    openers = (*section_begins, *call_begins)
    trailers = orphans = call_ends
    noise = (*section_ends, *ends)
    markers = (_REQUESTS, _REQUEST, _NAME, _NAME_END, _ARGUMENTS, _JSON, *call_ends, *noise)

    def named(self, header: str, body: str, _offered: Offered) -> WrittenCall:
        """Return the call. The header is its name, and markers are before its arguments."""
        gap, marker, arguments = body.partition(_ARGUMENTS)
        if gap.strip() or not marker:
            return WrittenCall(header, error="no marker is between the name and the arguments")
        arguments = arguments.removeprefix(_JSON).removeprefix(_MESSAGE)
        return WrittenCall(header, arguments.strip())

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one section with all calls."""
        inside = "".join(
            f"{self.call_begins[0]}{call.name}{_NAME_END}{_ARGUMENTS}{_JSON}{_MESSAGE}"
            f"{call.arguments or '{}'}{_ARGUMENTS_END}{_REQUEST_END}"
            for call in calls
        )
        return f"{_REQUESTS}{inside}{_REQUESTS_END}" if calls else ""
