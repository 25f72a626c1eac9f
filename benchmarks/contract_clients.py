"""Which clients fail without a member that the wire contract requires, by running them.

    python -m benchmarks.contract_clients DIALECT PEER... [--folder DIR]

A stream with text and one with a call, both recorded from the official server, are written as
cassettes, each once as it is and once without each required member. Each peer judges them in its
environment (HARNESS_PEERS). The command prints the entries `[[failures]]` of the table: the members
without which a peer fails although it passes with the unchanged stream.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from harness.dialects.table import oracle_reading
from harness.judging.contract.table import ContractTable, load_tables
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Interaction
from scripts.contract_tables import official_streams
from tests.checks.deletions import as_lines, count_objects, without_member

_HARNESS: Final = Path(sys.executable).with_name("harness")
# A rule that an unjudged part of a turn cannot break; the deletion itself is what lint reports.
_RULES: Final = {
    "NO-CRASH": "raises {actual}",
    "NO-HANG": "does not end",
    "CALL-LOST": "loses the call",
}


def samples(table: ContractTable) -> Iterator[tuple[str, Interaction]]:
    """Yield a stream with text and one with calls, both of the official server."""
    streams = [as_lines(each, table) for each in official_streams(table)]
    for name, has_calls in (("text", False), ("call", True)):
        for each in streams:
            reading = oracle_reading(each)
            fits = bool(reading.calls) == has_calls and bool(reading.text) != has_calls
            if fits and not reading.unknown and each.request.body:
                yield name, each
                break


def write_cassettes(table: ContractTable, folder: Path) -> dict[str, str]:
    """Write the cassettes below `folder`; return name -> the member that it lacks."""
    members: dict[str, str] = {}
    for name, interaction in samples(table):
        _write(folder, f"{name}-unchanged", interaction)
        members[f"{name}-unchanged"] = ""
        duties = ((kind, member) for kind, row in table.duties.items() for member in row)
        for number, (kind, member) in enumerate(duties):
            if count := count_objects(interaction, table, kind, member):
                edited = without_member(interaction, table, kind, member, range(count))
                _write(folder, f"{name}-{number}", edited)
                members[f"{name}-{number}"] = f"{kind}.{member}"
    return members


def _write(folder: Path, name: str, interaction: Interaction) -> None:
    plain = msgspec.structs.replace(interaction, reads=())
    cassette = Cassette(name, (plain,), Origin("recorded"), "openai", "model")
    save_cassette(cassette, folder / f"{name}.yaml")


def failures(peer: str, folder: Path) -> dict[str, set[str]]:
    """Return name of the cassette -> what the peer did wrong."""
    output = folder.parent / f"{folder.name}-{peer}"
    subprocess.run(  # noqa: S603 - the command of this checkout
        [
            _HARNESS, "peers", "exec", peer, "run", folder, "-n", peer, "--cuts", "whole",
            "--no-report", "-o", output, "-j", "1",
        ],
        check=False, capture_output=True, env=os.environ,
    )  # fmt: skip
    rows = map(json.loads, (output / "run.jsonl").read_text(encoding="utf-8").splitlines())
    return {
        row["cassette"]: {_effect(each) for each in row["findings"]}
        for row in rows
        if row["type"] == "result"
    }


def _effect(finding: dict[str, str]) -> str:
    actual = " ".join(finding["actual"].split())[:80]
    return _RULES.get(finding["rule"], "breaks {rule}").format(rule=finding["rule"], actual=actual)


def main(arguments: list[str] | None = None) -> int:
    """Run the peers, and print what they fail without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialect")
    parser.add_argument("peers", nargs="+", metavar="PEER=VERSION")
    parser.add_argument("--folder", type=Path, default=Path("build/contract"))
    options = parser.parse_args(arguments)
    folder = options.folder.resolve() / options.dialect
    folder.mkdir(parents=True, exist_ok=True)
    members = write_cassettes(load_tables()[options.dialect], folder)
    for given in options.peers:
        peer, _, version = given.partition("=")
        found = failures(peer, folder)
        sys.stderr.write(f"{peer}: {len(found)} of {len(members)} judged\n")
        effects: dict[str, set[str]] = {}
        for name, broken in found.items():
            for effect in broken - found.get(f"{name.partition('-')[0]}-unchanged", broken):
                effects.setdefault(effect, set()).add(members[name])
        for effect, failed in sorted(effects.items()):
            listed = "".join(f"    {json.dumps(each)},\n" for each in sorted(failed))
            sys.stdout.write(
                f'[[failures]]\nclient = "{peer}"\nversion = "{version}"\n'
                f"effect = {json.dumps(effect)}\nmembers = [\n{listed}]\n\n"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
