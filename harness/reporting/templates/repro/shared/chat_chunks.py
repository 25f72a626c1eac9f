"""The chunks of a chat completion."""

from shared.calls import Calls


def joined(chunks):
    """Return the turn in chunks of OpenAI's form, its calls joined by index."""
    text, finish, refusal, calls = "", None, "", Calls()
    for chunk in chunks:
        for choice in (chunk and chunk.choices) or ():
            if choice.index:  # another choice
                continue
            finish, delta = choice.finish_reason or finish, choice.delta
            if delta is None:
                continue
            text += delta.content or ""
            refusal += getattr(delta, "refusal", None) or ""
            for part in delta.tool_calls or ():
                function = part.function
                name = function.name if function else ""
                calls.add(part.index, part.id, name, function.arguments if function else "")
            older = delta.function_call
            if older and (older.name or older.arguments):
                calls.add("older", "function_call", older.name, older.arguments)
    turn = calls.turn(text, finish)
    if finish in (None, "error") or (refusal and finish != "content_filter"):
        turn.update(calls=[], failed=True)
    return turn
