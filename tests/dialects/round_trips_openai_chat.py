"""Which scripts have more than one reading as an openai-chat stream, and why."""

from collections.abc import Callable
from typing import Final

from harness.dialects.openai_chat.write import WriterOptions
from harness.turns.json_prefix import PrefixState, prefix_state
from tests.dialects.scripted_turns import TOOLS, Call, Script


def _without_index(options: WriterOptions) -> bool:
    return options.index in ("absent", "null") and options.where != "legacy"


def _indexes_say_nothing(options: WriterOptions) -> bool:
    return _without_index(options) or options.index == "zero"


def without_ids(options: WriterOptions) -> bool:
    return options.first_id != "repeated"


def _at_once(options: WriterOptions) -> bool:
    return options.one_chunk or options.where == "message"


def _neighbours(script: Script) -> list[tuple[Call, Call]]:
    return list(zip(script.calls, script.calls[1:], strict=False))


def _can_grow(name: str) -> bool:
    return any(tool != name and tool.startswith(name) for tool in TOOLS)


def _two_readings(script: Script) -> bool:
    def prefixes(call: Call) -> str:
        return "".join("".join(call.fragments[: at + 1]) for at in range(len(call.fragments)))

    return any(
        len(call.fragments) > 1 and prefix_state(prefixes(call)) is PrefixState.PREFIX
        for call in script.calls
    )


OPENAI_CHAT_CONTRADICTIONS: Final[dict[str, Callable[[Script, WriterOptions], bool]]] = {
    "nothing says that the turn ended": lambda _, s: s.finish == "absent" and not s.done,
    "nothing at all was said, not even the end": lambda c, s: (
        s.finish == "absent" and not (c.calls or c.before or c.after)
    ),
    "the old field holds one call": lambda c, s: s.where == "legacy" and len(c.calls) > 1,
    "fragments of several calls alternate, and neither index nor id says whose each is": (
        lambda c, s: (
            c.interleaved
            and len(c.calls) > 1
            and not _at_once(s)
            and _indexes_say_nothing(s)
            and (without_ids(s) or s.later_id != "repeated")
        )
    ),
    "without an index an unknown id opens a call, so it cannot change within one": (
        lambda c, s: _without_index(s) and s.later_id == "changed" and bool(c.calls)
    ),
    "without an index a first id that comes late, beside the name, opens another call": (
        lambda _, s: (
            _without_index(s)
            and without_ids(s)
            and s.later_id == "repeated"
            and (s.later_name == "repeated" or s.name_pieces > 1)
        )
    ),
    "neither index nor ids, and the same name again: a repeated name or another call": (
        lambda c, s: (
            _indexes_say_nothing(s)
            and without_ids(s)
            and any(one.name == two.name for one, two in _neighbours(c))
        )
    ),
    "neither index nor ids, and names in pieces: a piece of this name or the next one": (
        lambda c, s: (
            _indexes_say_nothing(s) and without_ids(s) and s.name_pieces > 1 and len(c.calls) > 1
        )
    ),
    "neither index nor ids, no arguments, and a name that others begin with: a piece of one": (
        lambda c, s: (
            _indexes_say_nothing(s)
            and without_ids(s)
            and any(not one.arguments and _can_grow(one.name) for one, _ in _neighbours(c))
        )
    ),
    "another id with the same name before any argument: a changed id or another call": (
        lambda c, s: (
            s.index == "zero"
            and any(
                one.name == two.name and (not one.arguments or (c.interleaved and not _at_once(s)))
                for one, two in _neighbours(c)
            )
        )
    ),
    "a new id and a new name open a call, so a piece of a name cannot have a new id": (
        lambda _, s: s.name_pieces > 1 and s.later_id == "changed"
    ),
    "a new id, the same name and whole arguments after whole arguments are another call": (
        lambda _, s: (
            s.later_id == "changed"
            and s.later_name == "repeated"
            and s.arguments in ("whole-again", "placeholder-first")
        )
    ),
    "cumulative fragments that are the start of one object when they are appended": (
        lambda c, s: s.arguments == "cumulative" and not _at_once(s) and _two_readings(c)
    ),
}
