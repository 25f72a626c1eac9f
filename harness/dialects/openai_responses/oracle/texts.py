"""Turn the texts of output items into the text, reasoning and refusal of the turn.

Deltas are appended. `done` events, complete items and the terminal event repeat them, and must be
equal. If the stream continues an earlier one, the first item may have begun there, and its complete
text is longer than its deltas.
"""

from typing import Final

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.reading import GrowingText, Notes
from harness.dialects.kit.oracle.values import text_or_empty
from harness.dialects.openai_responses.oracle.item import Item, texts_of

RESUMED: Final = "the stream resumes in the middle"


class ItemTexts:
    """Collects the texts of all items of one response.

    Fields:
        refusal: the parts of the refusal, in the order of the events.
        kinds: the kinds of text that came.
    """

    def __init__(self, notes: Notes, text: GrowingText, reasoning: GrowingText) -> None:
        self._notes = notes
        self._text = text
        self._reasoning = reasoning
        self.refusal: list[str] = []
        self.kinds: set[str] = set()

    def add(self, item: Item, kind: str, piece: str) -> None:
        """Append a piece to a text of `item`."""
        item.texts.setdefault(kind, []).append(piece)
        self.kinds.add(kind)
        if item.resumed and self._notes.choice(RESUMED, "deltas", "items") == "items":
            return  # until the complete text comes
        if kind == "text":
            self._text.add(piece)
        elif kind == "refusal":
            self.refusal.append(piece)
            self._notes.harmless("REFUSAL-DELTA", item.offset)
        else:
            self._reasoning.add(piece)

    def part_over(self, item: Item, kind: str, text: str, offset: int) -> None:
        """Process a complete part. Its text counts if the item had no deltas."""
        so_far = "".join(item.texts.get(kind, ()))
        if item.resumed and text.endswith(so_far):
            self._complete(item, kind, text)
        elif text and not so_far:
            self._notes.harmless("RESP-NO-TEXT-DELTAS", offset)
            self.add(item, kind, text)
        elif not so_far.endswith(text):
            self._notes.ambiguous("RESP-DONE-DIFFERS", offset, text=True)

    def compare(self, item: Item, value: Json, offset: int, *, streamed: bool) -> None:
        """Process the texts of a complete item; `streamed` says that deltas came before it."""
        if item.kind not in ("message", "reasoning"):
            return
        encrypted = text_or_empty(value.get("encrypted_content"))
        if item.kind == "reasoning" and encrypted:
            item.encrypted.append(encrypted)
        for kind, text in texts_of(value).items():
            so_far = "".join(item.texts.get(kind, ()))
            if item.resumed and text.endswith(so_far):
                self._complete(item, kind, text)
            elif not so_far:
                if streamed:
                    self._notes.harmless("RESP-NO-TEXT-DELTAS", offset)
                self.add(item, kind, text)
            elif text != so_far:
                self._notes.ambiguous("RESP-DONE-DIFFERS", offset, text=True)

    def _complete(self, item: Item, kind: str, text: str) -> None:
        """Process the complete text of an item whose beginning is in an earlier stream.

        A client adds the deltas of this stream to the text that it has, or it takes the complete
        text.
        """
        if self._notes.choice(RESUMED, "deltas", "items") == "items":
            item.texts.pop(kind, None)
            item.resumed = False
            self.add(item, kind, text)
        else:
            item.texts[kind] = [text]
