"""The finish words of Mistral's API."""

FINISH = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "model_length": "length",
}
