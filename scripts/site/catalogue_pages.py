"""The catalogue as pages: one for each quirk, rule and dialect, and one list of each kind."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from harness import shipped
from harness.dialects.kit.dialect import Dialect
from harness.dialects.table import DIALECTS
from harness.judging.rules import RULES
from harness.judging.scenario import Scenario
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.results.catalogue import GROUP_TITLES, Quirk, load_catalogue, load_excluded
from harness.results.dialect_titles import DIALECT_TITLES
from harness.results.duties import About, Ruling, levels_text, load_duties, rulings_of
from harness.results.kill_table import stored_rows
from harness.results.scenario_evidence import is_own
from harness.text_calls import TEXT_DIALECTS
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette
from scripts.site.client_results import ClientResults, load_client_results
from scripts.site.markdown import code_block, link, prose, table
from scripts.site.struct_fields import struct_rows
from scripts.site.wire import wire_example

# Pages of single entries are reached from their list and by search; the navigation would be long.
_ORPHAN: Final = "---\norphan: true\n---\n"
_SHOWN_SCENARIOS: Final = 12
# Values of `Dialect.done` and `Dialect.arguments` -> text.
_DONE: Final = {"sent": "the API sends it", "added": "some gateways add it", "never": "not sent"}
_ARGUMENTS: Final = {"text": "JSON text", "object": "a JSON object", "none": "the API has no calls"}
_ABOUT: Final[dict[About, str]] = {
    "turns": "Rules for turns",
    "time": "Rules for time and life cycle",
    "conversation": "Rules for conversations",
    "cost": "Rules for cost",
}


class Catalogue:
    """What the pages show, loaded once."""

    def __init__(self) -> None:
        folder = shipped.bundled_folder("catalogue")
        self.quirks: dict[str, Quirk] = load_catalogue(folder / "quirks")
        self.excluded = load_excluded(folder / "excluded.yaml")
        self.results: ClientResults = load_client_results()
        self._cassettes: dict[str, Cassette] = {}

    @cached_property
    def scenarios(self) -> dict[str, Scenario]:
        """The bundled scenarios by id."""
        root = shipped.bundled_folder("scenarios")
        loaded = (load_scenario(path, root) for path in find_scenarios([root]))
        return {scenario.id: scenario for scenario in loaded}

    @cached_property
    def by_quirk(self) -> dict[str, list[Scenario]]:
        """The scenarios of each quirk; those that servers send and show little else come first."""
        found: dict[str, list[Scenario]] = {}
        for scenario in sorted(self.scenarios.values(), key=self._distraction):
            for quirk in scenario.quirks:
                found.setdefault(quirk, []).append(scenario)
        return found

    def _distraction(self, scenario: Scenario) -> tuple[bool, int, int, str]:
        """Return a key that puts short scenarios with few quirks first, and invented ones last."""
        interactions = self.cassette(scenario.cassette).interactions
        size = sum(len(each.body) for each in interactions)
        return is_own(scenario.evidence), len(scenario.quirks), size, scenario.id

    def cassette(self, name: str) -> Cassette:
        """Return the cassette with the id `name`."""
        if name not in self._cassettes:
            root = shipped.bundled_folder("cassettes")
            self._cassettes[name] = load_cassette(root / f"{name}.yaml", root)
        return self._cassettes[name]


def catalogue_pages(found: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page."""
    for quirk in found.quirks.values():
        yield f"quirks/{quirk.id}.md", _ORPHAN + "\n".join(_quirk_lines(found, quirk))
    yield "quirks/index.md", "\n".join(_quirk_index(found))
    for rule in RULES:
        yield f"rules/{rule}.md", _ORPHAN + "\n".join(_rule_lines(found, rule))
    yield "rules/index.md", "\n".join(_rule_index())
    for dialect in DIALECTS.values():
        yield f"dialects/{dialect.name}.md", _ORPHAN + "\n".join(_dialect_lines(found, dialect))
    for name in TEXT_DIALECTS:
        yield f"dialects/text/{name}.md", _ORPHAN + "\n".join(_text_dialect_lines(found, name))
    yield "dialects/index.md", "\n".join(_dialect_index(found))


def _quirk_lines(found: Catalogue, quirk: Quirk) -> Iterator[str]:
    scenarios = found.by_quirk.get(quirk.id, [])
    rules = [name for name, duty in load_duties().items() if quirk.id in duty.quirks]
    yield from (f"# {quirk.id}", "", f"**{prose(quirk.title)}.** {prose(quirk.summary)}", "")
    yield from (f"What a client must do: {prose(quirk.rule)}", "")
    facts = [
        ("Severity", quirk.severity),
        ("Group", f"{quirk.group}: {GROUP_TITLES[quirk.group]}"),
        ("Rules", ", ".join(link(rule, f"../rules/{rule}.md") for rule in rules)),
        ("Also known as", ", ".join(f"`{name}`" for name in quirk.merged)),
    ]
    yield from (*(f"- {name}: {text}" for name, text in facts if text), "")
    if scenarios:
        yield from _example(found, scenarios[0], "On the wire")
        yield from _scenarios(scenarios)
    else:
        yield from ("## On the wire", "", f"No scenario: {prose(found.excluded[quirk.id])}", "")
    yield from _clients(found, found.results.quirks.get(quirk.id, {}))
    if quirk.references:
        yield from ("## Reports", "", *(f"- <{url}>" for url in quirk.references), "")
    yield "[All quirks](index.md)"


