"""A conversation as a report shows it: requests with their messages, replies, calls, records.

It is a line of the run file, so that a report needs neither cassettes nor agents. A request
repeats the history, so only its new messages are stored.
"""

import msgspec

from harness.results.conversation import TurnRecord


class RequestRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request and its reply.

    Fields:
        place: index of the interaction that answered; None if the request was surplus.
        same: how many messages at its start are those of the request before.
        messages: the messages after them, each as JSON in OpenAI's form.
        tools: names of the tools that it declares.
        fields: its other members, as JSON.
        status, reply: status and text of the response.
        broken: why no call of the reply may be executed.
        unlike: how its structure differs from the recorded one, `path: recorded, sent`; None if
            there is none to compare.
    """

    place: int | None
    same: int
    messages: tuple[str, ...]
    tools: tuple[str, ...]
    fields: str
    status: int
    reply: str
    broken: str = ""
    unlike: tuple[str, ...] | None = None


class RunRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that was executed after request `after`, counted from 1."""

    after: int
    tool: str
    arguments: str
    error: str = ""
    known: bool = True


class ConversationCase(msgspec.Struct, frozen=True, tag_field="type", tag="conversation"):
    """What an agent did in one cell, with long texts cut.

    Fields:
        cell: id of the `Result` that it belongs to.
        requests: the first requests.
        history: messages at the end, each as JSON: those after the `same` first of the last
            request.
        turns: the agent's records of its turns.
        error: the exception that it raised, or the limit that stopped it; "" if it ended by itself.
        cut: whether requests, messages, calls or turns are missing.
        trace: the traceback of the exception; not in the file if there is none.
    """

    cell: str
    requests: tuple[RequestRow, ...]
    runs: tuple[RunRow, ...]
    same: int
    history: tuple[str, ...]
    turns: tuple[TurnRecord, ...]
    ending: str
    answer: str
    error: str = ""
    cut: bool = False
    trace: str | msgspec.UnsetType = msgspec.UNSET
