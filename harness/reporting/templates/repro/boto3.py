"""The boto3 package: the events of `converse_stream`."""

import boto3
from botocore.config import Config
from botocore.eventstream import ParserError
from botocore.exceptions import BotoCoreError, ClientError
from shared.calls import Calls

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


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=base_url,
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"total_max_attempts": 1}),
    )
    messages = [{"role": "user", "content": [{"text": "any"}]}]
    text, finish, calls = "", None, Calls()
    for event in client.converse_stream(modelId="any", messages=messages)["stream"]:
        if started := event.get("contentBlockStart"):
            call = started["start"].get("toolUse")
            if call and call.get("type") != "server_tool_use":
                calls.add(started["contentBlockIndex"], call["toolUseId"], call["name"], "")
        elif changed := event.get("contentBlockDelta"):
            text += changed["delta"].get("text", "")
            call, index = changed["delta"].get("toolUse"), changed["contentBlockIndex"]
            if call and index in calls:
                calls.add(index, "", "", call.get("input"))
        elif stopped := event.get("messageStop"):
            finish = stopped["stopReason"]
    turn = calls.turn(text, finish, cut=("max_tokens", "model_context_window_exceeded"))
    return {**turn, "failed": finish in (None, "malformed_model_output", "malformed_tool_use")}
