r"""Read JSON in tags other than those of Hermes, and Apertus' objects whose key is the name.

    <TOOLCALL>[{"name": NAME, "arguments": {...}}]</TOOLCALL>        Nemotron Nano 2, Super 1.5
    <longcat_tool_call>{...}</longcat_tool_call>                     LongCat-Flash
    <ifm|tool_calls><ifm|tool_call>{...}</ifm|tool_call></ifm|tool_calls>   K2 Horizon
    <tools>{...}</tools>                                             Qwen2.5-Coder
    <function_call> {...}                                            Granite 20B functions
    [unused11][{...}][unused12]                                      openPangu
    function call<|role_sep|>\n{...}<|message_sep|>                  GigaChat 3
    <|function_call|>{...}<|message_sep|>                            GigaChat 3.1
    <|im_start|>assistant -> tool/function_call\n[{...}]<|im_end|>   HyperCLOVA X SEED
    <|tools_prefix|>[{NAME: {...}}]<|tools_suffix|>                  Apertus

Source: the chat templates of these models, most of them in `models/templates` of llama.cpp and in
`examples` of vLLM.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from harness.text_calls.dialect import Offered, RawBlock, WrittenCall
from harness.text_calls.dialects.marked_json import LIST, OBJECT, MarkedJson
from harness.text_calls.json_calls import iter_values, read_arguments, read_items, read_pairs
from harness.text_calls.streamed import BlockStream, JsonStream
from harness.turns.exact_json import write_exactly
from harness.turns.json_prefix import PrefixState, scan

_TOOLS: Final = "<tools>"
_GRANITE: Final = "<function_call>"
# Opening marker -> its closing marker; "" if the end of the message closes it.
_CLOSERS: Final = {
    "<TOOLCALL>": "</TOOLCALL>",
    "<toolcall>": "</toolcall>",
    "<longcat_tool_call>": "</longcat_tool_call>",
    "<ifm|tool_call>": "</ifm|tool_call>",
    _TOOLS: "</tools>",
    _GRANITE: "</function_call>",
    "[unused11]": "[unused12]",
    "function call<|role_sep|>": "",
    "<|function_call|>": "",
    "<|im_start|>assistant -> tool/function_call": "",
    "-> tool/function_call": "",
}
# A broken call in the tag in which prompts describe tools, if it is of an offered one.
_CALL: Final = re.compile(r'\s*\[?\s*\{\s*"name"\s*:\s*"([^"\\]{1,128})"\s*,\s*"arguments"\s*:')
# What Granite's prompt asks for if no tool is to be called.
_NO_TOOL: Final = "no_function"


class JsonTags(MarkedJson):
    """Reads calls as JSON in the tags of several models, except Apertus."""

    name = "json-tags"
    title = "JSON in tags of other names (Nemotron, LongCat, GigaChat 3 and others)"
    line_ends = 2
    openers = tuple(_CLOSERS)
    heads = dict.fromkeys(openers, (*LIST, *OBJECT))
    trailers = tuple(filter(None, _CLOSERS.values()))
    orphans = tuple(it for it in trailers if it != _CLOSERS[_TOOLS])
    mentioned = (_TOOLS,)
    on_new_lines = ("<SPECIAL_12>",)
    noise = (
        *on_new_lines,
        "<ifm|tool_calls>",
        "</ifm|tool_calls>",
        "<|message_sep|>",
        "<|im_start|>assistant\n",
        "<|im_end|>",
        "<|endofturn|>",
        "<|stop|>",
        "[unused10]",
    )
    markers = (*openers, *orphans, *noise)

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the JSON; None if the tag may describe tools."""
        return None if opener == _TOOLS else super().stream(opener, offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return a call for each object. None if the tag `tools` contains anything but calls."""
        found = super().calls(block) or ()
        if block.opener == _TOOLS and (not found or any(it.error for it in found)):
            call = _CALL.match(block.raw)
            return found if call and call[1] in block.offered else None
        if block.opener == _GRANITE and _NO_TOOL not in block.offered:
            return tuple(call for call in found if call.name != _NO_TOOL)
        return found


class Apertus(MarkedJson):
    """Reads and writes the calls of Apertus: objects whose one key names the tool."""

    name = "apertus"
    title = "Objects with the name as the key, between tokens (Apertus)"
    openers = ("<|tools_prefix|>",)
    heads: ClassVar = {openers[0]: (*LIST, *OBJECT)}
    trailers = orphans = ("<|tools_suffix|>",)
    closed_by_trailer = True
    noise = ("<|assistant_end|>",)
    markers = (*openers, *orphans, *noise)

    def stream(self, _opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the objects while they arrive."""
        return JsonStream(offered, read=lambda item, _offered: _members(item))

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return a call for each member of each object; () for an empty list."""
        found: list[WrittenCall] = []
        for value in iter_values(block.raw):
            whole = scan(value).state is PrefixState.COMPLETE
            items = read_items(value) if whole and value.startswith("[") else (value,)
            found += [call for item in items for call in _members(item)]
        return tuple(found)

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one list with all calls between the tokens."""
        items = (f"{{{write_exactly(it.name)}: {it.arguments or '{}'}}}" for it in calls)
        return f"<|tools_prefix|>[{', '.join(items)}]<|tools_suffix|>" if calls else ""


def _members(item: str) -> tuple[WrittenCall, ...]:
    found = read_pairs(item)
    if not found:
        return (WrittenCall(error="it is not an object whose key is the name of a tool"),)
    return tuple(WrittenCall(name, read_arguments(arguments)) for name, arguments in found)
