"""The tables of docs/reference/mutators.md: `python -m scripts.mutator_reference` writes them."""

from collections.abc import Iterator
from pathlib import Path

from harness.fuzzing.mutators.mutator import Mutator
from harness.fuzzing.mutators.table import MUTATORS

_PATH = Path(__file__).parents[1] / "docs" / "reference" / "mutators.md"
_FIRST = "## Preserving mutators"


def with_tables(text: str) -> str:
    """Return the page with the tables of the current mutators, and its text unchanged."""
    kept = [mutator for mutator in MUTATORS if mutator.preserving]
    changed = [mutator for mutator in MUTATORS if not mutator.preserving]
    tables = (
        f"{_FIRST}\n",
        *_table(kept, "needs"),
        "\n## Changing mutators\n",
        *_table(changed, "can add a call"),
    )
    return text.partition(_FIRST)[0] + "\n".join(tables) + "\n"


def _table(mutators: list[Mutator], last: str) -> Iterator[str]:
    yield f"| name | what it does | dialects | realism | quirks | {last} |"
    yield "|---|---|---|---|---|---|"
    for each in mutators:
        dialects = ", ".join(sorted(each.dialects)) or "all"
        quirks = ", ".join(f"`{quirk}`" for quirk in each.quirks)
        needs = ", ".join(f"`{need}`" for need in sorted(each.needs))
        said = needs if each.preserving else ("yes" if each.new_calls else "")
        realism = f"[{each.realism}]({each.source})" if each.source else each.realism
        yield f"| `{each.name}` | {each.summary} | {dialects} | {realism} | {quirks} | {said} |"


if __name__ == "__main__":
    _PATH.write_text(with_tables(_PATH.read_text(encoding="utf-8")), encoding="utf-8")
