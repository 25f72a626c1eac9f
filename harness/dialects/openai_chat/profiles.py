"""How providers really spell openai-chat: provider -> spelling, data and nothing else.

Only what was seen stands here, beside where it was seen; the rest is the contract. Counts are
of the recorded streams that this was measured on (2026-11); most of them are not shipped. A
provider that serves many models has the spelling that most of its streams share. Servers whose
spelling is that of a model's parser, such as vLLM's, have no row. No reader looks into this
table: it reads every spelling from everybody.
"""

from typing import Final

from harness.dialects.openai_chat.spelling import Spelling

PROFILES: Final[dict[str, Spelling]] = {
    # 6 of 6 without [DONE], 4 of 5 calls in one chunk.
    "cerebras": Spelling(
        arguments="with-start", reasoning_field="reasoning", done=False, role="first"
    ),
    # The seed story (id and name once, then ""), and 1 of 1 stream with a call: "" as the later
    # id, the type in each delta. https://help.aliyun.com/zh/model-studio/qwen-function-calling
    "dashscope": Spelling(later_id="empty", later_name="empty", call_type="always", idle="null"),
    # 0 of 47 streams have a chunk of usage alone. https://api-docs.deepseek.com/api/create-chat-completion
    "deepseek": Spelling(usage="with-finish", role="first"),
    # 5 of 5 streams with a call: whole, no index, the finish reason beside it; 12 of 12 without
    # [DONE].
    "gpustack": Spelling(arguments="with-start", index="absent", finish="with-call", done=False),
    # 18 of 18 streams with a call: each whole, in one chunk.
    "groq": Spelling(arguments="with-start", reasoning_field="reasoning", role="first"),
    # 8 of 8 streams with a call: whole; 9 of 17 name the role in each delta.
    "ollama": Spelling(arguments="with-start", reasoning_field="reasoning", role="each"),
    # 163 of 197 streams have the comment, 188 the role in each delta, 9 a chunk of usage alone.
    # https://openrouter.ai/docs/api-reference/streaming
    "openrouter": Spelling(
        comment=" OPENROUTER PROCESSING",
        reasoning_field="reasoning",
        role="each",
        usage="with-finish",
    ),
    # 2 of 2 streams with a call: null as the later id and name, the type in each delta.
    "venice": Spelling(later_id="null", later_name="null", call_type="always"),
    # Volcano Ark. https://www.volcengine.com/docs/82379/1449722: the role in each delta, a call
    # whole beside its finish reason, `[DONE]`; recorded chunks have `"usage": null` and no finish
    # reason before the last.
    "volcengine": Spelling(
        arguments="with-start",
        finish="with-call",
        role="each",
        open_finish="absent",
        open_usage="null",
        response_id="021760000000000000000000000000000000000000000000000",
    ),
    # 15 of 15 streams with a call: each whole, in one chunk.
    "xai": Spelling(arguments="with-start", role="first"),
    # 8 of 8 streams with a call: whole; 10 of 10 name the role in each delta.
    "zai": Spelling(arguments="with-start", role="each", usage="with-finish"),
}
