"""Runs -> `docs/data/client-results.json`, which the pages of quirks and rules show.

    harness run scenarios -n reference -n naive ... --cuts quick -o reports/site
    python -m scripts.site.client_results reports/site/run.jsonl reports/peers.jsonl

Only scenarios count. The file is committed, because runs of all libraries take minutes.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from harness.results.result import CASSETTE_PREFIX, Result
from harness.results.run import Header, Run
from harness.results.store import read_run

PATH: Final = Path(__file__).parents[2] / "docs" / "data" / "client-results.json"


class Client(msgspec.Struct, frozen=True):
    """A client that was judged: what it promises, why it is bundled, and its library."""

    kind: str
    role: str
    library: str = ""


class ClientResults(msgspec.Struct, frozen=True):
    """The content of the file.

    Fields:
        clients: by name.
        quirks: quirk -> client -> conforming and judged scenarios with the quirk.
        rules: rule -> client -> scenarios in which the client violates it at the level MUST.
    """

    clients: dict[str, Client]
    quirks: dict[str, dict[str, tuple[int, int]]]
    rules: dict[str, dict[str, int]]


def load_client_results(path: Path = PATH) -> ClientResults:
    """Return the committed results."""
    return msgspec.json.decode(path.read_bytes(), type=ClientResults)


def client_results(runs: Iterable[Run]) -> ClientResults:
    """Count what each client of `runs` did with each quirk and each rule."""
    clients: dict[str, Client] = {}
    judged: defaultdict[str, Counter[str]] = defaultdict(Counter)
    conforming: defaultdict[str, Counter[str]] = defaultdict(Counter)
    violated: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        clients |= _clients(run.header)
        for result in filter(_counts, run.results):
            for quirk in result.quirks:
                judged[quirk][result.normalizer] += 1
                conforming[quirk][result.normalizer] += result.outcome.conforms
            for rule in {it.rule for it in result.findings if it.level == "MUST"}:
                violated[rule][result.normalizer] += 1
    quirks = {
        quirk: {name: (conforming[quirk][name], judged[quirk][name]) for name in sorted(names)}
        for quirk, names in sorted(judged.items())
    }
    rules = {rule: dict(sorted(names.items())) for rule, names in sorted(violated.items())}
    return ClientResults(dict(sorted(clients.items())), quirks, rules)


def _counts(result: Result) -> bool:
    return result.outcome.judged and not result.scenario.startswith(CASSETTE_PREFIX)


def _clients(header: Header) -> dict[str, Client]:
    libraries = {each.name: f"{each.package} {each.version}" for each in header.peers}
    normalizers = {
        each.name: Client(each.kind, each.role, libraries.get(each.name, ""))
        for each in header.normalizers
    }
    agents = {
        each.name: Client("agent", each.role, libraries.get(each.name, ""))
        for each in header.agents
    }
    return normalizers | agents


def main(paths: Iterable[str]) -> None:
    """Write the results of the runs at `paths`."""
    found = client_results(read_run(Path(path)) for path in paths)
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(results_text(found), encoding="utf-8")


def results_text(found: ClientResults) -> str:
    """Return the file: a line for each client, quirk and rule, so that a change is easy to read."""
    parts = []
    for name in found.__struct_fields__:
        rows = getattr(found, name).items()
        lines = ",\n".join(f"{_json(key)}: {_json(value)}" for key, value in rows)
        parts.append(f"{_json(name)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    main(sys.argv[1:])
