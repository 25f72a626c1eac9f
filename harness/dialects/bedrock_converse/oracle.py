"""Decide the meaning of a body of the dialect `bedrock-converse` by the contract (the oracle).

The framing names each event. In recordings that lost the framing, the name is the only key of an
object around the event. The index distinguishes blocks. `messageStop` contains the reason why the
model stopped, and only `metadata` may follow it.
Source: Amazon Bedrock API reference, "ConverseStream" and "Converse".
"""

from typing import ClassVar, Final

from harness.dialects.kit.oracle.dispatch import Json, TakeEvent
from harness.dialects.kit.oracle.endings import OneEndOracle
from harness.dialects.kit.oracle.events import AWS_MARK, CHECKSUM, Event
from harness.dialects.kit.oracle.reading import Notes, OpenCall, OpenCalls
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    dict_or_empty,
    error_of,
    is_index,
    item_texts,
    meanings,
    member_text,
)
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction

_SERVER_TOOL: Final = "server_tool_use"


class _Call(OpenCall):
    """Collects the id, name and input of one call while the oracle reads the body."""

    stopped = False


class Blocks(OpenCalls[int, _Call]):
    """Collects the content blocks of one message."""

    def __init__(self, notes: Notes) -> None:
        super().__init__(notes)
        self._others: set[int] = set()  # blocks of tools that run at the provider

    def conclude(self) -> None:
        """Note deviations that only all blocks together show."""
        for place, call in enumerate(self._calls.values()):
            if place:
                self._notes.harmless("BED-MULTI-BLOCKS", call.offset)
            if not any(call.fragments):
                self._notes.harmless("BED-EMPTY-INPUT", call.offset)

    def start(self, index: object, start: object, offset: int) -> None:
        """Process a `contentBlockStart`."""
        use = dict_or_empty(start).get("toolUse")
        if use is None:
            return
        early = self._calls.get(index) if isinstance(index, int) else None
        if isinstance(index, int) and early and early.is_unopened and not early.stopped:
            self._notes.harmless("DELTA-NAME-LATE", offset)
            self._open(index, use, offset)
            self._calls[index].fragments = early.fragments
        elif not is_index(index) or index in self._calls or index in self._others:
            self._unclear(offset)
        elif isinstance(use, dict) and use.get("type") == _SERVER_TOOL:
            self._notes.server_tool("BED-SERVER-TOOL", offset)
            self._others.add(index)
        else:
            self._open(index, use, offset)

    def fragment(self, index: object, use: object, offset: int) -> None:
        """Process one fragment of a call's input."""
        if not isinstance(index, int) or not isinstance(use, dict):
            self._unclear(offset)
            return
        if index in self._others:
            return
        call, piece = self._calls.setdefault(index, _Call(offset)), use.get("input")
        if call.stopped or not isinstance(piece, str):
            self._unclear(offset)
        else:
            call.fragments.append(piece)

    def stop(self, index: object) -> None:
        """Process a `contentBlockStop`."""
        if isinstance(index, int) and index in self._calls:
            self._calls[index].stopped = True

    def complete_call(self, use: object, text: str, offset: int) -> None:
        """Process a call of a complete response, with the JSON text of its input."""
        if isinstance(use, dict) and use.get("type") == _SERVER_TOOL:
            self._notes.server_tool("BED-SERVER-TOOL", offset)
            return
        place = len(self._calls)
        self._open(place, use, offset)
        if isinstance(use, dict) and not isinstance(use.get("input"), dict):
            self._unclear(offset)
        elif place in self._calls:
            self._calls[place].fragments.append(text)

    def _open(self, index: int, use: object, offset: int) -> None:
        members = dict_or_empty(use)
        call_id, name = members.get("toolUseId"), members.get("name")
        if not isinstance(call_id, str) or not isinstance(name, str):
            self._unclear(offset)
            return
        if not name:
            self._notes.harmless("NAME-EMPTY", offset)
        if not call_id:
            self._notes.harmless("DELTA-ID-MISSING", offset)
        self._calls[index] = _Call(offset, call_id, name)


_LAST: Final = "metadata"
# What `InvokeModelWithResponseStream` adds to the last event of a model.
_METRICS: Final = "amazon-bedrock-invocationMetrics"


