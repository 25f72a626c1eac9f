"""The tables of docs/reference/rules.md: `python -m scripts.rules_reference` writes them."""

from collections.abc import Iterator
from pathlib import Path

from harness.judging.rules import RULES
from harness.results.duties import KINDS, About, load_duties

_PATH = Path(__file__).parents[1] / "docs" / "reference" / "rules.md"
_FIRST = "## Rules for turns"
_TITLES: dict[About, str] = {
    "turns": _FIRST,
    "conversation": "## Rules for conversations",
    "cost": "## Rules for cost",
    "time": "## Rules for time and life cycle",
}


def with_rules(text: str) -> str:
    """Return the page with a table of the current rules for each kind of test, else unchanged."""
    tables = ("\n".join(_table(about)) for about in _TITLES)
    return text.partition(_FIRST)[0] + "\n\n".join(tables) + "\n"


def _table(about: About) -> Iterator[str]:
    yield f"{_TITLES[about]}\n"
    yield "| rule | kind | stream contained | level | duty, or reason of another level | source |"
    yield "|---|---|---|---|---|---|"
    for rule in RULES.values():
        if rule.duty.about == about:
            yield from _rows(rule.id, about)


def _rows(rule: str, about: About) -> Iterator[str]:
    """Yield the row of the default level, and one for each exception."""
    duty = load_duties()[rule]
    for number, each in enumerate(duty.rulings):
        kinds = [kind for kind in KINDS[about] if duty.ruling(kind, each.came) == each]
        name, text = ("", each.because) if number else (f"`{rule}`", f"{duty.duty} {duty.why}")
        source = ", ".join(map(_link, each.source))
        yield f"| {name} | {', '.join(kinds)} | {each.came} | {each.level} | {text} | {source} |"


def _link(source: str) -> str:
    return f"<{source}>" if source.startswith("https://") else f"`{source}`"


if __name__ == "__main__":
    _PATH.write_text(with_rules(_PATH.read_text(encoding="utf-8")), encoding="utf-8")