def _example(found: Catalogue, scenario: Scenario, title: str) -> Iterator[str]:
    cassette = found.cassette(scenario.cassette)
    about = f"`{scenario.id}`: {prose(scenario.title)}."
    yield from (f"## {title}", "", f"From the scenario {about} Dialect: `{cassette.dialect}`.", "")
    yield from (f"Evidence: {_evidence(scenario)}", "")
    yield from code_block(wire_example(cassette), "{code-block} text\n:class: wire\n")
    yield from code_block(f"harness show {scenario.cassette}", "sh")


def _scenarios(scenarios: Sequence[Scenario]) -> Iterator[str]:
    yield from ("## Scenarios", "")
    shown = scenarios[:_SHOWN_SCENARIOS]
    rows = [(f"`{it.id}`", prose(it.title), _evidence(it)) for it in shown]
    yield from table(("scenario", "title", "evidence"), rows)
    more = len(scenarios) - len(shown)
    if more:
        yield from (f"And {more} more.", "")


def _evidence(scenario: Scenario) -> str:
    stated = scenario.evidence
    if stated is None or not stated.addresses:
        return prose(stated.text) if stated else ""
    return f"{stated.kind}: {' '.join(f'<{url}>' for url in stated.addresses)}"


def _clients(found: Catalogue, counts: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    if not counts:
        return
    yield from ("## Clients that handle it", "")
    yield from ("How many of the judged scenarios with this quirk conform:", "")
    ordered = sorted(counts.items(), key=lambda it: (-it[1][0] / it[1][1], it[0]))
    rows = []
    for name, (conforming, judged) in ordered:
        verdict = "yes" if conforming == judged else "no" if not conforming else "partly"
        kind, library = found.results.clients[name].kind, _library(found, name)
        rows.append((f"`{name}`", library, kind, f"{conforming} / {judged}", verdict))
    yield from table(("client", "library", "kind", "scenarios", "handles it"), rows)


def _quirk_index(found: Catalogue) -> Iterator[str]:
    yield from ("# Quirks, one by one", "")
    yield (
        f"{len(found.quirks)} known deviations of real providers and models, each with a stream "
        "that shows it. `harness quirks` prints the same list."
    )
    for group, title in GROUP_TITLES.items():
        quirks = [quirk for quirk in found.quirks.values() if quirk.group == group]
        yield from ("", f"## {group}: {title}", "")
        rows = [(link(it.id, f"{it.id}.md"), prose(it.title), it.severity) for it in quirks]
        yield from table(("quirk", "title", "severity"), rows)


def _rule_lines(found: Catalogue, name: str) -> Iterator[str]:
    rule, duty = RULES[name], load_duties()[name]
    yield from (f"# {name}", "", f"**{prose(duty.title)}** {prose(duty.duty)}", "")
    yield from (prose(duty.why), "", f"Outcome of a violation: `{rule.outcome.value}`.", "")
    yield from ("## Levels", "")
    yield from table(
        ("kind of client", "stream contained", "level", "reason", "source"),
        [_ruling(found, it) for it in rulings_of(name)],
    )
    kills = [row for row in stored_rows() if row.rule == name]
    killed = [row for row in kills if row.scenario in found.scenarios]
    if killed:
        scenario = found.scenarios[killed[0].scenario]
        yield from _example(found, scenario, "A stream that shows whether a client violates it")
    if kills:
        yield from ("## Mutants", "", "Clients that violate only this rule:", "")
        rows = [(f"`{it.mutant}`", str(it.scenarios), f"`{it.scenario}`") for it in kills]
        yield from table(("mutant", "scenarios that kill it", "first"), rows)
    yield from _violators(found, found.results.rules.get(name, {}))
    if duty.quirks:
        yield from ("## Quirks that made it necessary", "")
        yield from (f"- {link(quirk, f'../quirks/{quirk}.md')}" for quirk in duty.quirks)
        yield ""
    yield "[All rules](index.md)"


def _ruling(found: Catalogue, ruling: Ruling) -> tuple[str, ...]:
    sources = ", ".join(
        link(it, f"../quirks/{it}.md") if it in found.quirks else f"<{it}>" for it in ruling.source
    )
    return ruling.kind, ruling.came or "anything", ruling.level, prose(ruling.because), sources


def _violators(found: Catalogue, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        about = "In how many scenarios each client violates it, at the level MUST:"
        yield from ("## Clients that violate it", "", about, "")
        ordered = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
        rows = [(f"`{name}`", _library(found, name), str(number)) for name, number in ordered]
        yield from table(("client", "library", "scenarios"), rows)


def _library(found: Catalogue, name: str) -> str:
    client = found.results.clients[name]
    return client.library or f"bundled, {client.role}"


def _rule_index() -> Iterator[str]:
    yield from ("# Rules, one by one", "")
    yield f"{len(RULES)} rules for turns, time, conversations and cost."
    yield from ("[Rules and levels](../reference/rules.md) explains levels and kinds.", "")
    for about, title in _ABOUT.items():
        yield from (f"## {title}", "")
        rules = (rule for rule in RULES.values() if rule.duty.about == about)
        rows = [
            (
                link(it.id, f"{it.id}.md"),
                prose(it.duty.title),
                f"`{it.outcome}`",
                levels_text(it.id),
            )
            for it in rules
        ]
        yield from table(("rule", "title", "violation", "levels"), rows)


def _dialect_lines(found: Catalogue, dialect: Dialect) -> Iterator[str]:
    scenarios = [it for it in found.scenarios.values() if _is_in(found, it, dialect.name)]
    yield from (f"# {dialect.name}", "", f"{prose(DIALECT_TITLES[dialect.name])}.", "")
    ids = "" if dialect.arguments == "none" else "yes" if dialect.has_call_ids else "no"
    facts = [
        ("API reference", f"<{dialect.reference}>"),
        ("Content type", f"`{dialect.content_type}`"),
        ("`[DONE]` at the end", _DONE[dialect.done]),
        ("Arguments of calls", _ARGUMENTS[dialect.arguments]),
        ("Calls have ids", ids),
        ("Bundled scenarios", str(len(scenarios))),
    ]
    yield from (*(f"- {name}: {text}" for name, text in facts if text), "")
    yield from _example(found, min(scenarios, key=_plainness), "On the wire")
    yield from ("## Writer options", "")
    yield "Settings with which the writer writes [emulated cassettes](../reference/emulate.md)."
    yield from ("The default of each option is what the API documents.", "")
    yield from table(("option", "default", "meaning"), struct_rows(dialect.writer_options))
    yield from _quirks_shown(found, scenarios, "../quirks")
    yield "[All dialects](index.md)"


def _text_dialect_lines(found: Catalogue, name: str) -> Iterator[str]:
    scenarios = [it for it in found.scenarios.values() if it.text_dialect == name]
    yield from (f"# {name}", "", f"{prose(TEXT_DIALECTS[name].title)}.", "")
    yield "Calls that a model wrote in its text: [text dialects](../../reference/text-dialects.md)"
    yield from ("explains how they are read.", "")
    if scenarios:
        yield from _example(found, min(scenarios, key=_plainness), "On the wire")
        yield from _scenarios(sorted(scenarios, key=_plainness))
        yield from _quirks_shown(found, scenarios, "../../quirks")
    yield "[All dialects](../index.md)"


def _quirks_shown(found: Catalogue, scenarios: Sequence[Scenario], folder: str) -> Iterator[str]:
    quirks = sorted({quirk for it in scenarios for quirk in it.quirks} & found.quirks.keys())
    if quirks:
        yield from ("## Quirks", "", "Deviations that these scenarios show:", "")
        rows = [(link(it, f"{folder}/{it}.md"), prose(found.quirks[it].title)) for it in quirks]
        yield from table(("quirk", "title"), rows)


def _plainness(scenario: Scenario) -> tuple[bool, bool, int, str]:
    """Return a key that puts a single response with calls and few quirks first."""
    called = any(each.calls for each in scenario.expect)
    return len(scenario.expect) != 1, not called, len(scenario.quirks), scenario.id


def _is_in(found: Catalogue, scenario: Scenario, dialect: str) -> bool:
    return any(it.dialect == dialect for it in found.cassette(scenario.cassette).interactions)


def _dialect_index(found: Catalogue) -> Iterator[str]:
    yield from ("# Dialects, one by one", "")
    yield from ("[Dialects](../reference/dialects.md) explains what they have in common.", "")
    counts = {
        name: sum(_is_in(found, it, name) for it in found.scenarios.values()) for name in DIALECTS
    }
    rows = [
        (link(it.name, f"{it.name}.md"), prose(DIALECT_TITLES[it.name]), str(counts[it.name]))
        for it in DIALECTS.values()
    ]
    yield from table(("dialect", "API", "scenarios"), rows)
    yield from ("## Text dialects", "")
    texts = Counter(scenario.text_dialect for scenario in found.scenarios.values())
    rows = [
        (link(name, f"text/{name}.md"), prose(it.title), str(texts[name]))
        for name, it in TEXT_DIALECTS.items()
    ]
    yield from table(("text dialect", "title", "scenarios"), rows)
