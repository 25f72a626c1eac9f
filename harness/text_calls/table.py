"""List all text dialects by name, in the order in which they are tried if they share a marker."""

from typing import Final

from harness.text_calls.dialect import TextDialect
from harness.text_calls.dialects.action_protocol import ACTION_PROTOCOL
from harness.text_calls.dialects.anthropic_invoke import AnthropicInvoke
from harness.text_calls.dialects.bare_json import BARE_JSON
from harness.text_calls.dialects.cohere_action import CohereAction
from harness.text_calls.dialects.command_r import CommandR
from harness.text_calls.dialects.deepseek import DeepSeek
from harness.text_calls.dialects.dsml import Dsml
from harness.text_calls.dialects.fenced_json import FencedJson
from harness.text_calls.dialects.functionary import Functionary
from harness.text_calls.dialects.gemma import Gemma
from harness.text_calls.dialects.glm import Glm
from harness.text_calls.dialects.harmony import Harmony
from harness.text_calls.dialects.inkling import Inkling
from harness.text_calls.dialects.json_tags import Apertus, JsonTags
from harness.text_calls.dialects.keyed_tags import Hunyuan, K2Horizon, LongCat
from harness.text_calls.dialects.kimi import Kimi
from harness.text_calls.dialects.kimi_k3 import KimiK3
from harness.text_calls.dialects.llama_function import LlamaFunction
from harness.text_calls.dialects.marked_json import Granite, InternLM, Jamba, Phi
from harness.text_calls.dialects.minicpm import MiniCpm
from harness.text_calls.dialects.minimax import Minimax
from harness.text_calls.dialects.minimax_m3 import MinimaxM3
from harness.text_calls.dialects.mistral_tool_calls import MistralToolCalls
from harness.text_calls.dialects.plamo import Plamo
from harness.text_calls.dialects.python_tag import PythonTag
from harness.text_calls.dialects.pythonic import Pythonic, TaggedPythonic
from harness.text_calls.dialects.qwen_agent import QwenAgent
from harness.text_calls.dialects.qwen_xml import QwenXml
from harness.text_calls.dialects.react import ReAct
from harness.text_calls.dialects.solar import Solar
from harness.text_calls.dialects.step import Step
from harness.text_calls.dialects.tagged_json import TaggedJson
from harness.text_calls.dialects.think import THINK

_ALL: Final[tuple[TextDialect, ...]] = (
    # Read before all others, by its own scanner, if the prompt taught it.
    ACTION_PROTOCOL,
    # Before the JSON in the same tag, which takes garbage for a broken call.
    QwenXml(),
    LlamaFunction(),
    Glm(),
    Hunyuan(),
    LongCat(),
    K2Horizon(),
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
    Functionary(),
    ReAct(),
    Step(),
    DeepSeek(),
    Kimi(),
    KimiK3(),
    Solar(),
    Plamo(),
    Inkling(),
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
