"""A request's address -> the provider behind it, from one table.

Never guesses from a part of a name: a host is known, or lies under a known domain, or the
provider is unknown.
"""

from typing import Final
from urllib.parse import urlsplit

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

PROVIDERS: Final = frozenset({*_HOSTS.values(), *_DOMAINS.values(), *_SELF_HOSTED})


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
