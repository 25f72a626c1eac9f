"""How many deletions of one member `harness lint` finds in recorded streams of official servers.

    python -m benchmarks.contract [--seed S] [--random N] [--json]

17 deletions are of members that typed clients need. N more are drawn at random from the members
that the tables of the wire contract require, each deleted in one place of one stream. A deletion is
found if lint reports a deviation that it does not report of the unmodified stream. The streams are
in the folder HARNESS_CORPUS, or ../shared/corpus next to the repository.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from typing import Final

import msgspec

from harness import shipped
from harness.checks.lint import LintFinding, lint_cassettes
from harness.judging.contract.table import load_tables
from harness.results.catalogue import load_catalogue
from harness.results.finding import LEVELS, Level
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction
from scripts.contract_tables import CORPUS, official_streams
from tests.checks.deletions import as_lines, count_objects, without_member

SEED: Final = 20261128
_TEXT_PART: Final = "response.content_part.added.part:output_text"
# Dialect, kind, members, whether it is deleted in the last object only, and the least level.
NAMED: Final[tuple[tuple[str, str, str, bool, Level], ...]] = (
    ("openai-chat", "chunk", "object", False, "MUST"),
    ("openai-chat", "chunk.choices[]", "delta", True, "MUST"),
    ("openai-chat", "chunk", "id created model", False, "MUST"),
    ("openai-chat", "chunk.choices[]", "index", False, "MUST"),
    ("openai-chat", "chunk.choices[]", "finish_reason", False, "MUST"),
    ("openai-chat", "chunk.usage", "completion_tokens", False, "MUST"),
    ("openai-responses", "response.output_text.delta", "item_id", False, "MUST"),
    ("openai-responses", "response.output_text.delta", "sequence_number", False, "MUST"),
    ("openai-responses", "response.output_item.added.item:message", "status", False, "MUST"),
    ("openai-responses", "response.completed.response", "output", False, "MUST"),
    ("openai-responses", "response.created.response", "created_at", False, "MUST"),
    ("openai-responses", _TEXT_PART, "annotations", False, "MUST"),
    ("anthropic", "content_block_delta", "index", False, "MUST"),
    ("anthropic", "message_start.message", "usage", False, "MUST"),
    ("anthropic", "message_delta", "usage", False, "MUST"),
    ("anthropic", "message_start.message", "content", False, "MUST"),
    ("anthropic", "content_block_start.content_block:thinking", "signature", False, "SHOULD"),
)  # fmt: skip
RANDOM_DIALECTS: Final = (
    "openai-chat", "openai-responses", "anthropic", "gemini",
    "bedrock-converse", "ollama", "mistral", "cohere",
)  # fmt: skip


class Deletion(msgspec.Struct, frozen=True):
    """One deletion, and the level at which lint reports it; "" if it does not."""

    dialect: str
    member: str
    due: str
    found: str
    duties: tuple[str, ...]

    @property
    def is_found(self) -> bool:
        """Whether the level is at least the one that the deletion has."""
        return bool(self.found) and LEVELS.index(self.found) <= LEVELS.index(self.due)


class Linter:
    """Lints single streams."""

    def __init__(self) -> None:
        self._catalogue = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")

    def findings(self, interaction: Interaction) -> dict[str, LintFinding]:
        """Return the deviations of one stream by duty."""
        cassette = Cassette("stream", (interaction,), Origin("recorded"))
        report = lint_cassettes([("stream", cassette)], self._catalogue)
        return {each.quirk: each for each in reversed(report.findings)}

    def deletion(
        self, interaction: Interaction, kind: str, name: str, due: str, *, numbers: range
    ) -> Deletion:
        """Return what lint finds if the members of some objects are deleted."""
        table = load_tables()[interaction.dialect]
        before = self.findings(interaction)
        edited = without_member(interaction, table, kind, name, numbers)
        after = self.findings(edited)
        new = [each for duty, each in after.items() if duty not in before]
        found = min((each.level for each in new), key=LEVELS.index, default="")
        duties = tuple(each.quirk for each in new)
        return Deletion(table.dialect, f"{kind}.{name}", due, found, duties)


def named_deletions(linter: Linter) -> Iterator[Deletion]:
    """Yield the deletions of `NAMED`, each in the first stream that has the member."""
    for dialect, kind, name, is_last, due in NAMED:
        table = load_tables()[dialect]
        for each in official_streams(table):
            interaction = as_lines(each, table)
            if count := count_objects(interaction, table, kind, name):
                numbers = range(count - 1, count) if is_last else range(count)
                yield linter.deletion(interaction, kind, name, due, numbers=numbers)
                break


def random_deletions(linter: Linter, seed: int, wanted: int) -> Iterator[Deletion]:
    """Yield deletions of one member in one place, drawn over `RANDOM_DIALECTS` in turn."""
    draw = random.Random(seed)  # noqa: S311 - a repeatable draw, not a secret
    for number in range(wanted):
        table = load_tables()[RANDOM_DIALECTS[number % len(RANDOM_DIALECTS)]]
        duties = [
            (kind, name, level)
            for kind, row in table.duties.items()
            for name, level in row.items()
            if table.members[kind][name].seen[0] == table.members[kind][name].seen[1]
        ]
        streams = [as_lines(each, table) for each in official_streams(table)]
        while True:
            kind, name, level = draw.choice(duties)
            interaction = draw.choice(streams)
            if count := count_objects(interaction, table, kind, name):
                at = draw.randrange(count)
                yield linter.deletion(interaction, kind, name, level, numbers=range(at, at + 1))
                break


def _line(each: Deletion) -> str:
    mark = "found " if each.is_found else "MISSED"
    return f"{mark} {each.due:<6} {each.found or '-':<6} {each.dialect:<16} {each.member}"


def main(arguments: list[str] | None = None) -> int:
    """Print the deletions, and which of them lint finds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--random", type=int, default=60, dest="wanted")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if not CORPUS.is_dir():
        sys.stderr.write("no recordings: nothing was deleted\n")
        return 0
    linter = Linter()
    parts = {
        "named": list(named_deletions(linter)),
        "random": list(random_deletions(linter, options.seed, options.wanted)),
    }
    if options.json:
        sys.stdout.write(msgspec.json.encode(parts).decode() + "\n")
        return 0
    for title, deletions in parts.items():
        sys.stdout.write("".join(f"{_line(each)}\n" for each in deletions))
        found = sum(each.is_found for each in deletions)
        sys.stdout.write(f"{title}: {found} of {len(deletions)} found\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
