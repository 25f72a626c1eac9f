"""Turn the content blocks of a message into text, reasoning and calls, by Anthropic's contract.

Each block has an `index`. Its deltas come between its start and its stop and are of its kind.
A call's input is the sum of its fragments, or the object of its start if none came. If a delta does
not identify its block, the meaning is ambiguous, and the oracle does not guess.
Source: Anthropic API reference, "Streaming Messages".
"""

from collections.abc import Iterator

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.reading import GrowingText, Notes, OpenCall
from harness.dialects.kit.oracle.values import same_object, text_or_empty
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import CallReading, SealedReading

# Kind of delta -> the kind of block that it belongs to.
_HOMES = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
    "compaction_delta": "compaction",
}
_PROSE = {
    "text": "text",
    "thinking": "thinking",
    "text_delta": "text",
    "thinking_delta": "thinking",
}
# Kind of block -> the name of what only the provider can read, and its member.
_SEALED = {
    "thinking": ("signature", "signature"),
    "redacted_thinking": ("redacted_thinking", "data"),
}
_SILENT = frozenset(("redacted_thinking", "compaction", "container_upload", "fallback"))
# Blocks of tools that the provider runs itself.
_SERVER_USES = frozenset(("server_tool_use", "mcp_tool_use"))
_RESULT = "_tool_result"


class Block(OpenCall):
    """One content block so far. For a call, it also stores the input in the block's start."""

    def __init__(self, kind: str, offset: int) -> None:
        super().__init__(offset)
        self.kind = kind
        self.is_open = True
        self.start_input = ""
        self.may_be_empty = False  # its start has an empty object
        self.sealed = ""

    @property
    def arguments(self) -> str:
        """The input of a call as JSON text; "" if none came."""
        return join_surrogates("".join(self.fragments)) or self.start_input


