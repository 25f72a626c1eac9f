"""How the request before an emulated response looks: an address and a plain body for each API.

Agents build requests of their own (`conversation.asking`), which carry what a real client needs;
these show the least that an API accepts, and recorded bytes must not change with the agents.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from harness.turns.turn import Tool

Json: TypeAlias = dict[str, Any]


class Question(msgspec.Struct, frozen=True):
    """What the first request asks.

    Fields:
        tools: those that the request declares.
    """

    model: str
    system: str
    text: str
    tools: tuple[Tool, ...]


class RequestForm(msgspec.Struct, frozen=True):
    """The requests of one API.

    Fields:
        addresses: provider -> address; `{model}` in it is the model.
        body: of the first request.
        history: the path of the member to which later messages are added.
    """

    addresses: dict[str, str]
    body: Callable[[Question], Json]
    history: tuple[str, ...] = ("messages",)


def _function(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _declarations(tools: tuple[Tool, ...]) -> Json:
    """Return the member `tools` of OpenAI's form, or nothing if there are none."""
    listed = [{"type": "function", "function": _function(tool)} for tool in tools]
    return {"tools": listed} if listed else {}


def _messages(question: Question) -> list[Json]:
    return [
        {"role": "system", "content": question.system},
        {"role": "user", "content": question.text},
    ]


def _chat(question: Question) -> Json:
    start = {"model": question.model, "stream": True, "messages": _messages(question)}
    return start | _declarations(question.tools)


def _anthropic(question: Question) -> Json:
    start = {"model": question.model, "stream": True, "max_tokens": 1024}
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in question.tools
    ]
    messages = [{"role": "user", "content": question.text}]
    declared = {"tools": tools} if tools else {}
    return {**start, "system": question.system, **declared, "messages": messages}


def _bedrock_converse(question: Question) -> Json:
    tools = [
        {
            "toolSpec": {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": {"json": tool.parameters},
            }
        }
        for tool in question.tools
    ]
    return {
        "messages": [{"role": "user", "content": [{"text": question.text}]}],
        "system": [{"text": question.system}],
        "inferenceConfig": {"maxTokens": 1024},
        **({"toolConfig": {"tools": tools}} if tools else {}),
    }


def _bedrock_llama(question: Question) -> Json:
    return {"prompt": question.text, "max_gen_len": 64}


def _cohere_v1(question: Question) -> Json:
    tools = [_cohere_v1_tool(tool) for tool in question.tools]
    start = {"model": question.model, "stream": True}
    asked = {"preamble": question.system, "message": question.text}
    return {**start, **asked, **({"tools": tools} if tools else {})}


def _cohere_v1_tool(tool: Tool) -> Json:
    """Version 1 of the API has types of Python in place of a JSON Schema."""
    types = {"string": "str", "integer": "int", "number": "float"}
    definitions = {
        name: {"type": types[schema["type"]], "required": name in tool.parameters["required"]}
        for name, schema in tool.parameters["properties"].items()
    }
    start = {"name": tool.name, "description": tool.description}
    return {**start, "parameter_definitions": definitions}


def _dashscope(question: Question) -> Json:
    parameters: Json = {"result_format": "message", "incremental_output": True}
    parameters |= _declarations(question.tools)
    messages = {"messages": _messages(question)}
    return {"model": question.model, "input": messages, "parameters": parameters}


def _dashscope_snapshots(question: Question) -> Json:
    body = _dashscope(question)
    body["parameters"]["incremental_output"] = False
    return body


def _gemini(question: Question) -> Json:
    functions = [_function(tool) for tool in question.tools]
    return {
        "systemInstruction": {"parts": [{"text": question.system}]},
        "contents": [{"role": "user", "parts": [{"text": question.text}]}],
        **({"tools": [{"functionDeclarations": functions}]} if functions else {}),
    }


def _google_interactions(question: Question) -> Json:
    step = {"type": "user_input", "content": [{"type": "text", "text": question.text}]}
    return {
        "model": question.model,
        "stream": True,
        "system_instruction": question.system,
        "input": [step],
        **_flat_declarations(question.tools),
    }


def _flat_declarations(tools: tuple[Tool, ...]) -> Json:
    listed = [{"type": "function", **_function(tool)} for tool in tools]
    return {"tools": listed} if listed else {}


def _ollama_generate(question: Question) -> Json:
    start = {"model": question.model, "stream": True}
    return {**start, "system": question.system, "prompt": question.text}


def _openai_completions(question: Question) -> Json:
    start = {"model": question.model, "stream": True}
    return {**start, "prompt": question.text, "max_tokens": 40}


def _openai_responses(question: Question) -> Json:
    return {
        "model": question.model,
        "stream": True,
        "instructions": question.system,
        "input": [{"role": "user", "content": question.text}],
        **_flat_declarations(question.tools),
    }


