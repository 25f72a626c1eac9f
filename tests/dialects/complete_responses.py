"""Turns -> complete responses, as a client gets them without a stream; written by hand.

Writers that can write such a response do it by an option; these are for the others.
"""

import json
from typing import Any

from harness.dialects.table import DIALECTS
from harness.turns.deltas import ReasoningDelta, TextDelta, Usage
from tests.dialects.scripted_turns import Script

Json = dict[str, Any]
Options = Any  # the writer options of the dialect at hand


def _counts(script: Script, input_name: str, output_name: str) -> Json:
    usage = script.usage or Usage()
    return {input_name: usage.input_tokens, output_name: usage.output_tokens}


def converse_document(script: Script, options: Options) -> bytes:
    content: list[Json] = []
    for delta in (*script.before, None, *script.after):
        match delta:
            case TextDelta():
                content.append({"text": delta.text})
            case ReasoningDelta():
                content.append({"reasoningContent": {"reasoningText": {"text": delta.text}}})
            case _:
                content += [
                    {"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments or {}}}
                    for c in script.calls
                ]
    usage = _counts(script, "inputTokens", "outputTokens")
    value = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": script.finish.raw,
        "usage": usage if options.metadata else None,
    }
    return json.dumps(value).encode()


def llama_document(script: Script, _: Options) -> bytes:
    counts = _counts(script, "prompt_token_count", "generation_token_count")
    text = script.text(TextDelta)
    return json.dumps({"generation": text, **counts, "stop_reason": script.finish.raw}).encode()


def completion_document(script: Script, _: Options) -> bytes:
    choice = {"index": 0, "text": script.text(TextDelta), "finish_reason": script.finish.raw}
    counts = _counts(script, "prompt_tokens", "completion_tokens")
    usage = {"usage": counts} if script.usage else {}
    return json.dumps({"object": "text_completion", "choices": [choice], **usage}).encode()


def tgi_document(script: Script, options: Options) -> bytes:
    counts = _counts(script, "input_length", "generated_tokens")
    details = {"finish_reason": script.finish.raw, **counts}
    given = details if options.details == "given" else None
    return json.dumps([{"generated_text": script.text(TextDelta), "details": given}]).encode()


def cohere_document(script: Script, options: Options) -> bytes:
    usage = {"tokens": _known(_counts(script, "input_tokens", "output_tokens"))}
    if options.version == "v1":
        value: Json = {
            "generation_id": "g1",
            # Its one text is the answer, or the plan if there are calls.
            "text": script.text(ReasoningDelta if script.calls else TextDelta),
            "tool_calls": [
                {"name": call.name, "parameters": json.loads(call.arguments or "{}")}
                for call in script.calls
            ],
            "finish_reason": script.finish.raw,
            "meta": usage if script.usage else {},
        }
        return json.dumps(value).encode()
    function = [{"name": c.name, "arguments": c.arguments} for c in script.calls]
    calls = [
        {"id": call.id, "type": "function", "function": each}
        for call, each in zip(script.calls, function, strict=True)
    ]
    thoughts = script.text(ReasoningDelta)
    content: list[Json] = [{"type": "text", "text": script.text(TextDelta)}]
    message: Json = {"role": "assistant", "content": content, "tool_calls": calls or None}
    if options.reasoning == "plan":
        message["tool_plan"] = thoughts
    else:
        content.insert(0, {"type": "thinking", "thinking": thoughts})
    value = {"id": "r1", "finish_reason": script.finish.raw, "message": message}
    return json.dumps({**value, "usage": usage if script.usage else {}}, indent=1).encode()


def _known(counts: Json) -> Json:
    return {name: count for name, count in counts.items() if count is not None}


def ollama_document(script: Script, options: Options) -> bytes:
    """Return the last line, with everything that the others contain."""
    lines = [json.loads(line) for line in DIALECTS["ollama"].write(script.deltas(), options)]
    holders = [line.get("message", line) for line in lines]
    names = ("content", "response", "thinking")
    texts = {name: "".join(holder.get(name, "") for holder in holders) for name in names}
    calls = [call for holder in holders for call in holder.get("tool_calls", ())]
    all_of_it: Json = {name: text for name, text in texts.items() if text}
    all_of_it |= {"tool_calls": calls} if calls else {}
    last = lines[-1]
    if "message" in last:
        return json.dumps({**last, "message": {**last["message"], **all_of_it}}, indent=2).encode()
    return json.dumps({**last, **all_of_it}).encode()


def chat_document(script: Script, options: Options) -> bytes:
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in script.calls
    ]
    message = {
        "role": "assistant",
        "content": script.text(TextDelta),
        options.reasoning_field: script.text(ReasoningDelta),
        **({"tool_calls": calls} if calls else {}),
    }
    choice = {"index": 0, "message": message, "finish_reason": script.finish.raw}
    counts = _counts(script, "prompt_tokens", "completion_tokens")
    usage = {"usage": counts} if script.usage else {}
    return json.dumps({"object": "chat.completion", "choices": [choice], **usage}).encode()


def responses_document(script: Script, options: Options) -> bytes:
    plain = type(options)(reasoning=options.reasoning)
    events = DIALECTS["openai-responses"].write(script.deltas(), plain)
    response = json.loads(events[-1].partition(b"data: ")[2])["response"]
    return json.dumps(response).encode()
