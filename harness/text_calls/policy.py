"""Define the choices of a normalizer for texts that can be read in two ways.

The first value of each choice is the default, and is the choice of `reference`.
"""

from typing import Literal, TypeAlias

import msgspec

Bare: TypeAlias = Literal["whole", "anywhere"]
Untyped: TypeAlias = Literal["as-peers", "string", "json", "reject"]


class TextPolicy(msgspec.Struct, frozen=True):
    """Declares how a normalizer finds tool calls in text, and which of them count.

    Fields:
        dialects: names of the text dialects that the normalizer reads.
        bare: bare JSON is a call if it is the `whole` reply, or `anywhere` in it.
        code: calls inside code blocks, inline code, HTML of code and block quotes are `text`, or
            `calls`. One code block that is the complete reply is not an example; the text dialect
            `fenced-json` decides about it.
        quoted: a call whose opening marker follows an opening quotation mark is `text`, or
            `calls`.
        reasoning: calls inside closed reasoning are `drafts`, or `calls`.
        unclosed_reasoning: a call at the end of reasoning that is never closed is a `call`, or
            stays a `draft`.
        undeclared: marked-up calls of tools that were not offered are `reject`ed, or `text`.
        unclosed: a call whose closing marker is missing counts if its body is `whole`, or
            `never`.
        markup_in_arguments: if native arguments contain leaked markup, the call is rejected
            (`reject`), or accepted (`keep`).
        untyped: a value without quotes that a schema allows to be a string and something else is
            read `as-peers` do (as a string if the schema names no type or not the parameter, and
            otherwise as JSON if it is JSON of a type that the schema names), as a `string`, as
            `json` if it is JSON, or the call is rejected (`reject`).
    """

    dialects: frozenset[str]
    bare: Bare = "whole"
    code: Literal["text", "calls"] = "text"
    quoted: Literal["text", "calls"] = "text"
    reasoning: Literal["drafts", "calls"] = "drafts"
    unclosed_reasoning: Literal["call", "draft"] = "call"
    undeclared: Literal["reject", "text"] = "reject"
    unclosed: Literal["whole", "never"] = "whole"
    markup_in_arguments: Literal["reject", "keep"] = "reject"
    untyped: Untyped = "as-peers"

    def declared(self) -> dict[str, str]:
        """Return the value of each choice by its name, as a normalizer declares them."""
        values = msgspec.structs.asdict(self)
        return {name: value for name, value in values.items() if isinstance(value, str)}
