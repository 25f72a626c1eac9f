"""Store a conversation for the report: requests, replies, executed calls and turns.

A conversation is a line of the run file, so that a report needs neither cassettes nor agents.
Each request repeats the history, so the line stores only the new messages of each request.
"""

import msgspec

from harness.results.conversation import TurnRecord


class RequestRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request of an agent and its reply, as a report shows them.

    Fields:
        place: index of the interaction in the cassette that answered; None if the cassette had no
            interaction left.
        same: number of messages at the beginning that are equal to those of the previous request.
        messages: the messages after the `same` first, each as JSON in the format of OpenAI.
        tools: names of the tools that the request declares.
        fields: the other members of the request body, as JSON.
        status, reply: the HTTP status and the text of the response.
        broken: why the agent must not execute a call of the reply; "" if it may.
        unlike: differences in structure from the recorded request, as `path: recorded, sent`;
            None if there is no recorded request to compare with.
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
    """A call that the agent executed.

    Fields:
        after: number of the request, from 1, whose reply led to the call.
        tool, arguments: the name of the tool, and the arguments as text.
        error: the error of the tool; "" if there was none.
        known: whether the tool exists.
    """

    after: int
    tool: str
    arguments: str
    error: str = ""
    known: bool = True


class ConversationCase(msgspec.Struct, frozen=True, tag_field="type", tag="conversation"):
    """What an agent did in one cell, for its page in the report; long texts are cut.

    Fields:
        cell: id of the `Result` that it belongs to.
        requests: the requests of the agent, without the last ones if there are too many.
        runs: the calls that the agent executed.
        same: number of messages that `history` leaves out.
        history: the messages at the end of the conversation, each as JSON. It leaves out the first
            messages that are equal to those of the last request.
        turns: the agent's records of its turns.
        ending, answer: as in `Conversation`.
        error: the exception of the agent, or the limit at which the harness stopped it; "" if the
            agent returned.
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
