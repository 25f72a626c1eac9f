"""The tool of a request: some integrations of LangChain read calls only if there is one."""

TOOL = {
    "type": "function",
    "function": {
        "name": "any",
        "description": "any",
        "parameters": {"type": "object", "properties": {}},
    },
}
