"""Compute an upper bound of the steps that validating a value by a JSON Schema takes.

A small schema can require more steps than any computer makes. If each subschema refers twice to the
next one, the steps double with each reference. This module counts each pair of subschema and value
once, so counting is fast even if validating would never end.
"""

from collections.abc import Iterator
from typing import Any, Final

# What a subschema applies to the value itself: one subschema, a list of them, or some by name.
_ONE: Final = ("not", "if", "then", "else")
_LISTED: Final = ("allOf", "anyOf", "oneOf")
_NAMED: Final = ("dependentSchemas", "dependencies")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
# What it applies to each member or item; more of them than the validator does, never fewer.
_TO_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties")
_TO_ITEMS: Final = ("items", "additionalItems", "unevaluatedItems", "contains")
_NAMES: Final = ("$anchor", "$dynamicAnchor", "$id", "id")
_MOST_PAIRS: Final = 100_000


class UnboundedError(Exception):
    """The number of steps has no bound, or cannot be counted."""


class StepCounter:
    """Counts the steps that one schema takes for any number of values.

    Args:
        schema: the schema that the validator uses.
    """

    def __init__(self, schema: object) -> None:
        self._root = schema
        self._named: dict[str, object] = {}
        self.size = 0
        self.refers = False
        self._index(schema)

    def _index(self, schema: object) -> None:
        """Count the values in the schema, and store the subschemas that have an anchor or id."""
        waiting = [schema]
        while waiting:
            each = waiting.pop()
            self.size += 1
            if isinstance(each, dict):
                self.refers = self.refers or any(key in each for key in _REFERENCES)
                for key in _NAMES:
                    if isinstance(name := each.get(key), str):
                        self._named[name.strip("#")] = each
                waiting += each.values()
            elif isinstance(each, list):
                waiting += each

    def steps(self, value: object) -> int:
        """Return an upper bound of the steps that the validation of `value` takes.

        Raises:
            UnboundedError: a subschema refers to itself for the same value, or the pairs of
                subschemas and values are too many to count.
        """
        try:
            return self._steps(self._root, value, {})
        except RecursionError:
            raise UnboundedError from None

    def _steps(self, schema: object, value: object, known: dict[tuple[int, int], int]) -> int:
        if not isinstance(schema, dict):
            return 1
        pair = (id(schema), id(value))
        found = known.get(pair)
        if found is None:
            if len(known) >= _MOST_PAIRS:
                raise UnboundedError
            known[pair] = 0  # under way
            again = 2 if any(key.startswith("unevaluated") for key in schema) else 1
            here = sum(self._steps(each, value, known) for each in self._of_value(schema))
            below = sum(self._steps(each, part, known) for each, part in _of_parts(schema, value))
            known[pair] = found = 1 + again * here + below
        elif not found:
            raise UnboundedError
        return found

    def _of_value(self, schema: dict[str, Any]) -> Iterator[object]:
        """Yield the subschemas that the validator applies to the same value as `schema`."""
        for key in _ONE:
            if key in schema:
                yield schema[key]
        for key in _LISTED:
            if isinstance(listed := schema.get(key), list):
                yield from listed
        for key in _NAMED:
            if isinstance(named := schema.get(key), dict):
                yield from named.values()
        for key in _REFERENCES:
            if isinstance(target := schema.get(key), str):
                yield self._target(target)

    def _target(self, reference: str) -> object:
        """Return the subschema to which a reference within the same document points.

        Raises:
            UnboundedError: the pointer cannot be followed, for example because it has percent
                escapes.
        """
        base, _, fragment = reference.partition("#")
        found = self._named.get(base, self._root) if base else self._root
        if not fragment.startswith("/"):
            return self._named.get(fragment, found) if fragment else found
        for step in fragment[1:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = found.get(key)
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                raise UnboundedError  # percent-encoded, or of another form
        return found


def _of_parts(schema: dict[str, Any], value: object) -> Iterator[tuple[object, object]]:
    """Yield pairs: a subschema, and the member or item of the value that it applies to."""
    if isinstance(value, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield from ((properties[key], value[key]) for key in properties if key in value)
        patterns = schema.get("patternProperties")
        each = [*patterns.values()] if isinstance(patterns, dict) else []
        each += [schema[key] for key in _TO_MEMBERS if key in schema]
        yield from ((one, member) for one in each for member in value.values())
        if "propertyNames" in schema:
            yield from ((schema["propertyNames"], key) for key in value)
    elif isinstance(value, list):
        for key in (*_TO_ITEMS, "prefixItems"):
            if isinstance(listed := schema.get(key), list):
                yield from zip(listed, value, strict=False)
            elif key in schema:
                yield from ((schema[key], item) for item in value)
