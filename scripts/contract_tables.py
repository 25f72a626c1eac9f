"""Count the members of official recordings, and write them into the tables of the wire contract.

    python -m scripts.contract_tables [--check]

The recordings are in the folder HARNESS_CORPUS, or ../shared/corpus next to the repository; the
published schemas in HARNESS_SPECS, or ../shared/specs. Without them, nothing is written. `--check`
exits with 1 if a table is not what the count gives.
"""

import argparse
import fnmatch
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeAlias

from harness.judging.contract import table as tables
from harness.judging.contract.shape import CHUNK, count_members, iter_events
from harness.judging.contract.table import HEADERS, ContractTable, parse_table
from harness.recording.importing import Labels, import_file
from harness.wire.interaction import Interaction

ROOT: Final = Path(__file__).parents[1]
CORPUS: Final = Path(os.environ.get("HARNESS_CORPUS") or ROOT / ".." / "shared/corpus")
SPECS: Final = Path(os.environ.get("HARNESS_SPECS") or ROOT / ".." / "shared/specs")
TABLES: Final = Path(tables.__file__).parent / tables.FOLDER
MARK: Final = "# Counted by scripts/contract_tables.py. Do not edit.\n"
_FIRST_ERROR_STATUS: Final = 400
_JSON_TYPES: Final = {"string": "text", "integer": "number", "array": "list"}
_DEEPEST: Final = 9
# Kind -> member -> for each variant of the kind, whether it requires the member, and its types.
_Walked: TypeAlias = dict[str, dict[str, list[tuple[bool, frozenset[str]]]]]


@cache
def recorded() -> dict[str, dict[str, list[Interaction]]]:
    """Return dialect -> provider -> the recorded streams of the corpus."""
    found: dict[str, dict[str, list[Interaction]]] = {}
    for path in sorted(path for path in CORPUS.rglob("*") if path.is_file()):
        source = path.relative_to(CORPUS).as_posix()
        for cassette in import_file(path, path.read_bytes(), source, Labels()).cassettes:
            rows = found.setdefault(cassette.dialect, {}).setdefault(cassette.provider, [])
            rows += cassette.interactions
    return found


def official_streams(table: ContractTable) -> list[Interaction]:
    """Return the streams of the official servers, of the version of the API that the table has."""
    by_provider = recorded().get(table.dialect, {})
    return [
        each
        for provider in table.official
        for each in by_provider.get(provider, ())
        if each.status < _FIRST_ERROR_STATUS and _is_current(each, table)
    ]


def _is_current(interaction: Interaction, table: ContractTable) -> bool:
    """Return whether a stream is a stream of this API and version."""
    kinds = {event.kind for event in iter_events(interaction, table.grammar)}
    return not table.is_older(interaction.body) and not kinds.isdisjoint(table.starts)


