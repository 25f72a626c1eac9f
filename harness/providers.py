"""Providers: their hosts, and what their APIs can do.

The provider of an address is never guessed from a part of its name: a host is known, or lies
under a known domain, or the provider is unknown.
"""

from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

UNKNOWN: Final = "unknown"

# Ports of local servers are those that their documentation gives as the default.
_HOSTS: Final = {
    "ai-gateway.vercel.sh": "vercel-gateway",
    "aiplatform.googleapis.com": "google-vertex",
    "api-inference.huggingface.co": "huggingface",
    "api.ai21.com": "ai21",
    "api.anthropic.com": "anthropic",
    "api.cerebras.ai": "cerebras",
    "api.cloudflare.com": "cloudflare",
    "api.cohere.ai": "cohere",
    "api.cohere.com": "cohere",
    "api.deepinfra.com": "deepinfra",
    "api.deepseek.com": "deepseek",
    "api.doubleword.ai": "doubleword",
    "api.fireworks.ai": "fireworks",
    "api.friendli.ai": "friendli",
    "api.githubcopilot.com": "github-copilot",
    "api.groq.com": "groq",
    "api.hunyuan.cloud.tencent.com": "hunyuan",
    "api.hyperbolic.xyz": "hyperbolic",
    "api.inceptionlabs.ai": "inception",
    "api.inference.crusoecloud.com": "crusoe",
    "api.lambda.ai": "lambda",
    "api.minimax.chat": "minimax",
    "api.minimax.io": "minimax",
    "api.mistral.ai": "mistral",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "api.novita.ai": "novita",
    "api.openai.com": "openai",
    "api.perplexity.ai": "perplexity",
    "api.sambanova.ai": "sambanova",
    "api.siliconflow.cn": "siliconflow",
    "api.siliconflow.com": "siliconflow",
    "api.stepfun.com": "stepfun",
    "api.studio.nebius.com": "nebius",
    "api.together.ai": "together",
    "api.together.xyz": "together",
    "api.tokenfactory.nebius.com": "nebius",
    "api.upstage.ai": "upstage",
    "api.venice.ai": "venice",
    "api.writer.com": "writer",
    "api.x.ai": "xai",
    "api.z.ai": "zai",
    "ark.cn-beijing.volces.com": "volcengine",
    "chatgpt.com": "chatgpt-codex",
    "dashscope-intl.aliyuncs.com": "dashscope",
    "dashscope-us.aliyuncs.com": "dashscope",
    "dashscope.aliyuncs.com": "dashscope",
    "gateway.ai.cloudflare.com": "cloudflare",
    "generativelanguage.googleapis.com": "google-gemini",
    "inference.baseten.co": "baseten",
    "integrate.api.nvidia.com": "nvidia",
    "models.github.ai": "github-models",
    "models.inference.ai.azure.com": "github-models",
    "ollama.com": "ollama-cloud",
    "open.bigmodel.cn": "zhipu",
    "openrouter.ai": "openrouter",
    "qianfan.baidubce.com": "qianfan",
    "router.huggingface.co": "huggingface",
    "router.requesty.ai": "requesty",
}

_DOMAINS: Final = {
    "amazonaws.com": "aws-bedrock",
    "api.aws": "aws-bedrock",
    "api.cognitive.microsoft.com": "azure-openai",
    "cognitiveservices.azure.com": "azure-openai",
    "googleapis.com": "google-vertex",
    "hf.space": "huggingface",
    "huggingface.cloud": "huggingface",
    "openai.azure.com": "azure-openai",
    "services.ai.azure.com": "azure-ai",
    "inference.ai.azure.com": "azure-ai",
    "snowflakecomputing.com": "snowflake",
}

_LOCAL_PORTS: Final = {11434: "ollama", 1234: "lmstudio", 30000: "sglang"}
_LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1", "host.docker.internal"})

# Providers that no public host tells apart, since their users serve them.
_SELF_HOSTED: Final = (
    "gpustack",
    "llamacpp",
    "llamafile",
    "lmstudio",
    "localai",
    "ollama",
    "sglang",
    "tgi",
    "vllm",
)

PROVIDER_NAMES: Final = frozenset({*_HOSTS.values(), *_DOMAINS.values(), *_SELF_HOSTED})


def provider_of(uri: str) -> str:
    """Return the provider that serves `uri`, or "unknown"."""
    try:
        parts = urlsplit(uri)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:  # not an address
        return UNKNOWN
    if host in _LOCAL_HOSTS:
        return _LOCAL_PORTS.get(port or 0, UNKNOWN)
    return _HOSTS.get(host) or _provider_of_domain(host)


def _provider_of_domain(host: str) -> str:
    labels = host.split(".")
    domains = (".".join(labels[start:]) for start in range(1, len(labels)))
    return next((_DOMAINS[domain] for domain in domains if domain in _DOMAINS), UNKNOWN)


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
_WORD_PATTERN: Final = "[a-zA-Z0-9_-]{1,64}"

# Source: the providers' API references, and the catalogue's group E.
PROVIDERS: Final[dict[str, Capabilities]] = {
    "openai": Capabilities(supports_tool_use=True, json_stability="high"),
    "anthropic": Capabilities(
        supports_tool_use=True, tool_id_pattern=_WORD_PATTERN, json_stability="high"
    ),
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
_IDS: Final[dict[str, str]] = {"anthropic": _WORD_PATTERN, "bedrock-converse": _WORD_PATTERN}


def capabilities_of(provider: str, dialect: str = "") -> Capabilities:
    """Return what is declared of `provider` and demanded by `dialect`; nothing for unknown ones."""
    declared = PROVIDERS.get(provider, Capabilities())
    pattern = declared.tool_id_pattern or _IDS.get(dialect, "")
    return replace(declared, tool_id_pattern=pattern)
