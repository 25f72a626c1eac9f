"""How the requests of one API hold messages and tools."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

import msgspec

Json: TypeAlias = dict[str, Any]

# Under this name stands what was sent back of reasoning, however the API calls it.
FIELD_OF_REASONING: Final = "reasoning_content"


class Form(msgspec.Struct, frozen=True):
    """What an API's requests look like.

    Fields:
        messages: body -> its messages in OpenAI's form.
        tools: body -> the declarations of tools, each an object with a `name`.
        fields: members of the body that hold either.
        blocks: content is a list of blocks, so that nothing beside calls is neither null nor
            `''`, and reasoning is a block.
    """

    messages: Callable[[Json], Iterable[object]]
    tools: Callable[[Json], Iterator[object]]
    fields: frozenset[str]
    blocks: bool = True


def dicts(value: object) -> Iterator[Json]:
    """Yield the objects of a list; nothing where it is none."""
    return (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))
