"""The reference from the code itself: the Python interface, the command line and the schemas."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

import harness
from harness.cli.schema import SCHEMAS, schema_of
from scripts.site.markdown import code_block, link, prose, table
from scripts.site.struct_fields import field_texts

# Public module -> the title of its section.
_MODULES: Final = {
    "harness.normalizers.sdk": "Adapters for SDKs",
    "harness.testing": "pytest",
    "harness.fuzzing.strategies": "Strategies",
}
# Package that defines a name of `harness` -> the title of its section.
_PACKAGES: Final = {
    "wire": "Cassettes",
    "turns": "Deltas and turns",
    "text_calls": "Text calls",
    "normalizers": "Clients under test",
    "conversation": "Clients under test",
    "providers": "Clients under test",
    "judging": "Judging",
    "results": "Judging",
    "testing": "pytest",
    "playback": "HTTP clients",
    "recording": "HTTP clients",
    "errors": "Errors",
}
_STUB: Final = Path(harness.__file__).with_suffix(".pyi")
_PUBLIC: Final = re.compile(r"^from harness\.(\w+)\S* import (\w+) as", re.MULTILINE)


def reference_pages() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page."""
    yield "reference/api.md", "\n".join(_api_lines())
    yield "reference/options.md", "\n".join(_command_lines())
    yield "reference/schemas/index.md", "\n".join(_schema_index())
    for name in SCHEMAS:
        yield f"reference/schemas/{name}.md", "\n".join(_schema_lines(name, schema_of(name)))


def schema_files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each schema, to be downloaded."""
    for name in SCHEMAS:
        yield f"{name}.json", msgspec.json.format(msgspec.json.encode(schema_of(name)), indent=2)


def _api_lines() -> Iterator[str]:
    yield from ("# Python API", "")
    yield "Generated from docstrings. [Python interface](python.md) describes the use of each name."
    for title, objects in _sections().items():
        yield from ("", f"## {title}", "", "```{eval-rst}")
        for path, value in objects.items():
            yield from _directive(path, value)
        yield "```"


def _sections() -> dict[str, dict[str, object]]:
    sections: dict[str, dict[str, object]] = {title: {} for title in _PACKAGES.values()}
    for package, name in _PUBLIC.findall(_STUB.read_text(encoding="utf-8")):
        sections[_PACKAGES[package]][f"harness.{name}"] = getattr(harness, name)
    for module, title in _MODULES.items():
        public = import_module(module)
        section = sections.setdefault(title, {})
        known = [value for found in sections.values() for value in found.values()]
        for name in public.__all__:
            value = getattr(public, name)
            if not any(value is other for other in known):
                section[f"{module}.{name}"] = value
    return sections


def _directive(path: str, value: object) -> Iterator[str]:
    if inspect.isclass(value):
        yield from (f".. autoclass:: {path}", "   :members:" * _has_methods(value), "")
    elif callable(value):
        yield from (f".. autofunction:: {path}", "")
    else:
        kinds = [getattr(each, "__name__", repr(each)) for each in get_args(value)]
        values = ", ".join(f"``{kind}``" for kind in kinds)
        yield from (f".. py:data:: {path}", "", f"   One of {values}." * bool(values), "")


def _has_methods(kind: type) -> bool:
    """Return whether a class has methods to show; fields of values are in their docstrings."""
    return not issubclass(kind, msgspec.Struct | Exception)


def _command_lines() -> Iterator[str]:
    yield from ("# Options of all commands", "")
    yield from (
        "Generated from `harness COMMAND --help`. [Command line](cli.md) explains them.",
        "",
    )
    yield from ("```{eval-rst}", ".. click:: harness.cli:cli", "   :prog: harness")
    yield from ("   :nested: full", "```")


def _schema_index() -> Iterator[str]:
    yield from ("# Schemas", "", "`harness schema NAME` prints the same JSON Schemas.", "")
    rows = [(link(name, f"{name}.md"), f"<{name}.json>") for name in sorted(SCHEMAS)]
    yield from table(("format", "file"), [(page, f"[JSON]({file[1:-1]})") for page, file in rows])
    yield from ("```{toctree}", ":hidden:", "", *sorted(SCHEMAS), "```")


def _schema_lines(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"# {name}", "", f"`harness schema {name}` prints [this schema]({name}.json).", "")
    for title, found in schema.get("$defs", {}).items():
        about, required = inspect.cleandoc(found.get("description", "")), found.get("required", ())
        yield from (f"## {title}", "", prose(about.partition("\n\nFields:")[0]), "")
        texts = field_texts(about)
        rows = [
            (
                f"`{key}`",
                _value_text(value),
                "yes" if key in required else "",
                prose(texts.get(key, "")),
            )
            for key, value in found.get("properties", {}).items()
        ]
        yield from table(("key", "value", "required", "meaning"), rows)
    if "$defs" not in schema:
        yield from code_block(json.dumps(schema, indent=2), "json")


def _value_text(value: Mapping[str, Any]) -> str:
    """Return what a schema allows, as short text."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(map(_value_text, value["anyOf"]))
    if value.get("type") == "array":
        items = [value["items"]] if value.get("items") else value.get("prefixItems", [])
        return f"list of {' and '.join(map(_value_text, items)) or 'anything'}"
    if isinstance(value.get("additionalProperties"), dict):
        return f"object, each value {_value_text(value['additionalProperties'])}"
    fixed = value.get("enum", [value["const"]] if "const" in value else [])
    if fixed:
        return ", ".join(f"`{json.dumps(each)}`" for each in fixed)
    default = f", default `{json.dumps(value['default'])}`" if "default" in value else ""
    return f"{value.get('type', 'anything')}{default}"
