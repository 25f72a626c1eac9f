"""Providers: their hosts, and what their APIs can do.

The provider of an address is never guessed from a part of its name: a host is known, or lies
under a known domain, or the provider is unknown.
"""

from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

UNKNOWN: Final = "unknown"

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
_TOOLS: Final = Capabilities(supports_tool_use=True)


class Provider(msgspec.Struct, frozen=True):
    """One provider.

    Fields:
        name: as in cassettes.
        hosts: those of its API, separated by spaces.
        domains: domains all of whose hosts are its own, separated by spaces.
        port: the default port of a local server, as its documentation gives it; 0 if none.
        capabilities: what is declared of it.
    """

    name: str
    hosts: str = ""
    domains: str = ""
    port: int = 0
    capabilities: Capabilities = Capabilities()


# How an unknown provider with a copy of OpenAI's API is treated; no cassette names it.
_COMPATIBLE: Final = "compatible"

# Source: the providers' API references, and the catalogue's group E. Providers without a host
# are served by their users.
_ROWS: Final = (
    Provider("ai21", "api.ai21.com"),
    Provider(
        "anthropic",
        "api.anthropic.com",
        capabilities=Capabilities(
            supports_tool_use=True, tool_id_pattern=_WORD_PATTERN, json_stability="high"
        ),
    ),
    Provider("aws-bedrock", domains="amazonaws.com api.aws", capabilities=_TOOLS),
    Provider("azure-ai", domains="inference.ai.azure.com services.ai.azure.com"),
    Provider(
        "azure-openai",
        domains="api.cognitive.microsoft.com cognitiveservices.azure.com openai.azure.com",
    ),
    Provider("baseten", "inference.baseten.co"),
    Provider("cerebras", "api.cerebras.ai"),
    Provider("chatgpt-codex", "chatgpt.com"),
    Provider("cloudflare", "api.cloudflare.com gateway.ai.cloudflare.com"),
    Provider("cohere", "api.cohere.ai api.cohere.com"),
    Provider(_COMPATIBLE, capabilities=Capabilities(json_stability="low")),
    Provider("crusoe", "api.inference.crusoecloud.com"),
    Provider(
        "dashscope",
        "dashscope-intl.aliyuncs.com dashscope-us.aliyuncs.com dashscope.aliyuncs.com",
        capabilities=Capabilities(supports_tool_use=True, content_beside_calls="empty"),
    ),
    Provider("deepinfra", "api.deepinfra.com"),
    Provider(
        "deepseek",
        "api.deepseek.com",
        capabilities=Capabilities(supports_tool_use=True, reasoning_field="reasoning_content"),
    ),
    Provider("doubleword", "api.doubleword.ai"),
    Provider("fireworks", "api.fireworks.ai"),
    Provider("friendli", "api.friendli.ai"),
    Provider("github-copilot", "api.githubcopilot.com"),
    Provider("github-models", "models.github.ai models.inference.ai.azure.com"),
    Provider("google-gemini", "generativelanguage.googleapis.com", capabilities=_TOOLS),
    Provider(
        "google-vertex", "aiplatform.googleapis.com", domains="googleapis.com", capabilities=_TOOLS
    ),
    Provider("gpustack"),
    Provider("groq", "api.groq.com"),
    Provider(
        "huggingface",
        "api-inference.huggingface.co router.huggingface.co",
        domains="hf.space huggingface.cloud",
    ),
    Provider("hunyuan", "api.hunyuan.cloud.tencent.com"),
    Provider("hyperbolic", "api.hyperbolic.xyz"),
    Provider("inception", "api.inceptionlabs.ai"),
    Provider("lambda", "api.lambda.ai"),
    Provider("llamacpp"),
    Provider("llamafile"),
    Provider("lmstudio", port=1234),
    Provider("localai"),
    Provider("minimax", "api.minimax.chat api.minimax.io"),
    Provider(
        "mistral",
        "api.mistral.ai",
        capabilities=Capabilities(supports_tool_use=True, tool_id_pattern="[a-zA-Z0-9]{9}"),
    ),
    Provider("moonshot", "api.moonshot.ai api.moonshot.cn"),
    Provider("nebius", "api.studio.nebius.com api.tokenfactory.nebius.com"),
    Provider("novita", "api.novita.ai"),
    Provider("nvidia", "integrate.api.nvidia.com"),
    Provider(
        "ollama",
        port=11434,
        capabilities=Capabilities(supports_parallel_tools=False, json_stability="low"),
    ),
    Provider("ollama-cloud", "ollama.com"),
    Provider(
        "openai",
        "api.openai.com",
        capabilities=Capabilities(supports_tool_use=True, json_stability="high"),
    ),
    Provider("openrouter", "openrouter.ai"),
    Provider("perplexity", "api.perplexity.ai"),
    Provider("qianfan", "qianfan.baidubce.com"),
    Provider("requesty", "router.requesty.ai"),
    Provider("sambanova", "api.sambanova.ai"),
    Provider("sglang", port=30000),
    Provider("siliconflow", "api.siliconflow.cn api.siliconflow.com"),
    Provider("snowflake", domains="snowflakecomputing.com"),
    Provider("stepfun", "api.stepfun.com"),
    Provider("tgi"),
    Provider("together", "api.together.ai api.together.xyz"),
    Provider("upstage", "api.upstage.ai"),
    Provider("venice", "api.venice.ai"),
    Provider("vercel-gateway", "ai-gateway.vercel.sh"),
    Provider("vllm"),
    Provider("volcengine", "ark.cn-beijing.volces.com", capabilities=_TOOLS),
    Provider("writer", "api.writer.com"),
    Provider("xai", "api.x.ai", capabilities=_TOOLS),
    Provider("zai", "api.z.ai"),
    Provider("zhipu", "open.bigmodel.cn"),
)
PROVIDERS: Final = {row.name: row for row in _ROWS}
PROVIDER_NAMES: Final = frozenset(PROVIDERS) - {_COMPATIBLE}

_HOSTS: Final = {host: row.name for row in _ROWS for host in row.hosts.split()}
_DOMAINS: Final = {domain: row.name for row in _ROWS for domain in row.domains.split()}
_LOCAL_PORTS: Final = {row.port: row.name for row in _ROWS if row.port}
_LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1", "host.docker.internal"})


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


# Dialect -> the ids that its API takes, whoever answers.
_IDS: Final[dict[str, str]] = {"anthropic": _WORD_PATTERN, "bedrock-converse": _WORD_PATTERN}


def capabilities_of(provider: str, dialect: str = "") -> Capabilities:
    """Return what is declared of `provider` and demanded by `dialect`; nothing for unknown ones."""
    row = PROVIDERS.get(provider)
    declared = row.capabilities if row else Capabilities()
    pattern = declared.tool_id_pattern or _IDS.get(dialect, "")
    return replace(declared, tool_id_pattern=pattern)
