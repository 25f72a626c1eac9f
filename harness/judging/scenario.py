"""Define a scenario: the expected result of a cassette, and the quirks in the cassette.

An author writes it from the meaning of the bytes, independently of how the cassette was made.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from harness.judging.conversations.script import ConversationScript
from harness.judging.policies import NORMALIZER_POLICIES
from harness.judging.timing.script import TimingScript
from harness.results.expectation import Expectation
from harness.results.scenario_evidence import ScenarioEvidence
from harness.turns.turn import Tool

_DEFAULT_POLICIES: Final = {name: values[0] for name, values in NORMALIZER_POLICIES.items()}

ScenarioBlame = Literal["", "model", "provider", "request", "harness"]
ScenarioKind = Literal["turns", "conversation", "timing"]


class Scenario(msgspec.Struct, frozen=True):
    """A scenario, loaded from one YAML file under `scenarios/`.

    Fields:
        id: the path of the file without suffix, such as `dashscope/split-chunks`.
        cassette: the id of the cassette.
        tools: the tools of the request; None if the request in the cassette declares them.
        capabilities: what a normalizer must declare; otherwise, the cell is `unsupported`.
        expect: the expected turn of each interaction, in order; () for other kinds of scenarios.
        conversation: the script, if agents run the conversation; else None.
        timing: the script, if the scenario is about times and breaks; else None.
        quirks: ids of the quirks that the bytes show.
        rules: ids of the rules that this scenario is for, as information.
        references: URLs.
        blame: the party that causes an expected rejection or failure; "" if there is none.
        text_dialect: the text dialect in which the model wrote calls; "" if there are none. A
            normalizer that does not declare it is `unsupported`.
        policies: the policies on which the expected result depends. A normalizer that declares
            another value for one of them is `unsupported`.
        evidence: what shows that a server sends the stream, except for turns that state their own;
            None if the file does not say.
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
    evidence: ScenarioEvidence | None = None
    timing: TimingScript | None = None

    @property
    def kind(self) -> ScenarioKind:
        """What the scenario judges: turns, a conversation, or times and breaks (`timing`)."""
        if self.timing is not None:
            return "timing"
        return "turns" if self.conversation is None else "conversation"

    def allows(self, declared: Mapping[str, str]) -> bool:
        """Return whether the policies that a client declares fit those of this scenario.

        If a client declares no value for a policy, the default of that policy counts.
        """
        return all(
            declared.get(name, _DEFAULT_POLICIES.get(name, value)) == value
            for name, value in self.policies.items()
        )
