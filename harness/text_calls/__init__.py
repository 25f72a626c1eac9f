"""Find, parse, check and write tool calls that a model wrote in its text (text calls).

Other packages import from here only.
"""

from harness.text_calls.context import Context
from harness.text_calls.dialect import TextDialect, WrittenCall
from harness.text_calls.json_calls import ARGUMENTS_KEYS, NAME_KEYS, read_json_calls
from harness.text_calls.policy import TextPolicy
from harness.text_calls.stage import read_text_calls
from harness.text_calls.table import MARKERS, TEXT_DIALECTS
from harness.text_calls.template import ResponseTemplate, load_response_template

__all__ = [
    "ARGUMENTS_KEYS",
    "MARKERS",
    "NAME_KEYS",
    "TEXT_DIALECTS",
    "Context",
    "ResponseTemplate",
    "TextDialect",
    "TextPolicy",
    "WrittenCall",
    "load_response_template",
    "read_json_calls",
    "read_text_calls",
]
