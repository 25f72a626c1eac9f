"""Turn a conversation with native tools into the same conversation with text calls.

Questions, executed calls and answers stay equal. Requests declare no tools, and the results of a
turn are one message of the user, so the roles differ.
"""

from itertools import groupby

from msgspec.structs import replace

from harness.judging.conversations.expected_request import ExpectedRequest, ExpectedText, Role
from harness.judging.conversations.script import ConversationFile, ExpectedReport


def conversation_in_text(file: ConversationFile) -> ConversationFile:
    """Return the conversation `file` for an agent whose prompt describes the tools in its text."""
    expect = file.expect
    requests, errors = expect.requests, expect.parse_errors
    if isinstance(requests, tuple):
        requests = tuple(map(_request_in_text, requests))
    if isinstance(errors, tuple):
        errors = tuple(ExpectedReport(error.name, error.snippet) for error in errors)
    changed = replace(expect, requests=requests, parse_errors=errors, history=None, strategy=None)
    return replace(file, expect=changed)


def _request_in_text(request: ExpectedRequest) -> ExpectedRequest:
    roles = request.roles
    if roles is not None:
        # Messages of the user that follow each other are sent as one.
        runs = ((role, list(run)) for role, run in groupby(map(_role_in_text, roles)))
        roles = tuple(one for role, run in runs for one in (run[:1] if role == "user" else run))
    last = request.last_role and _role_in_text(request.last_role)
    says = request.says.contains if isinstance(request.says, ExpectedText) else request.says
    return ExpectedRequest(roles=roles, last_role=last, says=says, has_tools=False)


def _role_in_text(role: Role) -> Role:
    return "user" if role == "tool" else role
