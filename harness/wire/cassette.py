"""The data of a cassette: the interactions of one conversation, and their origin."""

from typing import Any, Literal

import msgspec

from harness.wire.interaction import Due, Interaction
from harness.wire.session import Session

OriginKind = Literal["recorded", "imported", "emulated"]


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Describes who or what made a cassette, when, and from which source.

    Fields:
        kind: `recorded` from a server by this harness, `imported` from a recording of another tool,
            or `emulated`: written by a dialect's own writer, so it shows a quirk but measures
            no model.
        by: the person or the program that made the cassette.
        at: the date in ISO format; "" if unknown.
        source: the server, the file or the recipe from which it was made.
        licence: the SPDX id of an imported recording's licence; "" if it is unknown or the licence
            of this project.
        kept: for imported cassettes, which parts of the original were preserved, as text.
    """

    kind: OriginKind
    by: str = ""
    at: str = ""
    source: str = ""
    licence: str = ""
    kept: str = ""


class Cassette(msgspec.Struct, frozen=True):
    """Holds the content of one cassette file, which vcrpy can also read.

    Fields:
        id: the path of the file without suffix, such as `dashscope/qwen-plus/split-chunks`.
        interactions: in the order in which the client sent the requests.
        prompt: the id of the prompt, by which rankings group. The harness derives it from the
            request if the file does not name one.
        session: the WebSocket connection in which the interactions were found; None if each
            interaction is an HTTP request with its response.
    """

    id: str
    interactions: tuple[Interaction, ...]
    origin: Origin
    provider: str = "unknown"
    model: str = "unknown"
    prompt: str = "unknown"
    session: Session | None = None

    @property
    def dialect(self) -> str:
        """The dialect of all interactions of the cassette; "unknown" if it has no interactions."""
        return self.interactions[0].dialect if self.interactions else "unknown"

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tools that the prompt describes in its text, equal in all interactions."""
        return self.interactions[0].tools if self.interactions else ()

    @property
    def due(self) -> Due:
        """The kind of response that the user needs, `call` or `answer`; "" if unspecified."""
        return self.interactions[0].due if self.interactions else ""

    def with_each(self, **changes: object) -> "Cassette":
        """Return a copy with these fields, such as `dialect`, changed in each interaction."""
        replace = msgspec.structs.replace
        changed = tuple(replace(interaction, **changes) for interaction in self.interactions)
        return replace(self, interactions=changed)
