"""Turn the content blocks of one message into text, reasoning and calls.

`index` names the block that a delta belongs to. The input of a call is the sum of its fragments.
The `input` in the start of the block counts only if no fragment comes. A block that stops without
either is a call without input. Tools that the provider executes are not calls. Blocks of unknown
kinds have no effect.
Source: Anthropic API reference, "Streaming Messages" and "Messages".
"""

from collections.abc import Hashable
from typing import Any

import msgspec

from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.piece import piece_decoder
from harness.turns.exact_json import write_exactly
from harness.turns.json_values import as_text, dicts


class BlockDelta(msgspec.Struct, gc=False):
    """The member `delta` of an event: what the event adds to its content block."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    partial_json: Any = None
    signature: Any = None


class BlockDeltaEvent(msgspec.Struct, gc=False):
    """An event `content_block_delta`, which adds text, reasoning or input to one block."""

    type: str
    delta: BlockDelta
    index: Any = None


piece_of = piece_decoder(BlockDeltaEvent)


class _Block:
    """One content block of a message, from its start on.

    Fields:
        key: of a call, a number that no other block of the message has.
        given_id: the provider's id of a call.
        input: the JSON text of a call's input if no fragment comes; "" after the first fragment.
        is_call: whether it is a call for the client.
        is_thinking: whether it is reasoning, which may have a signature.
        passed_over: whether its fragments belong to no call of the client.
        open: True until the block stops.
        signature: the parts so far of the signature of a thinking block.
    """

    __slots__ = (
        "given_id",
        "input",
        "is_call",
        "is_thinking",
        "key",
        "open",
        "passed_over",
        "signature",
    )

    def __init__(self, key: Hashable, kind: object, given_id: object) -> None:
        self.key = key
        self.given_id = as_text(given_id)
        self.input = ""
        self.is_call = kind == "tool_use"
        self.is_thinking = kind == "thinking"
        self.passed_over = kind not in ("tool_use", "text", "thinking")
        self.open = True
        self.signature: list[str] = []


class Blocks:
    """Collects the content blocks of one message, and adds their deltas to `turn`."""

    __slots__ = ("_by_index", "_calls", "_last", "_turn", "count")

    def __init__(self, turn: Assembly) -> None:
        self.count = 0
        self._turn = turn
        self._by_index: dict[int | None, _Block] = {}
        self._calls: list[_Block] = []
        self._last: _Block | None = None  # the block that started last

    def start(self, index: object, content: dict[str, Any]) -> None:
        """Begin the block at `index`, unless the start only repeats an open block.

        Blocks of other types (citations, compaction, results of server tools) are not part of the
        turn and have no effect.
        """
        kind, given_id = content.get("type"), content.get("id")
        key_index = index if type(index) is int else None
        earlier = self._by_index.get(key_index)
        if earlier is not None:
            # Indexes of blocks are reused (quirk ANT-BLOCK-INDEX), so the id decides about calls.
            if earlier.open and earlier.is_call and given_id == earlier.given_id != "":
                if not self._turn.arguments(earlier.key):
                    earlier.input = self._input(earlier, content.get("input")) or earlier.input
                return
            self._close(earlier)
        self._seal(self._last)
        # Fragments that came before the start are those of this call.
        early = (key_index,) if kind == "tool_use" and self._turn.arguments((key_index,)) else None
        block = _Block(early or self.count, kind, given_id)
        self._last = self._by_index[key_index] = block
        self.count += 1
        if block.is_call:
            self._calls.append(block)
            self._turn.open(block.key, given_id, content.get("name"))
            block.input = self._input(block, content.get("input"))
        elif kind == "text":
            self._turn.text(content.get("text"))
        elif kind == "thinking":
            self._turn.reasoning(content.get("thinking"))
            block.signature.append(as_text(content.get("signature")))
        # Encrypted by the provider, which requires it back unchanged.
        elif kind == "redacted_thinking":
            self._turn.seal(kind, content.get("data"))

    def delta(self, index: object, delta: BlockDelta) -> None:
        """Process one delta of the block at `index`."""
        kind = delta.type
        if kind == "input_json_delta":
            fragment = delta.partial_json
            block = self._by_index.get(index) if type(index) is int else self._last
            if type(fragment) is not str or block is None or not block.is_call:
                self._odd_fragment(block, index, fragment)
            elif fragment:
                block.input = ""
                self._turn.append(block.key, fragment)
        elif kind == "text_delta":
            self._turn.text(delta.text)
        elif kind == "thinking_delta":
            self._turn.reasoning(delta.thinking)
        elif kind == "signature_delta":
            self._signature(index, delta.signature)

    def stop(self, index: object) -> None:
        """Close the block at `index`; without an index, close the block that started last."""
        block = self._by_index.get(index) if type(index) is int else self._last
        if block is not None:
            self._close(block)

    def complete(self, content: object) -> None:
        """Process the content blocks of a complete message."""
        for block in dicts(content):
            self.start(None, block)
            self.stop(None)

    def close(self, *, cut_short: str) -> None:
        """Close all blocks.

        Args:
            cut_short: why the model had to stop; "" if it did not. If it had to, its last block is
                not complete, even if its JSON is valid, because parameters may be missing.
        """
        for block in self._calls:
            is_stopped = not block.open
            self._close(block)
            # A call without input sends no fragment, or an empty one (quirk ANT-EMPTY-INPUT).
            if is_stopped and not self._turn.arguments(block.key):
                self._turn.append(block.key, "{}")
        last = self._last
        self._seal(last)
        # A limit may leave an input that is valid JSON (quirk ANT-BUFFERED-MAXTOKENS).
        if cut_short and last is not None and last.is_call:
            self._turn.reject(last.key, f"the model was stopped ({cut_short}) inside this call")

    def _signature(self, index: object, piece: object) -> None:
        """Process a signature. Only a thinking block may have one."""
        block = self._by_index.get(index) if type(index) is int else self._last
        if block is not None and block.is_thinking:
            block.signature.append(as_text(piece))

    def _seal(self, block: _Block | None) -> None:
        """Emit the complete signature of a thinking block."""
        if block is not None:
            self._turn.seal("signature", "".join(block.signature))
            block.signature.clear()

    def _close(self, block: _Block) -> None:
        block.open = False
        self._seal(block)
        if block.input:
            self._turn.append(block.key, block.input)
            block.input = ""

    def _odd_fragment(self, block: _Block | None, index: object, fragment: object) -> None:
        """Process a fragment that is not text, or that belongs to no call of the client."""
        # Tools that the provider executes stream their input too (quirk ANT-SERVER-TOOLS).
        if not fragment or (block is not None and block.passed_over):
            return
        if block is None or not block.is_call:
            # The key is a tuple, because those of blocks are numbers.
            key = (index if type(index) is int else None,)
            self._turn.append(key, _text(fragment))
            return
        block.input = ""
        if isinstance(fragment, dict):
            self._turn.append(block.key, write_exactly(fragment))
        else:
            self._turn.reject(block.key, f"a fragment of its input is not text: {fragment!r:.80}")

    def _input(self, block: _Block, value: object) -> str:
        """Return the `input` in the start of a call as JSON text; "" for an empty placeholder."""
        if not value:
            return ""
        if isinstance(value, dict | str):
            return _text(value)
        self._turn.reject(block.key, f"its input is not an object: {value!r:.80}")
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else write_exactly(value)
