"""All text dialects by name, in the order in which they are asked where they share a marker."""

from typing import Final

from harness.text_calls.dialect import TextDialect
from harness.text_calls.notations.action_protocol import ACTION_PROTOCOL
from harness.text_calls.notations.anthropic_invoke import ANTHROPIC_INVOKE
from harness.text_calls.notations.bare_json import BARE_JSON
from harness.text_calls.notations.cohere_action import COHERE_ACTION
from harness.text_calls.notations.deepseek import DEEPSEEK
from harness.text_calls.notations.dsml import DSML
from harness.text_calls.notations.fenced_json import FENCED_JSON
from harness.text_calls.notations.gemma import GEMMA
from harness.text_calls.notations.glm import GLM
from harness.text_calls.notations.harmony import HARMONY
from harness.text_calls.notations.kimi import KIMI
from harness.text_calls.notations.llama_function import LLAMA_FUNCTION
from harness.text_calls.notations.marked_json import GRANITE, INTERNLM, JAMBA, PHI
from harness.text_calls.notations.minimax import MINIMAX
from harness.text_calls.notations.minimax_m3 import MINIMAX_M3
from harness.text_calls.notations.mistral_tool_calls import MISTRAL_TOOL_CALLS
from harness.text_calls.notations.python_tag import PYTHON_TAG
from harness.text_calls.notations.pythonic import PYTHONIC, TAGGED_PYTHONIC
from harness.text_calls.notations.qwen_xml import QWEN_XML
from harness.text_calls.notations.react import REACT
from harness.text_calls.notations.tagged_json import TAGGED_JSON
from harness.text_calls.notations.think import THINK

_ALL: Final[tuple[TextDialect, ...]] = (
    # Read before all others, by its own scanner, if the prompt taught it.
    ACTION_PROTOCOL,
    # Before the JSON in the same tag, which takes garbage for a broken call.
    QWEN_XML,
    LLAMA_FUNCTION,
    GLM,
    MINIMAX_M3,
    TAGGED_JSON,
    FENCED_JSON,
    BARE_JSON,
    MINIMAX,
    ANTHROPIC_INVOKE,
    DSML,
    PYTHONIC,
    TAGGED_PYTHONIC,
    GEMMA,
    HARMONY,
    REACT,
    DEEPSEEK,
    KIMI,
    MISTRAL_TOOL_CALLS,
    COHERE_ACTION,
    PYTHON_TAG,
    PHI,
    GRANITE,
    JAMBA,
    INTERNLM,
)
TEXT_DIALECTS: Final[dict[str, TextDialect]] = {dialect.name: dialect for dialect in _ALL}

# What no normalizer may show: the markers of all dialects.
MARKERS: Final[tuple[str, ...]] = tuple(
    sorted({mark for dialect in (THINK, *_ALL) for mark in dialect.markers})
)
