"""Recorded requests -> why an agent cannot have their conversation again; "" where it can.

It can where each request is the one before it, then what the model said, and then the results
of its calls or the next question; and where no reply leaves a client a choice.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from harness.judging.conversations import chat_form
from harness.judging.conversations.truth import Truth
from harness.judging.conversations.values import same_value
from harness.turns.arguments import meaning

Messages: TypeAlias = tuple[object, ...]

INSTRUCTIONS: Final = ("system", "developer")


def why_not(requests: Sequence[Messages], truths: Sequence[Truth]) -> str:
    """Return why the requests are no conversation that can be had again; "" where they are.

    Args:
        requests: the messages of each, in OpenAI's form.
        truths: what the reply to each says.
    """
    if not all(requests):
        return "its requests were not kept"
    if _spoken(requests[0]) != ["user"]:
        return "it began before the recording"
    steps = zip(pairwise(requests), truths, strict=False)  # no request follows the last reply
    problems = (_why_no_step(before, after, truth) for (before, after), truth in steps)
    return next(filter(None, problems), "") or _why_no_end(requests, truths[-1])


def _spoken(messages: Messages) -> list[str]:
    roles = map(chat_form.role_of, messages)
    return [role for place, role in enumerate(roles) if place or role not in INSTRUCTIONS]


def _why_no_step(before: Messages, after: Messages, truth: Truth) -> str:
    """Return why a request is not what an agent would send for the reply before it."""
    if not _begins_with(after, before):
        return "its requests do not follow one another"
    if truth.broken or truth.rejected:
        what = "a reply broke off" if truth.broken else "a reply holds a call that cannot be used"
        return f"{what}, and what a client does then is its own choice"
    new = after[len(before) :]
    return _why_no_answer(new) or _why_other_calls(new, truth)


def _begins_with(after: Messages, before: Messages) -> bool:
    pairs = zip(before, after, strict=False)  # the longer one goes on
    return len(after) > len(before) and all(same_value(*pair) for pair in pairs)


def _why_no_answer(new: Messages) -> str:
    """Return why what follows a reply is neither its results nor one new question."""
    roles = [chat_form.role_of(message) for message in new]
    if not {"assistant", "tool", "user"}.issuperset(roles):
        return "instructions came in the middle"
    if "user" in roles and "tool" in roles:
        return "the user spoke between results and answer"
    if "tool" not in roles and roles.count("user") + (roles[-1] == "user") != 2:  # noqa: PLR2004 - one, and it is the last
        return "a request holds neither results nor one new question"
    if any(map(_is_more_than_text, new)):
        return "a message holds more than text"
    called = {call_id for message in new for call_id, _, _ in chat_form.calls_of(message)}
    return "" if called.issuperset(_answered(new)) else "a result answers no call of its turn"


def _answered(new: Messages) -> Iterator[str]:
    """Yield the ids that results name."""
    for message in new:
        if isinstance(message, dict) and chat_form.role_of(message) == "tool":
            yield str(message.get("tool_call_id"))


def _is_more_than_text(message: object) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and not all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    )


def _why_other_calls(new: Messages, truth: Truth) -> str:
    """Return why the client stored other calls than an agent would; it decides open ones."""
    stored = [call[1:] for message in new for call in chat_form.calls_of(message)]
    if truth.calls is None:
        return "" if stored else "the bytes of a reply leave open what it calls"
    said = Counter((call.name, meaning(call.arguments)) for call in truth.calls)
    same = said == Counter((name, meaning(arguments)) for name, arguments in stored)
    return "" if same else "its client stored other calls than a reply holds"


def _why_no_end(requests: Sequence[Messages], last: Truth) -> str:
    """Return why nobody knows what comes last, where the newest reply may want calls run.

    Limits hold for each question alike, so only the longest round can end at them.
    """
    asked = [questions_in(each) for each in requests]
    shorter = Counter(asked)[asked[-1]] < max(Counter(asked).values())
    return "it ends with calls, or what may be some" if shorter and may_call(last) else ""


def may_call(truth: Truth) -> bool:
    """Return whether a reply calls a tool, or leaves open whether it does."""
    return truth.calls is None or bool(truth.calls or truth.rejected)


def questions_in(messages: Messages) -> int:
    """Return how often the user has spoken."""
    return sum(chat_form.role_of(message) == "user" for message in messages)
