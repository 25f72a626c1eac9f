"""Load the duties of servers: for each quirk, a level and what to send instead.

The levels are about the contract of an API. `harness.results.duties` has the duties of clients,
which must handle most of these quirks.
"""

import re
from functools import cache
from importlib import resources
from typing import Final

import msgspec

from harness.files.typed import File, Text, convert
from harness.results.catalogue import Severity
from harness.results.finding import Level
from harness.wire.interaction import Interaction

_FILE: Final = "server_duties.toml"


class ServerDuty(File, frozen=True):
    """What a server must send instead of a quirk, and how strictly.

    Fields:
        level: MUST if the reference of the API requires it or the meaning is lost, SHOULD if
            clients fail on the quirk, MAY if the reference documents it.
        send: what the server must send, in one or two sentences to its developer.
        ambiguous: the level if it is unclear what the calls are or how the turn ended.
        dialects: dialect -> the level in its API, if that differs from `level`.
        unless: dialect -> a regular expression of the request (address and body) or of the response
            that asks for the quirk, or for which the API documents it.
        title: what the server does, if the id is not a quirk of the catalogue.
        severity: what happens in a client then.
        sources: public reports about clients that fail, if the id is not a quirk.
    """

    level: Level
    send: Text
    ambiguous: Level = "MUST"
    dialects: dict[Text, Level] = {}  # noqa: RUF012 - a default of msgspec, which copies it
    unless: dict[str, str] = {}  # noqa: RUF012 - as above
    title: str = ""
    severity: Severity = "lost call"
    sources: tuple[Text, ...] = ()

    def level_in(self, dialect: str, *, ambiguous: bool) -> Level:
        """Return the level of one deviation.

        Args:
            dialect: the dialect of the stream.
            ambiguous: whether it is unclear what the calls are or how the turn ended.
        """
        return self.ambiguous if ambiguous else self.dialects.get(dialect, self.level)

    def is_explained(self, interaction: Interaction) -> bool:
        """Return whether the request asks for the quirk, or the API documents it for the stream."""
        pattern = self.unless.get(interaction.dialect, "")
        request = interaction.request
        texts = (request.uri.encode("utf-8", "replace"), request.body, interaction.body)
        return bool(pattern) and any(re.search(pattern.encode(), text) for text in texts)


@cache
def load_server_duties() -> dict[str, ServerDuty]:
    """Return the server's duty for each quirk that the oracle can report, by the quirk's id.

    Raises:
        UnreadableError: `server_duties.toml` has an unknown or missing key, or a wrong value.
    """
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return convert(msgspec.toml.decode(text), dict[str, ServerDuty], _FILE)
