"""Read the content of the regions of a response template, and build its calls.

Each kind of content is read as the documentation of transformers describes it. One thing differs:
the value is JSON text in which the model's digits and repeated keys are kept, so that a call has
the arguments that the model wrote.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.parameters import type_parameters
from harness.text_calls.python import read_python_calls
from harness.text_calls.template import PatternBudget, TemplateField, ValueParser
from harness.turns.exact_json import decode_exactly, write_exactly

_PLACEHOLDER: Final = re.compile(r"\{(\w+(?:\.\w+)*)\}")
# What stands for the strings that were taken out of a text.
_MARK, _MARK_END = "\x01", "\x02"
_BARE_KEY: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|(?<=[{,])(\s*+)(\w++)(\s*+):')


class ContentError(Exception):
    """The content of a region cannot be read. The text says why."""


def read_content(text: str, parser: ValueParser, budget: PatternBudget) -> Any:  # noqa: ANN401
    """Return the value of a region.

    Raises:
        ContentError: the text is not of this kind.
    """
    try:
        return _READERS[parser.name](text, parser.args, budget)
    except (ValueError, RecursionError) as error:
        raise ContentError(f"it is not {parser.name}: {error}"[:200]) from None


def _text(text: str, args: Mapping[str, Any], _budget: PatternBudget) -> str:
    return text.strip() if args.get("strip", True) else text


def _bool(text: str, _args: Mapping[str, Any], _budget: PatternBudget) -> bool:
    return text.strip().lower() in ("true", "1")


def _json(text: str, args: Mapping[str, Any], _budget: PatternBudget) -> Any:  # noqa: ANN401
    taken: list[str] = []

    def take(match: "re.Match[str]") -> str:
        taken.append(match[1])
        return f"{_MARK}{len(taken) - 1}{_MARK_END}"

    delimiters = args.get("string_delims", ())
    if delimiters and (_MARK in text or _MARK_END in text):
        raise ValueError("it contains a control character")
    plain = text
    for begin, end in delimiters:
        between = re.compile(f"{re.escape(begin)}(.*?){re.escape(end)}", re.DOTALL)
        plain = between.sub(take, plain)
    if args.get("unquoted_keys"):
        plain = _BARE_KEY.sub(
            lambda key: key[0] if key[2] is None else f'{key[1]}"{key[2]}"{key[3]}:', plain
        )
    if taken:
        parts = re.split(f"{_MARK}(\\d+){_MARK_END}", plain)
        plain = "".join(
            json.dumps(taken[int(part)]) if at % 2 else part for at, part in enumerate(parts)
        )
    try:
        return decode_exactly(plain.encode("utf-8", "surrogatepass"))
    except ValueError:
        if args.get("allow_non_json"):
            return text.strip()
        raise


def _tags(text: str, args: Mapping[str, Any], budget: PatternBudget) -> dict[str, Any]:
    found: dict[str, Any] = {}
    merged: set[str] = set()
    for match in budget.finditer(args["tag_pattern"], text):
        groups = match.groupdict()
        key, raw = groups["key"], groups.get("value") or ""
        value = _value(raw, args, budget)
        if key in found and args.get("merge_duplicates"):
            found[key] = [*(found[key] if key in merged else [found[key]]), value]
            merged.add(key)
        elif key in found:
            raise ValueError(f"the parameter {key!r} comes twice")
        else:
            found[key] = value
    return found


def _lines(text: str, args: Mapping[str, Any], budget: PatternBudget) -> dict[str, Any]:
    found: dict[str, Any] = {}
    separator = args.get("kv_sep", ":")
    for line in text.split(args.get("line_sep", "\n")):
        key, sign, value = _text(line, args, budget).partition(separator)
        if sign:
            found[_text(key, args, budget)] = _value(_text(value, args, budget), args, budget)
    return found


def _value(text: str, args: Mapping[str, Any], budget: PatternBudget) -> Any:  # noqa: ANN401
    parser = args.get("value_parser")
    return read_content(text, parser, budget) if parser else text


def _python_calls(text: str, _args: Mapping[str, Any], _budget: PatternBudget) -> list[Any]:
    body = text.strip()
    found = read_python_calls(body, 1)
    if not body.startswith("[") or body[found.stop :] != "]":
        raise ValueError("it is not a list of calls")
    for call in found.calls:
        if call.error:
            raise ValueError(call.error)
    return [
        {"name": call.name, "arguments": decode_exactly(call.arguments.encode())}
        for call in found.calls
    ]


_READERS: Final[dict[str, Callable[[str, Mapping[str, Any], PatternBudget], Any]]] = {
    "text": _text,
    "int": lambda text, _args, _budget: int(text.strip()),
    "float": lambda text, _args, _budget: float(text.strip()),
    "bool": _bool,
    "json": _json,
    "xml-inline": _tags,
    "kv-lines": _lines,
    "python-call-list": _python_calls,
}


def _filled(transform: Any, scope: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    """Return a transform with the values of `scope` in place of its placeholders.

    Raises:
        ContentError: a placeholder names a value that is missing.
    """
    if isinstance(transform, dict):
        return {key: _filled(each, scope) for key, each in transform.items()}
    if isinstance(transform, list):
        return [_filled(each, scope) for each in transform]
    placeholder = _PLACEHOLDER.fullmatch(transform) if isinstance(transform, str) else None
    if placeholder is None:
        return transform
    value: Any = scope
    for key in placeholder[1].split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise ContentError(f"it has no value {placeholder[1]!r}")
        value = value[key]
    return value


def region_values(
    field: TemplateField, body: str, captures: Mapping[str, str], budget: PatternBudget
) -> list[Any]:
    """Return the values of a region with this text, as its transform shapes them.

    Raises:
        ContentError: the text cannot be read.
    """
    value = read_content(body, field.parser, budget)
    if field.transform is None:
        return value if isinstance(value, list) else [value]
    if not field.transform_each:
        filled = _filled(field.transform, {**captures, "content": value})
        return filled if isinstance(filled, list) else [filled]
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise ContentError("it is not a list of objects")
    return [_filled(field.transform, {**captures, **each}) for each in value]


def written_calls(values: list[Any], offered: Offered) -> Iterator[WrittenCall]:
    """Yield the call that each value of a region describes."""
    for value in values:
        inner = value.get("function", value) if isinstance(value, dict) else None
        name = inner.get("name") if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not isinstance(name, str):
            yield WrittenCall(error="the template finds no name in it")
            continue
        call_id = value.get("id")
        arguments = inner.get("arguments")
        text = arguments if isinstance(arguments, str) else _typed(arguments, name, offered)
        yield WrittenCall(name, text, call_id if isinstance(call_id, str) else "")


def _typed(arguments: object, name: str, offered: Offered) -> str:
    """Return arguments as JSON. Texts get the types of the schema, if they are values of them."""
    if not isinstance(arguments, dict):
        return "" if arguments is None else write_exactly(arguments)
    schema = offered.schema(name)
    typed = {}
    for key, value in arguments.items():
        typed[key] = value
        if isinstance(value, str):
            call = type_parameters([(key, value)], schema, name, offered.untyped)
            read = decode_exactly(call.arguments.encode("utf-8", "surrogatepass") or b"{}")
            if isinstance(read, dict) and not call.error:
                typed[key] = read[key]
    pairs = getattr(arguments, "pairs", None)
    return write_exactly(arguments if pairs else typed)