class BedrockConverseOracle(OneEndOracle):
    """Reads one response body of Bedrock's Converse API by its contract."""

    READ: ClassVar = frozenset(
        f"{place}.toolUse"
        for place in (
            "start", "contentBlockStart.start", "delta", "contentBlockDelta.delta",
            "output.message.content",
        )
    )  # fmt: skip
    USAGE: ClassVar = counts_at(
        ("usage",), ("metadata", "usage"), read="inputTokens", written="outputTokens",
        read_parts="cacheReadInputTokens cacheWriteInputTokens",
    )  # fmt: skip
    MEANINGS: ClassVar = meanings(
        stop=("end_turn", "stop_sequence", "tool_use"),
        length=("max_tokens", "model_context_window_exceeded"),
        content_filter=("guardrail_intervened", "content_filtered"),
    )
    OTHER_WORDS: ClassVar[frozenset[str]] = frozenset(
        {"malformed_model_output", "malformed_tool_use"}
    )

    def __init__(self) -> None:
        super().__init__()
        self._is_framed = False
        self.table = self._blocks = Blocks(self.notes)
        self._takes: dict[str, TakeEvent] = {
            "messageStart": self._nothing,
            "contentBlockStart": self._start,
            "contentBlockDelta": self._delta,
            "contentBlockStop": self._stop,
            "messageStop": self._message_stop,
            _LAST: self._nothing,
        }

    def read(self, interaction: Interaction) -> OracleReading:
        """Return the meaning of the body of `interaction`, by the contract of the API."""
        self._is_framed = interaction.body.startswith(AWS_MARK)
        return super().read(interaction)

    def may_follow(self, event: Event) -> bool:
        """Return whether `event` may come after the event that ends the turn."""
        metadata = event.name == _LAST or event.data.startswith(f'{{"{_LAST}"')
        return metadata and self.ended

    def take(self, value: Json, event: Event) -> None:
        """Process one event, or the complete answer."""
        keyed = [name for name in value if name in self._takes or name.endswith("Exception")]
        if event.name == "error":
            self._fail(value, event)
        elif event.name in self._takes:
            self.known += 1
            self._takes[event.name](value, event)
        elif event.name:
            self.notes.ambiguous(
                "BED-UNKNOWN-EVENT", event.offset, text=bool(keyed), calls=bool(keyed)
            )
        elif keyed:
            self._keyed(keyed[0], value, event)
        elif "output" in value:
            self._answer(value, event)
        elif "stopReason" not in value and isinstance(value.get("message"), str):
            self._fail(value, event)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def check_calls(self, calls: int) -> None:
        """Note deviations if the finish word does not match the blocks or the number of calls."""
        self._blocks.conclude()
        if self.word == "tool_use" and not calls and self.notes.calls_known:
            self.notes.harmless("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)
        if self.word == "end_turn" and calls:
            self.notes.harmless("FINISH-STOP-WITH-CALLS", 0)

    def _keyed(self, name: str, value: Json, event: Event) -> None:
        inner = value[name]
        if value.keys() - {name, _METRICS} or not isinstance(inner, dict):
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
            return
        quirk = "BED-NOVA-INVOKE" if self._is_framed else "BED-EVENT-NAMES-AS-KEYS"
        self.notes.harmless(quirk, event.offset)
        if name not in self._takes:
            self._fail({"code": name, **inner}, event)
        else:
            self.known += 1
            self._takes[name](inner, event)

    def _fail(self, value: Json, event: Event) -> None:
        code, message = error_of(value, "error") or ("", "")
        self.notes.harmless(CHECKSUM if code == CHECKSUM else "BED-EXCEPTION", event.offset)
        self.known += 1
        self.fail(code, message)

    # Events

    def _nothing(self, value: Json, event: Event) -> None:
        """Ignore an event without text, calls or end."""

    def _start(self, value: Json, event: Event) -> None:
        self._blocks.start(value.get("contentBlockIndex"), value.get("start"), event.offset)

    def _delta(self, value: Json, event: Event) -> None:
        delta = value.get("delta")
        if not isinstance(delta, dict):
            self.notes.ambiguous("EVENT-GLUED", event.offset, text=True, calls=True)
            return
        self.add_text(self.text, delta.get("text"), event.offset)
        thought = dict_or_empty(delta.get("reasoningContent"))
        self.add_text(self.reasoning, thought.get("text"), event.offset)
        self.notes.other_output |= "image" in delta
        use = delta.get("toolUse")
        if use is not None:
            self._blocks.fragment(value.get("contentBlockIndex"), use, event.offset)

    def _stop(self, value: Json, _: Event) -> None:
        self._blocks.stop(value.get("contentBlockIndex"))

    def _message_stop(self, value: Json, event: Event) -> None:
        word = value.get("stopReason")
        if not isinstance(word, str) or not word:
            self.notes.ambiguous("FINISH-EMPTY-STRING", event.offset, calls=True, end=True)
            return
        self.finish(word, event.offset)
        if word in self.OTHER_WORDS:
            self.notes.harmless("BED-STOP-REASONS", event.offset)
            self.model_failed = True
            self.fail(word, "")

    # A complete answer

    def _answer(self, value: Json, event: Event) -> None:
        message = dict_or_empty(dict_or_empty(value["output"]).get("message"))
        content = message.get("content")
        if not isinstance(content, list):
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
            return
        self.known += 1
        self.notes.harmless("JSON-FOR-STREAM", event.offset)
        texts = item_texts(member_text(event.data, "output", "message", "content"))
        for block, text in zip(content, texts, strict=False):
            self._block(block, text, event.offset)
        self._message_stop(value, event)

    def _block(self, block: object, text: str, offset: int) -> None:
        if not isinstance(block, dict):
            self.notes.ambiguous("EVENT-GLUED", offset, text=True, calls=True)
            return
        self.add_text(self.text, block.get("text"), offset)
        thought = dict_or_empty(block.get("reasoningContent")).get("reasoningText")
        self.add_text(self.reasoning, dict_or_empty(thought).get("text"), offset)
        pieces = dict_or_empty(block.get("citationsContent")).get("content")
        for piece in pieces if isinstance(pieces, list) else ():
            self.add_text(self.text, dict_or_empty(piece).get("text"), offset)
        if "toolUse" in block:
            self._blocks.complete_call(
                block["toolUse"], member_text(text, "toolUse", "input"), offset
            )
