"""All text dialects by name, in the order in which they are asked where they share a marker."""

from typing import Final

from harness.text_calls.dialect import TextDialect
from harness.text_calls.notations.action_protocol import ACTION_PROTOCOL
from harness.text_calls.notations.anthropic_invoke import AnthropicInvoke
from harness.text_calls.notations.bare_json import BARE_JSON
from harness.text_calls.notations.cohere_action import CohereAction
from harness.text_calls.notations.command_r import CommandR
from harness.text_calls.notations.deepseek import DeepSeek
from harness.text_calls.notations.dsml import Dsml
from harness.text_calls.notations.fenced_json import FencedJson
from harness.text_calls.notations.gemma import Gemma
from harness.text_calls.notations.glm import Glm
from harness.text_calls.notations.harmony import Harmony
from harness.text_calls.notations.json_tags import Apertus, JsonTags
from harness.text_calls.notations.keyed_tags import Hunyuan, LongCat
from harness.text_calls.notations.kimi import Kimi
from harness.text_calls.notations.kimi_k3 import KimiK3
from harness.text_calls.notations.llama_function import LlamaFunction
from harness.text_calls.notations.marked_json import Granite, InternLM, Jamba, Phi
from harness.text_calls.notations.minicpm import MiniCpm
from harness.text_calls.notations.minimax import Minimax
from harness.text_calls.notations.minimax_m3 import MinimaxM3
from harness.text_calls.notations.mistral_tool_calls import MistralToolCalls
from harness.text_calls.notations.python_tag import PythonTag
from harness.text_calls.notations.pythonic import Pythonic, TaggedPythonic
from harness.text_calls.notations.qwen_agent import QwenAgent
from harness.text_calls.notations.qwen_xml import QwenXml
from harness.text_calls.notations.react import ReAct
from harness.text_calls.notations.solar import Solar
from harness.text_calls.notations.tagged_json import TaggedJson
from harness.text_calls.notations.think import THINK

_ALL: Final[tuple[TextDialect, ...]] = (
    # Read before all others, by its own scanner, if the prompt taught it.
    ACTION_PROTOCOL,
    # Before the JSON in the same tag, which takes garbage for a broken call.
    QwenXml(),
    LlamaFunction(),
    Glm(),
    Hunyuan(),
    LongCat(),
    MinimaxM3(),
    MiniCpm(),
    TaggedJson(),
    FencedJson(),
    BARE_JSON,
    Minimax(),
    AnthropicInvoke(),
    Dsml(),
    Pythonic(),
    TaggedPythonic(),
    Gemma(),
    Harmony(),
    ReAct(),
    DeepSeek(),
    Kimi(),
    KimiK3(),
    Solar(),
    QwenAgent(),
    MistralToolCalls(),
    CohereAction(),
    CommandR(),
    PythonTag(),
    Phi(),
    Granite(),
    Jamba(),
    InternLM(),
    JsonTags(),
    Apertus(),
)
TEXT_DIALECTS: Final[dict[str, TextDialect]] = {dialect.name: dialect for dialect in _ALL}

# What no normalizer may show: the markers of all dialects.
MARKERS: Final[tuple[str, ...]] = tuple(
    sorted({mark for dialect in (THINK, *_ALL) for mark in dialect.markers})
)
