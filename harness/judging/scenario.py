"""A scenario: the expected result of a cassette, and the quirks that the cassette shows.

An author writes it from the meaning of the bytes, independently of how the cassette was made.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from harness.judging.conversations.script import ConversationScript
from harness.judging.policies import NORMALIZER_POLICIES
from harness.results.expectation import Expectation
from harness.turns.turn import Tool

_DEFAULT_POLICIES: Final = {name: values[0] for name, values in NORMALIZER_POLICIES.items()}

ScenarioBlame = Literal["", "model", "provider", "harness"]


class Scenario(msgspec.Struct, frozen=True):
    """One YAML file under `scenarios/`.

    Fields:
        id: slash path without suffix, such as `dashscope/split-chunks`.
        cassette: id of its cassette.
        tools: those of the request; None if the request in the cassette declares them.
        capabilities: what a normalizer must declare, else the cell is `unsupported`.
        expect: one for each interaction of the cassette, in their order; () for a conversation.
        conversation: the script, if agents run the conversation; else None.
        quirks: ids of the catalogue that the bytes show.
        rules: ids of the rules that this scenario is for, as information.
        references: urls.
        blame: which party causes an expected rejection or failure; "" if there is none.
        text_dialect: the text dialect in which the model wrote calls; a normalizer that does not
            declare it is `unsupported`. "" if there are no text calls.
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
        """Return whether no policy of a client contradicts a policy of this scenario.

        If a normalizer declares no value for a policy, the default of that policy counts.
        """
        return all(
            declared.get(name, _DEFAULT_POLICIES.get(name, value)) == value
            for name, value in self.policies.items()
        )
