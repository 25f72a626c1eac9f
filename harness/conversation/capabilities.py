"""What a provider can do, as data: one row each, and what holds where nobody declared it.

What an API demands of whoever speaks it stands apart, by dialect: a provider may speak several.
"""

from typing import Final, Literal

import msgspec
from msgspec.structs import replace

JsonStability = Literal["high", "medium", "low"]


class Capabilities(msgspec.Struct, frozen=True):
    """What is known of a provider and model.

    Fields:
        supports_tool_use: it takes tools in a field of the request; None where nobody knows,
            and then a probe tells.
        supports_parallel_tools: several calls in one turn may be run and answered together.
        tool_id_pattern: a regular expression that ids sent to it must match in full; "" for any.
        allows_midturn_system: a system message may stand after the first message.
        json_stability: how far its JSON in text can be trusted. It is told, for whoever reads
            reports or chooses models; the gateway trusts none of it and checks every reply alike.
        content_beside_calls: what `content` must be beside calls without text: null, or "".
        reasoning_field: the field in which it wants its reasoning back; "" where it does not.
    """

    supports_tool_use: bool | None = None
    supports_parallel_tools: bool = True
    tool_id_pattern: str = ""
    allows_midturn_system: bool = False
    json_stability: JsonStability = "medium"
    content_beside_calls: Literal["null", "empty"] = "null"
    reasoning_field: str = ""


# Source: Anthropic API reference, `tool_use.id`; Amazon Bedrock API reference, `toolUseId`.
_WORD: Final = "[a-zA-Z0-9_-]{1,64}"

# Source: the providers' API references, and the catalogue's group E.
PROVIDERS: Final[dict[str, Capabilities]] = {
    "openai": Capabilities(supports_tool_use=True, json_stability="high"),
    "anthropic": Capabilities(supports_tool_use=True, tool_id_pattern=_WORD, json_stability="high"),
    "aws-bedrock": Capabilities(supports_tool_use=True),
    "dashscope": Capabilities(supports_tool_use=True, content_beside_calls="empty"),
    "deepseek": Capabilities(supports_tool_use=True, reasoning_field="reasoning_content"),
    "google-gemini": Capabilities(supports_tool_use=True),
    "google-vertex": Capabilities(supports_tool_use=True),
    "mistral": Capabilities(supports_tool_use=True, tool_id_pattern="[a-zA-Z0-9]{9}"),
    "volcengine": Capabilities(supports_tool_use=True),
    "xai": Capabilities(supports_tool_use=True),
    "ollama": Capabilities(supports_parallel_tools=False, json_stability="low"),
    "compatible": Capabilities(json_stability="low"),
}


# Dialect -> the ids that its API takes, whoever answers.
_IDS: Final[dict[str, str]] = {"anthropic": _WORD, "bedrock-converse": _WORD}


def capabilities_of(provider: str, dialect: str = "") -> Capabilities:
    """Return what is declared of `provider` and demanded by `dialect`; nothing for unknown ones."""
    declared = PROVIDERS.get(provider, Capabilities())
    pattern = declared.tool_id_pattern or _IDS.get(dialect, "")
    return replace(declared, tool_id_pattern=pattern)
