"""Name the cause of a finding: what the client did, as a text that is equal for one bug.

The scenario does not belong to the cause: one bug fails scenarios about many quirks, and one quirk
shows several bugs.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from harness.results.finding import Finding

# Package that contains a third-party library -> the client of this repository that tests it.
OWNERS: Final = {
    "ag2": "ag2",
    "agents": "openai-agents",
    "agno": "agno",
    "anthropic": "anthropic-sdk",
    "any_llm": "any-llm",
    "autogen_ext": "autogen",
    "boto3": "boto3",
    "botocore": "boto3",
    "cohere": "cohere",
    "dashscope": "dashscope",
    "google": "google-genai",
    "groq": "groq",
    "haystack": "haystack",
    "langchain_anthropic": "langchain-anthropic",
    "langchain_community": "langchain-community",
    "langchain_google_genai": "langchain-google-genai",
    "langchain_mistralai": "langchain-mistralai",
    "langchain_ollama": "langchain-ollama",
    "langchain_openai": "langchain-openai",
    "langchain_qwq": "langchain-qwq",
    "litellm": "litellm",
    "llama_index": "llama-index",
    "mistralai": "mistralai",
    "ollama": "ollama",
    "openai": "openai-sdk",
    "pydantic_ai": "pydantic-ai",
    "qwen_agent": "qwen-agent",
    "semantic_kernel": "semantic-kernel",
    "smolagents": "smolagents",
    "strands": "strands",
}
_LONGEST: Final = 60
_VALUES: Final = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\b[0-9a-fA-F]*[0-9][0-9a-fA-F]*\b""")
# The code of a failure that is not an error of the provider.
_ENDS: Final = ("bad_event", "empty_stream", "interrupted", "refusal")
_NOTHING: Final = ("", "{}", "null", '"None"', "None")


def _executed(finding: Finding, _calls: int, _finish: str) -> str:
    _, _, arguments = finding.actual.partition(" ")
    return "executed without arguments" if _is_nothing(arguments) else "executed with a part"


def _kept(_finding: Finding, calls: int, finish: str) -> str:
    return "other calls came out" if calls else f"no call, finish {finish or 'none'}"


def _invented(finding: Finding, _calls: int, _finish: str) -> str:
    return "without a name" if finding.actual.startswith((" ", "{")) else ""


def _unreported(finding: Finding, _calls: int, _finish: str) -> str:
    is_end = finding.expected in _ENDS
    return f"lost: {finding.expected if is_end else 'the error of the provider'}"


def _message(finding: Finding, _calls: int, _finish: str) -> str:
    return _masked(finding.actual)


def _another(finding: Finding, _calls: int, _finish: str) -> str:
    return f"{finding.actual.partition(':')[0]} for {finding.expected}"


def _as_sent(finding: Finding, _calls: int, _finish: str) -> str:
    return "as sent" if finding.came == "as-sent" else ""


def _change(finding: Finding, _calls: int, _finish: str) -> str:
    """Return how a text differs from the expected one."""
    expected, actual = finding.expected, finding.actual
    if _is_nothing(actual) or _is_nothing(expected):
        return "lost" if _is_nothing(actual) else "invented"
    if expected in actual:
        return "with more" if actual.replace(expected, "") else "doubled"
    return "a part" if actual in expected else "changed"


# What came out of the client in a few words, by the rule: from the finding, the number of calls of
# the turn and its finish reason. Other rules say themselves what came out.
_CAME_OUT: Final[Mapping[str, Callable[[Finding, int, str], str]]] = {
    "BROKEN-CALL-NOT-RUN": _executed,
    "CALL-ARGUMENTS-EXACT": _change,
    "CALL-ID-EXACT": _change,
    "CALL-NAME-EXACT": _change,
    "CALLS-KEPT": _kept,
    "CALLS-NOT-INVENTED": _invented,
    "CONV-ENDING": _another,
    "CONV-NO-CRASH": _message,
    "FAILURE-NOT-INVENTED": _message,
    "FAILURE-REPORTED": _unreported,
    "FINISH-RAW-KEPT": _change,
    "FINISH-REASON": _another,
    "NO-CRASH": _message,
    "PARSE-ERROR-NOT-INVENTED": _message,
    "REASONING-EXACT": _change,
    "TEXT-EXACT": _change,
    "TRUNCATED-CALL-NOT-RUN": _executed,
}


def _is_nothing(text: str) -> bool:
    return text.strip() in _NOTHING


def _masked(message: str) -> str:
    """Return the first line of a message without the values, which differ between streams."""
    return _VALUES.sub("…", message.strip().partition("\n")[0])[:_LONGEST]


def cause_of(finding: Finding, calls: int = 0, finish: str = "") -> str:
    """Return the cause of a finding as text, such as `CALL-NAME-EXACT · doubled`.

    For an exception, it is `Type in module:function` (see `harness.judging.raised`) and the message
    without its values. Otherwise it is the rule and what came out of the client.

    Args:
        finding: a violation of a rule.
        calls: the number of calls in the turn with the violation.
        finish: the finish reason of that turn; "" for none.
    """
    if finding.raised:
        kind, _, message = finding.actual.partition(": ")
        # The message of a parser tells what is wrong with the text, not what is wrong in the code.
        parts = [finding.raised, "" if kind.endswith("DecodeError") else _masked(message)]
    else:
        came_out = _CAME_OUT.get(finding.rule, _as_sent)
        parts = [finding.rule, came_out(finding, calls, finish)]
    return " · ".join(filter(None, parts))


def inherited_from(cause: str, client: str) -> str:
    """Return the client whose library raised the exception; "" if `client` tests that library.

    Args:
        cause: as `cause_of` returns it.
        client: the name of the normalizer or agent that failed.
    """
    _, separator, place = cause.partition(" · ")[0].rpartition(" in ")
    owner = OWNERS.get(place.partition(":")[0].partition(".")[0], "") if separator else ""
    return "" if client == owner or client.startswith(f"{owner}-") else owner
