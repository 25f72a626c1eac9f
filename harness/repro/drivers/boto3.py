"""The boto3 package: `converse_stream` of the client `bedrock-runtime`.

It hands over events, so this driver joins the calls by the index of their block. A call of a tool
that the server itself executes is not one of agent code.
"""

import boto3
from botocore.config import Config
from botocore.eventstream import ParserError
from botocore.exceptions import BotoCoreError, ClientError

from harness.repro.drivers.shared.calls import Calls
from harness.repro.drivers.shared.ends import failure_of

DOCUMENTED = (BotoCoreError, ClientError, ParserError)
FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}


def connect(base_url):
    """Return a client of `bedrock-runtime` that sends its requests to `base_url`, once each."""
    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=base_url,
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"total_max_attempts": 1}),
    )


def drive(client):
    """Yield what agent code gets."""
    word, usage, calls = None, None, Calls()
    messages = [{"role": "user", "content": [{"text": "any"}]}]
    try:
        for event in client.converse_stream(modelId="any", messages=messages)["stream"]:
            if started := event.get("contentBlockStart"):
                call, index = started["start"].get("toolUse"), started["contentBlockIndex"]
                if call and call.get("type") != "server_tool_use":
                    calls.begin(index)
                    calls.extend(index, call["toolUseId"], call["name"], "")
            elif changed := event.get("contentBlockDelta"):
                delta, index = changed["delta"], changed["contentBlockIndex"]
                yield "text", delta.get("text")
                yield "reasoning", delta.get("reasoningContent", {}).get("text")
                if delta.get("toolUse") and index in calls.by_index:
                    calls.extend(index, "", "", delta["toolUse"].get("input"))
            elif stopped := event.get("messageStop"):
                word = stopped["stopReason"]
            elif metadata := event.get("metadata"):
                usage = metadata["usage"]
    except ClientError as error:
        found = error.response["Error"]
        yield from calls.failed(found["Code"], found.get("Message", ""))
        return
    except DOCUMENTED as error:
        yield from calls.failed(*failure_of(error))
        return
    if usage:
        yield "usage", usage.get("inputTokens"), usage.get("outputTokens")
    if word in {"malformed_model_output", "malformed_tool_use"}:
        yield from calls.failed(word)
    else:
        yield from calls.end(word, FINISH)
