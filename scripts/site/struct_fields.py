"""The fields of a struct as rows: name, default, and what its docstring says."""

import inspect
import re
from collections.abc import Iterator
from typing import Final

import msgspec

from scripts.site.markdown import prose

_FIELDS: Final = re.compile(r"^Fields:\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY: Final = re.compile(r"^    (?=\S)", re.MULTILINE)


def field_texts(docstring: str) -> dict[str, str]:
    """Return what the section `Fields:` of a docstring says of each field."""
    found = _FIELDS.search(inspect.cleandoc(docstring))
    texts: dict[str, str] = {}
    for entry in _ENTRY.split(found[1]) if found else ():
        names, _, text = entry.partition(": ")
        texts |= {name.strip(): " ".join(text.split()) for name in names.split(",") if text}
    return texts


def struct_rows(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each field: name, default and meaning, as Markdown."""
    texts = field_texts(kind.__doc__ or "")
    for field in msgspec.structs.fields(kind):
        default = "" if field.default is msgspec.NODEFAULT else f"`{_json(field.default)}`"
        yield f"`{field.encode_name}`", default, prose(texts.get(field.name, ""))


def _json(value: object) -> str:
    return value if isinstance(value, str) and value else msgspec.json.encode(value).decode()
