"""What a normalizer does where texts can be read in two ways; each choice is declared.

The first value of each is the default, and what `reference` does.
"""

from typing import Literal, TypeAlias

import msgspec

Bare: TypeAlias = Literal["whole", "anywhere"]


class TextPolicy(msgspec.Struct, frozen=True):
    """How tool calls in text are found and which of them count.

    Fields:
        dialects: names of the text dialects that are read.
        bare: bare JSON is a call where it is the `whole` reply, or `anywhere` in it.
        code: calls inside code blocks, inline code, HTML of code and block quotes are `text`, or
            `calls`.
            (One code block that is the complete reply is not an example: `fenced` decides.)
        quoted: a call whose opening marker follows an opening quotation mark is `text`, or
            `calls`.
        reasoning: calls inside closed reasoning are `drafts`, or `calls`.
        unclosed_reasoning: reasoning that ends in a call and is never closed makes it a
            `call`, or it stays a `draft`.
        undeclared: marked-up calls of tools that were not offered are `reject`ed, or `text`.
        unclosed: a call whose closing marker is missing counts where its body is `whole`, or
            `never`.
        markup_in_arguments: native arguments that hold leaked markup are a `reject`ion, or
            `keep`.
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

    def declared(self) -> dict[str, str]:
        """Return the choices by name, as a normalizer declares them."""
        values = msgspec.structs.asdict(self)
        return {name: value for name, value in values.items() if isinstance(value, str)}
