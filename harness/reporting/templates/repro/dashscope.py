"""The dashscope package: the events of `Generation.call`."""

import dashscope
from dashscope.common.error import DashScopeException
from shared.calls import Calls

DOCUMENTED = (DashScopeException,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    dashscope.base_http_api_url = base_url
    is_new = (REQUEST.get("parameters") or {}).get("incremental_output") is True
    options = {"incremental_output": True} if is_new else {}
    text, finish, failed, calls = "", None, False, Calls()
    for event in dashscope.Generation.call(
        model="any",
        messages=[{"role": "user", "content": "any"}],
        api_key="none",
        result_format="message",
        stream=True,
        **options,
    ):
        failed = failed or event.status_code != 200
        if event.status_code != 200:
            continue
        output = event.output
        choice = output["choices"][0] if output.get("choices") else output
        message = choice.get("message") or {"content": output.get("text")}
        content = message.get("content") or ""
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        text = text + content if is_new else content or text
        if choice.get("finish_reason") not in (None, "", "null"):
            finish = choice["finish_reason"]
        parts = message.get("tool_calls") or ()
        calls = Calls() if parts and not is_new else calls
        for place, part in enumerate(parts):
            function = part.get("function") or {}
            name, arguments = function.get("name"), function.get("arguments")
            calls.add(part.get("index", place), part.get("id"), name, arguments)
    turn = calls.turn(text, finish)
    return {**turn, "failed": failed or finish is None}
