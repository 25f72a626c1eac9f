"""Hypothesis strategies for everything that a reader of tool calls has to survive.

All of them shrink to what is plain and short, and none draws what its own docstring excludes.
"""

from harness.fuzzing.strategies.arguments import argument_texts, arguments
from harness.fuzzing.strategies.bodies import bodies
from harness.fuzzing.strategies.chunkings import chunkings
from harness.fuzzing.strategies.malformed import CLASSES, Malformed, malformed_arguments
from harness.fuzzing.strategies.replies import Said, conversations, replies
from harness.fuzzing.strategies.spellings import SPELLINGS, spellings, switches
from harness.fuzzing.strategies.text_calls import Reply, texts_with_calls
from harness.fuzzing.strategies.turns import Script, deltas, fragments, scripts, turns
from harness.fuzzing.strategies.values import integers, json_objects, json_values, numbers, words

__all__ = [
    "CLASSES",
    "SPELLINGS",
    "Malformed",
    "Reply",
    "Said",
    "Script",
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
    "replies",
    "scripts",
    "spellings",
    "switches",
    "texts_with_calls",
    "turns",
    "words",
]
