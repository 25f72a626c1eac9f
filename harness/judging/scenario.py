"""A scenario: what must come out of a cassette, and why anybody should care.

It is written by hand from the bytes' meaning, independently of how the cassette was made.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from harness.judging.conversations.script import ConversationScript
from harness.judging.expectation import Expectation
from harness.turns.turn import Tool

ScenarioBlame = Literal["", "model", "provider", "harness"]


class Scenario(msgspec.Struct, frozen=True):
    """One YAML file under `scenarios/`.

    Fields:
        id: slash path without suffix, such as `dashscope/split-chunks`.
        cassette: id of the cassette that it judges.
        tools: those of the request; None where the request in the cassette declares them.
        capabilities: what a normalizer must declare, else the cell is `unsupported`.
        expect: one for each interaction of the cassette, in their order; () for a conversation.
        conversation: where the whole of it is judged, through agents; else None.
        quirks: ids of the catalogue that the bytes show.
        rules: ids of the rules that this scenario is there for; a guide for readers.
        references: urls.
        blame: whose fault an expected rejection or failure is; "" where there is none.
        text_dialect: the text dialect in which the model spelled calls; a normalizer that
            does not declare it is `unsupported`. "" where no call stands in text.
        policies: the policies that the expectation rests on; a normalizer that declares
            another value for one of them is `unsupported`.
    """

    id: str
    title: str
    cassette: str
    expect: tuple[Expectation, ...] = ()
    conversation: ConversationScript | None = None
    tools: tuple[Tool, ...] | None = None
    capabilities: tuple[str, ...] = ()
    quirks: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    blame: ScenarioBlame = ""
    text_dialect: str = ""
    policies: dict[str, str] = msgspec.field(default_factory=dict)

    def allows(self, declared: Mapping[str, str]) -> bool:
        """Return whether no declared policy contradicts one that the scenario rests on."""
        return all(declared.get(name, value) == value for name, value in self.policies.items())