class BlockTable:
    """Collects the content blocks of one message."""

    def __init__(self, notes: Notes, text: GrowingText, reasoning: GrowingText) -> None:
        self._notes = notes
        self._by_index: dict[int, Block] = {}
        self._strays: dict[int | None, Block] = {}
        self._text = text
        self._reasoning = reasoning
        self.blocks: list[Block] = []

    def uses(self) -> list[Block]:
        """Return the blocks that are calls of the client's tools, in order."""
        return [block for block in self.blocks if block.kind == "tool_use"]

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        return tuple(block.reading(from_object=not any(block.fragments)) for block in self.uses())

    def sealed(self) -> Iterator[SealedReading]:
        """Yield the signatures of thinking and the redacted thinking, in order."""
        calls = 0
        for block in self.blocks:
            calls += block.kind == "tool_use"
            if block.sealed and block.kind in _SEALED:
                kind = _SEALED[block.kind][0]
                yield SealedReading(kind, join_surrogates(block.sealed), "reasoning", calls)

    def start(self, index: object, content: object, input_text: str, offset: int) -> None:
        """Process the start of a block; `input_text` is the JSON text of the member `input`."""
        if not isinstance(content, dict) or not isinstance(content.get("type"), str):
            self._notes.unreadable("ANT-UNKNOWN-EVENT", offset)
            return
        block = Block(content["type"], offset)
        self._place(index, block, offset)
        self.blocks.append(block)
        early = self._strays.pop(index, None) if type(index) is int else None
        if early is not None and block.kind == "tool_use":
            block.fragments = early.fragments
            self.blocks.remove(early)
        if block.kind in _SEALED:
            block.sealed = text_or_empty(content.get(_SEALED[block.kind][1]))
        if block.kind == "tool_use":
            self._call(block, content, input_text, offset)
        elif block.kind in _PROSE:
            self._add_piece(block.kind, content.get(_PROSE[block.kind]), offset)
        elif block.kind in _SERVER_USES or block.kind.endswith(_RESULT):
            self._notes.server_tool("ANT-SERVER-TOOLS", offset)
        elif block.kind not in _SILENT:
            self._notes.harmless("ANT-UNKNOWN-EVENT", offset)

    def _place(self, index: object, block: Block, offset: int) -> None:
        if type(index) is not int:
            self._notes.ambiguous("ANT-BLOCK-INDEX", offset, text=True, calls=True)
            return
        before = self._by_index.get(index)
        if before is not None:
            doubtful = before.is_open and "tool_use" in (before.kind, block.kind)
            self._notes.ambiguous("ANT-BLOCK-INDEX", offset, calls=doubtful)
        self._by_index[index] = block

    def _call(self, block: Block, content: Json, input_text: str, offset: int) -> None:
        block.id = self._text_of(content.get("id"), offset)
        block.name = self._text_of(content.get("name"), offset)
        value = content.get("input")
        if isinstance(value, dict):
            block.start_input = input_text if value else ""
            block.may_be_empty = not value
        elif value:
            self._notes.ambiguous("ARGS-OBJECT", offset, calls=True)
        else:
            self._notes.harmless("ANT-START-INPUT-PLUS-DELTA", offset)

    def delta(self, index: object, delta: object, offset: int) -> None:
        """Process one delta."""
        kind = delta.get("type") if isinstance(delta, dict) else None
        if not isinstance(delta, dict) or not isinstance(kind, str):
            self._notes.unreadable("ANT-UNKNOWN-EVENT", offset)
            return
        block = self._by_index.get(index) if type(index) is int else None
        self._check_home(kind, block, offset)
        if kind == "input_json_delta":
            if block is None or block.kind in _PROSE:
                block = self._stray(index, offset)
            self._fragment(block, delta.get("partial_json"), offset)
        elif kind in _PROSE:
            self._add_piece(kind, delta.get(_PROSE[kind]), offset)
        elif kind == "signature_delta" and block is not None and block.kind == "thinking":
            block.sealed += text_or_empty(delta.get("signature"))

    def _check_home(self, kind: str, block: Block | None, offset: int) -> None:
        home = _HOMES.get(kind)
        if home is None:
            self._notes.harmless("ANT-UNKNOWN-EVENT", offset)
        elif block is not None and block.kind == home:
            if not block.is_open:
                self._notes.harmless("ANT-BLOCK-STOP-EARLY", offset)
        elif kind == "signature_delta":
            self._notes.harmless("ANT-SIGNATURE-MISPLACED", offset)
        elif kind in _PROSE:
            # Text is text in any block, but in a block of another kind its meaning is open.
            self._notes.ambiguous("ANT-DELTA-WITHOUT-BLOCK", offset, text=block is not None)
        elif kind == "input_json_delta" and (block is None or block.kind in _PROSE):
            self._notes.harmless("ANT-DELTA-WITHOUT-BLOCK", offset)

    def _stray(self, index: object, offset: int) -> Block:
        """Return the call without id and name of fragments for which no call was opened."""
        key = index if type(index) is int else None
        if key not in self._strays:
            self._strays[key] = Block("tool_use", offset)
            self.blocks.append(self._strays[key])
        return self._strays[key]

    def _fragment(self, block: Block | None, fragment: object, offset: int) -> None:
        if block is None or block.kind != "tool_use":
            return
        if not isinstance(fragment, str | None):
            self._notes.ambiguous("ARGS-OBJECT", offset, calls=True)
        elif fragment:
            if block.start_input:
                self._notes.harmless("ANT-START-INPUT-PLUS-DELTA", offset)
            if not block.is_open and block.start_input:
                self._notes.ambiguous("ANT-BLOCK-STOP-EARLY", offset, calls=True)
            if fragment.strip() and "".join(block.fragments).strip() == "{}":
                # An empty object before the input: a placeholder as in the start, or not JSON.
                answers = ("replace", "append")
                if (
                    self._notes.policy_choice("ARGS-EMPTYOBJ-THEN-REAL", offset, *answers)
                    == "replace"
                ):
                    block.fragments.clear()
            block.fragments.append(fragment)

    def stop(self, index: object, offset: int) -> None:
        """Process the stop of a block."""
        block = self._by_index.get(index) if type(index) is int else None
        if block is None:
            self._notes.harmless("ANT-DELTA-WITHOUT-BLOCK", offset)
        else:
            block.is_open = False

    def conclude(self, *, ended: bool, in_last: bool) -> None:
        """Note deviations of the complete message.

        Args:
            ended: the message ended without an error.
            in_last: the model may have been stopped inside the last block.
        """
        for block in self.uses():
            fragments = "".join(block.fragments)
            if not fragments and block.start_input and block.is_open:
                self._notes.ambiguous("ANT-BLOCK-STOP-EARLY", block.offset, calls=True)
            elif not fragments and not block.start_input:
                self._notes.harmless("ANT-EMPTY-INPUT", block.offset)
                is_over = ended and not block.is_open and not (in_last and block is self.blocks[-1])
                if is_over and block.may_be_empty:
                    block.start_input = "{}"
            elif fragments and block.start_input and not same_object(fragments, block.start_input):
                # The contract has no start with another input: the fragments count, or no call.
                answers = ("fragments", "reject")
                answer = self._notes.policy_choice(
                    "ANT-START-INPUT-PLUS-DELTA", block.offset, *answers
                )
                if answer == "reject":
                    block.rejected = "the input of its start differs from its fragments"

    def _add_piece(self, kind: str, piece: object, offset: int) -> None:
        text = self._text if _PROSE[kind] == "text" else self._reasoning
        if isinstance(piece, str):
            text.add(piece)
        elif piece is not None:
            self._notes.ambiguous("ANT-UNKNOWN-EVENT", offset, text=True)

    def _text_of(self, value: object, offset: int) -> str:
        if isinstance(value, str):
            return join_surrogates(value)
        if value is not None:
            self._notes.ambiguous("ANT-UNKNOWN-EVENT", offset, calls=True)
        return ""
