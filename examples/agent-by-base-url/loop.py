"""A tool loop without any library: it reads the chunks of OpenAI's chat API by itself."""

import json
import os
import sys
import urllib.error
import urllib.request


def post(url, value):
    """Send JSON, and return the open response."""
    # The address comes from the harness.
    request = urllib.request.Request(url, json.dumps(value).encode(), method="POST")  # noqa: S310
    return urllib.request.urlopen(request, timeout=30)  # noqa: S310


def run_tool(name, arguments):
    """Return the result of a tool as text for the model."""
    try:
        with post(f"{os.environ['HARNESS_TOOLS_URL']}/{name}", arguments) as answer:
            result = json.load(answer)["result"]
    except urllib.error.HTTPError as error:
        return f"The call failed: {json.load(error)['error']}"
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def request_turn(start, messages):
    """Return the text, the calls and the finish reason of one response."""
    calls, text, finish = {}, "", None
    body = {"model": start["model"], "messages": messages, "stream": True}
    body |= {"tools": start["tools"]} if start["tools"] else {}
    with post(f"{os.environ['HARNESS_BASE_URL']}/chat/completions", body) as stream:
        for line in stream:
            data = line.decode().removeprefix("data:").strip()
            if not data.startswith("{"):
                continue
            for choice in json.loads(data)["choices"]:
                finish = choice.get("finish_reason") or finish
                text += choice["delta"].get("content") or ""
                for part in choice["delta"].get("tool_calls") or []:
                    call = calls.setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
                    function = part.get("function") or {}
                    call["id"] = call["id"] or part.get("id") or ""
                    call["name"] = call["name"] or function.get("name") or ""
                    call["arguments"] += function.get("arguments") or ""
    return text, list(calls.values()), finish


def answer(start, messages):
    """Ask the model and run its calls until it answers; return the text and how it ended."""
    for _ in range(start["limits"]["rounds"]):
        text, calls, finish = request_turn(start, messages)
        entry = {"role": "assistant", "content": text or None}
        if not calls:
            messages.append(entry)
            return text, "done" if finish == "stop" else "interrupted"
        names = ("name", "arguments")
        entry["tool_calls"] = [
            {"id": it["id"], "type": "function", "function": {key: it[key] for key in names}}
            for it in calls
        ]
        messages.append(entry)
        for it in calls:
            result = run_tool(it["name"], json.loads(it["arguments"]))
            messages.append({"role": "tool", "tool_call_id": it["id"], "content": result})
    return "", "limit"


def main():
    """Read the task, answer its questions, and print the last answer."""
    start = json.load(sys.stdin)
    messages = [{"role": "system", "content": start["system"]}]
    text, ending = "", "empty"
    for question in start["questions"]:
        messages.append({"role": "user", "content": question})
        text, ending = answer(start, messages)
        if ending != "done":
            break
    sys.stdout.write(json.dumps({"answer": text, "ending": ending}))


main()