def _tgi(question: Question) -> Json:
    return {"inputs": question.text, "parameters": {"max_new_tokens": 40, "details": True}}


_BEDROCK: Final = "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
_INVOKE: Final = f"{_BEDROCK}/invoke-with-response-stream"
_VERTEX: Final = "aiplatform.googleapis.com/v1/projects/example/locations"
_GEMINI: Final = {
    "google-gemini": (
        "https://generativelanguage.googleapis.com/v1beta/models/{model}:streamGenerateContent"
    ),
    "google-vertex": (
        f"https://europe-west1-{_VERTEX}/europe-west1/publishers/google/models/{{model}}"
        ":streamGenerateContent"
    ),
}
_DASHSCOPE: Final = {
    "dashscope": "https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation"
}

# dialect -> variant of its requests -> how they look; the variant "" is the usual one.
REQUEST_FORMS: Final[dict[str, dict[str, RequestForm]]] = {
    "anthropic": {
        "": RequestForm(
            {
                "anthropic": "https://api.anthropic.com/v1/messages",
                "aws-bedrock": _INVOKE,
                "compatible": "https://llm.example.com/v1/messages",
                "google-vertex": (
                    f"https://us-east5-{_VERTEX}/us-east5/publishers/anthropic/models/{{model}}"
                    ":streamRawPredict"
                ),
            },
            _anthropic,
        )
    },
    "bedrock-converse": {
        "": RequestForm({"aws-bedrock": f"{_BEDROCK}/converse-stream"}, _bedrock_converse)
    },
    "bedrock-llama": {"": RequestForm({"aws-bedrock": _INVOKE}, _bedrock_llama, ())},
    "cohere": {
        "": RequestForm({"cohere": "https://api.cohere.com/v2/chat"}, _chat),
        "v1": RequestForm({"cohere": "https://api.cohere.com/v1/chat"}, _cohere_v1, ()),
    },
    "dashscope": {
        "": RequestForm(_DASHSCOPE, _dashscope, ("input", "messages")),
        "snapshots": RequestForm(_DASHSCOPE, _dashscope_snapshots, ("input", "messages")),
    },
    "gemini": {
        "": RequestForm(
            {provider: f"{uri}?alt=sse" for provider, uri in _GEMINI.items()},
            _gemini,
            ("contents",),
        ),
        "array": RequestForm(_GEMINI, _gemini, ("contents",)),
    },
    "google-interactions": {
        "": RequestForm(
            {
                "google-gemini": "https://generativelanguage.googleapis.com/v1beta/interactions?alt=sse"
            },
            _google_interactions,
            ("input",),
        )
    },
    "mistral": {"": RequestForm({"mistral": "https://api.mistral.ai/v1/chat/completions"}, _chat)},
    "ollama": {
        "": RequestForm({"ollama": "http://localhost:11434/api/chat"}, _chat),
        "generate": RequestForm(
            {"ollama": "http://localhost:11434/api/generate"}, _ollama_generate, ()
        ),
    },
    "openai-chat": {
        "": RequestForm(
            {
                "aws-bedrock": _INVOKE,
                "azure": "https://example.openai.azure.com/openai/deployments/any/chat/completions",
                "compatible": "https://llm.example.com/v1/chat/completions",
                "dashscope": "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions",
                "openai": "https://api.openai.com/v1/chat/completions",
                "openrouter": "https://openrouter.ai/api/v1/chat/completions",
                "volcengine": "https://ark.cn-beijing.volces.com/api/v3/chat/completions",
            },
            _chat,
        )
    },
    "openai-completions": {
        "": RequestForm(
            {
                "azure": "https://example.openai.azure.com/openai/deployments/{model}/completions",
                "compatible": "https://llm.example.com/v1/completions",
                "openai": "https://api.openai.com/v1/completions",
            },
            _openai_completions,
            (),
        )
    },
    "openai-responses": {
        "": RequestForm(
            {
                "azure": "https://example.openai.azure.com/openai/v1/responses",
                "chatgpt-codex": "https://chatgpt.com/backend-api/codex/responses",
                "compatible": "https://llm.example.com/v1/responses",
                "github-copilot": "https://api.githubcopilot.com/responses",
                "lmstudio": "http://127.0.0.1:1234/v1/responses",
                "openai": "https://api.openai.com/v1/responses",
                "openrouter": "https://openrouter.ai/api/v1/responses",
                "xai": "https://api.x.ai/v1/responses",
            },
            _openai_responses,
            ("input",),
        )
    },
    "tgi": {
        "": RequestForm(
            {"huggingface": "https://tgi.example.com/models/{model}/generate_stream"}, _tgi, ()
        )
    },
}