class Schema:
    """The schemas of one OpenAPI document."""

    def __init__(self, path: Path) -> None:
        self._schemas: dict[str, Any] = json.loads(path.read_text())["components"]["schemas"]

    def variants(self, schema: dict[str, Any], depth: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the alternatives of a schema, each with its own and its inherited members."""
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        for choice in choices:
            yield from self.variants(choice, depth)
        inherited = [list(self.variants(each, depth)) for each in schema.get("allOf", ())]
        # One of `allOf` can be a choice, too.
        for parts in product(*inherited) if not choices else ():
            base: dict[str, Any] = {
                "type": schema.get("type"),
                "properties": dict(schema.get("properties", {})),
                "required": set(schema.get("required", ())),
                "items": schema.get("items"),
            }
            for part in parts:
                base["properties"] = {**part["properties"], **base["properties"]}
                base["required"] |= part["required"]
                base["type"] = base["type"] or part["type"]
            yield base

    def walk(self, root: str, table: ContractTable) -> _Walked:
        """Return kind -> member -> whether each variant of the kind requires it, and its types."""
        found: _Walked = {}
        sizes: Counter[str] = Counter()
        for name in fnmatch.filter(self._schemas, root):
            self._object(self._schemas[name], "", table, found, sizes, 0)
        return {
            kind: {
                name: [row if len(rows) == sizes[kind] else (False, row[1]) for row in rows]
                for name, rows in members.items()
            }
            for kind, members in found.items()
        }

    def _object(  # noqa: PLR0913, PLR0917 - the state of one walk
        self,
        schema: dict[str, Any],
        path: str,
        table: ContractTable,
        found: _Walked,
        sizes: Counter[str],
        depth: int,
    ) -> None:
        for variant in self.variants(schema) if depth < _DEEPEST else ():
            if variant["items"] is not None:
                self._object(variant["items"], f"{path}[]", table, found, sizes, depth + 1)
            if not variant["properties"]:
                continue
            for kind in self._kinds(variant, path, table):
                sizes[kind] += 1
                row = found.setdefault(kind, {})
                for name, inner in variant["properties"].items():
                    types = frozenset(_JSON_TYPES.get(it, it) for it in self._types(inner))
                    row.setdefault(name, []).append((name in variant["required"], types))
            base = path or self._kinds(variant, path, table)[0]
            for name, inner in variant["properties"].items():
                if name not in table.opaque:
                    self._object(inner, f"{base}.{name}", table, found, sizes, depth + 1)

    def _types(self, schema: dict[str, Any]) -> Iterator[str]:
        for variant in self.variants(schema):
            given = variant["type"]
            yield from [given] if isinstance(given, str) else given or ()

    def _kinds(self, variant: dict[str, Any], path: str, table: ContractTable) -> list[str]:
        given = (variant["properties"].get(member, {}) for member in table.types)
        names = [name for each in given for name in self._constants(each)]
        if not path:
            return names or [CHUNK]
        return [path, *(f"{path}:{name}" for name in names)]

    def _constants(self, schema: dict[str, Any]) -> list[str]:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        given = schema.get("enum", ()) or ([schema["const"]] if "const" in schema else ())
        return [str(each) for each in given]


def cited_members(
    table: ContractTable,
) -> tuple[dict[tuple[str, str], set[str]], dict[tuple[str, str], set[str]]]:
    """Return, by kind and member, the documents that require or show it, and the types in them."""
    cited: dict[tuple[str, str], set[str]] = {}
    types: dict[tuple[str, str], set[str]] = {}
    for name, document in table.documents.items():
        for kind, members in document.needs.items():
            for member in members if kind != HEADERS else ():
                cited.setdefault((kind, member), set()).add(name)
        if document.schema:
            walked = Schema(SPECS / document.schema).walk(document.root, table)
            for kind, row in walked.items():
                for member, variants in row.items():
                    if all(required for required, _ in variants):
                        cited.setdefault((kind, member), set()).add(name)
                    types.setdefault((kind, member), set()).update(*(it for _, it in variants))
    return cited, types


def counted_rows(table: ContractTable) -> str:
    """Return the counted part of a table as TOML."""
    counts = count_members(official_streams(table), table.grammar)
    cited, types = cited_members(table)
    lines = list(_header_rows(table))
    for kind, row in counts.items():
        lines.append(f"\n[members.{_key(kind)}]")
        has_one_type = any(counts[it] == row for it in counts if it.startswith(f"{kind}:"))
        for name, count in row.items():
            if has_one_type and (kind, name) not in cited:
                continue  # the kind with the type has the count
            known = sorted({*count.types, *types.get((kind, name), ())})
            by = sorted(cited.get((kind, name), ()))
            lines.append(
                f'{_key(name)} = {{ type = "{"|".join(known)}", '
                f"seen = [{count.present}, {count.streams}]"
                f"{f', by = {json.dumps(by)}' if by else ''} }}"
            )
    return "\n".join(lines).lstrip("\n") + "\n"


def _header_rows(table: ContractTable) -> Iterator[str]:
    """Yield the count of the content type in the streams whose headers were recorded."""
    heads = [{k.lower(): v for k, v in it.headers} for it in official_streams(table) if it.headers]
    kinds = [head.get("content-type", "").partition(";")[0].strip().lower() for head in heads]
    seen = [sum(kind in table.content_types for kind in kinds), len(kinds)]
    by = [
        name for name, it in table.documents.items() if "content-type" in it.needs.get(HEADERS, ())
    ]
    cited = f", by = {json.dumps(by)}" if by else ""
    yield f'[headers]\ncontent-type = {{ type = "text", seen = {seen}{cited} }}'


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def main(arguments: list[str] | None = None) -> int:
    """Write the tables, or compare them with the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    if not CORPUS.is_dir() or not SPECS.is_dir():
        sys.stderr.write("no recordings or no schemas: nothing was counted\n")
        return 0
    changed = []
    for path in sorted(TABLES.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        head = text.partition(MARK)[0]
        table = parse_table(head, path.name)
        counted = f"{head}{MARK}\n{counted_rows(table)}"
        if counted != text:
            changed.append(path.name)
            if not options.check:
                path.write_text(counted, encoding="utf-8")
    sys.stdout.write("".join(f"{name}\n" for name in changed))
    return 1 if changed and options.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
