"""Read `{"name": ..., "arguments": {...}}` as the complete reply: Llama 3.x, Ollama, local models.

The reply is one object, several, or an array of them. The arguments may be under `parameters`, or
the object has the flat form of a prompt, with all that the tool requires and nothing that it does
not declare. Ordinary JSON has names too, so a call needs the name of an offered tool and a key for
arguments (quirks TEXT-BARE-JSON-CALL, TEXT-FP-DATA, TEXT-MULTI-CALLS). Everything else stays
text, as does the declaration of a tool. Some clients look for calls anywhere in the reply
(policy `bare`).
Source: chat templates of Llama 3.1; the second of the stories that this suite began with.
"""

import re
from typing import Final

from harness.text_calls.boundaries import Ending
from harness.text_calls.dialect import (
    BlockStart,
    Offered,
    RawBlock,
    TextDialect,
    WrittenCall,
)
from harness.text_calls.json_calls import (
    ARGUMENTS_KEYS,
    FLAT_KEY,
    ID_KEYS,
    NAME_KEYS,
    iter_values,
    read_json_calls,
    read_string,
    write_json_call,
)
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.json_scan import LooseEnd
from harness.text_calls.parameters import declared_names
from harness.turns.json_prefix import PrefixState, scan

_KEYS = frozenset((*NAME_KEYS, *ARGUMENTS_KEYS, *ID_KEYS, "type"))
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DESCRIBED = re.compile(r'"description"\s*:')
_AFTER_FLAT = re.compile(rf'"{FLAT_KEY}"\s*:\s*"[^"\\]*"\s*,\s*"([^"\\]*)"')
_ARGUED = re.compile(rf'"(?:{"|".join(ARGUMENTS_KEYS)})"\s*:|"{FLAT_KEY}"\s*:')


class BareJson(TextDialect):
    """Reads and writes calls as JSON objects that are the complete reply."""

    title = "Bare JSON that names an offered tool (Llama 3.x, local models)"
    openers = ("{", "[")
    explicit = False
    whole = True
    between = "\n"

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether the first key belongs to a call, and a name in it is an offered tool's."""
        inside = start.head
        if start.opener == "[":
            body = start.head.lstrip()
            if body[:1] not in ("", "{"):
                return False
            inside = body[1:]
        return _lead(inside.lstrip(), start.offered)

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` that finds the end of the JSON; broken JSON ends with the text."""
        return JsonEnd(opener)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls if all objects name offered tools and have arguments; else None.

        Broken JSON that begins as a call of an offered tool gives a call with an error.
        """
        text = block.text
        if any(scan(value).state is not PrefixState.COMPLETE for value in iter_values(text)):
            return self._broken(text, block.offered)
        calls = read_json_calls(text, block.offered, marked=False) or ()
        usable = all(call.name in block.offered and not call.error for call in calls)
        return calls if calls and usable else None

    def _broken(self, text: str, offered: Offered) -> tuple[WrittenCall, ...] | None:
        """Return a broken call if `text` begins as a call of an offered tool; else None."""
        calls = read_json_calls(text, offered) or ()
        broken = next((call for call in calls if call.error), WrittenCall(""))
        argued = _ARGUED.search(text)
        if broken.name not in offered or argued is None:
            return None
        known = declared_names(offered.schema(broken.name))
        return None if _is_data(text, argued, known) else (broken,)

    def write_call(self, call: WrittenCall) -> str:
        """Return the call as a JSON object on one line."""
        return write_json_call(call)


class BareAnywhere(BareJson):
    """Reads bare JSON at any position of the reply, but never inside other braces."""

    whole = False

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether the brackets contain more than a list of plain words or numbers."""
        body = start.head.lstrip()
        if start.opener == "{":
            return True
        return body.startswith(('"', "{", "[")) if body else None

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` that finds the closing bracket, whether or not the text is JSON."""
        return LooseEnd(_KEYS)


def _is_data(text: str, argued: "re.Match[str]", known: frozenset[str]) -> bool:
    """Return whether broken JSON describes a tool, or has a key that is not an argument of it."""
    if _DESCRIBED.search(text, 0, argued.start()):
        return True
    first = _AFTER_FLAT.match(text, argued.start())
    return first is not None and first[1] not in known.union(ARGUMENTS_KEYS, ID_KEYS)


def _lead(inside: str, offered: Offered) -> bool | None:
    """Return whether the first object begins like a call; None if the text is too short."""
    if not inside:
        return None
    key, closed, rest = inside[1:].partition('"')
    if not any(known.startswith(key) for known in _KEYS):
        return False
    if not closed:  # the key continues
        return None
    if key not in NAME_KEYS:
        return key in _KEYS
    value = rest.lstrip().removeprefix(":").lstrip()
    return _value(value, offered) if value else None


def _value(value: str, offered: Offered) -> bool | None:
    """Return whether a value under a name key is an offered name, or may be a function object."""
    match = _STRING.match(value)
    if match:
        return read_string(match[0]) in offered
    return None if value[0] == '"' else value[0] == "{"


BARE_JSON: Final = BareJson()
BARE_ANYWHERE: Final = BareAnywhere()
