"""Collect Hypothesis strategies for inputs that a client of tool calls must handle.

All of them shrink to short and simple values. Each draws only values that its docstring allows.
"""

from harness.fuzzing.strategies.arguments import (
    argument_texts,
    arguments,
    integers,
    json_objects,
    json_values,
    numbers,
    words,
)
from harness.fuzzing.strategies.malformed import CLASSES, Malformed, malformed_arguments
from harness.fuzzing.strategies.replies import (
    ProviderReply,
    TextReply,
    conversations,
    replies,
    texts_with_calls,
)
from harness.fuzzing.strategies.turns import (
    TurnScript,
    bodies,
    chunkings,
    deltas,
    fragments,
    option_values,
    turn_scripts,
    turns,
    writer_options,
)

__all__ = [
    "CLASSES",
    "Malformed",
    "ProviderReply",
    "TextReply",
    "TurnScript",
    "argument_texts",
    "arguments",
    "bodies",
    "chunkings",
    "conversations",
    "deltas",
    "fragments",
    "integers",
    "json_objects",
    "json_values",
    "malformed_arguments",
    "numbers",
    "option_values",
    "replies",
    "texts_with_calls",
    "turn_scripts",
    "turns",
    "words",
    "writer_options",
]
