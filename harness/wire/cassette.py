"""A cassette: the interactions of one conversation, and where they come from."""

from typing import Any, Literal

import msgspec

from harness.wire.interaction import Due, Interaction

OriginKind = Literal["recorded", "imported", "emulated"]


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """The origin of a cassette.

    Fields:
        kind: `recorded` from a server by this harness, `imported` from a recording of another tool,
            or `emulated`: written by a dialect's own writer, so it shows a quirk but measures
            no model.
        by: the person or the program that made it.
        at: ISO date; "" if unknown.
        source: the server, the file or the recipe from which it was made.
        licence: SPDX id of an imported recording; "" if it is that of this project, or unknown.
        kept: for imported cassettes, which parts of the original were preserved, as text.
    """

    kind: OriginKind
    by: str = ""
    at: str = ""
    source: str = ""
    licence: str = ""
    kept: str = ""


class Cassette(msgspec.Struct, frozen=True):
    """One file that vcrpy can read.

    Fields:
        id: slash path without suffix, such as `dashscope/qwen-plus/split-chunks`.
        interactions: in the order in which they were sent.
        prompt: id of the prompt, by which rankings group; derived from the request if the
            file does not name one.
    """

    id: str
    interactions: tuple[Interaction, ...]
    origin: Origin
    provider: str = "unknown"
    model: str = "unknown"
    prompt: str = "unknown"

    @property
    def dialect(self) -> str:
        """The one dialect of its interactions; "unknown" if it has none."""
        return self.interactions[0].dialect if self.interactions else "unknown"

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tools that its prompt describes, which are those of all interactions."""
        return self.interactions[0].tools if self.interactions else ()

    @property
    def due(self) -> Due:
        """What its requests need, a call or an answer; "" if it was not specified."""
        return self.interactions[0].due if self.interactions else ""

    def with_each(self, **changes: object) -> "Cassette":
        """Return the cassette with these fields of all its interactions, such as `dialect`."""
        replace = msgspec.structs.replace
        changed = tuple(replace(interaction, **changes) for interaction in self.interactions)
        return replace(self, interactions=changed)
