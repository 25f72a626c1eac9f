"""Functions for adapters of SDKs: give an SDK recorded reads, and convert its results to deltas.

An adapter uses a library as its users do: over the library's own HTTP client, without retries, at
the layer that gives calls to agent code. `replay_client`, `async_replay_client` and
`replay_botocore` answer each request of an HTTP package in this process; `replay_server` answers on
127.0.0.1, for libraries that take only a base URL. `chat_deltas` converts an answer in the format
of OpenAI's chat completions to deltas; `handed_call` and the other functions do so part by part.

The rules for adapters: an adapter repairs and hides nothing. Raw argument text is parsed strictly,
as agent code must. A call that the library gives to agent code is executed, unless the library's
own agent loop would not execute it. An exception that the library documents is a reported failure:
yield `failure_delta`, with or without a `withheld_call` for each call that was received so far. Any
other exception is a crash. If the recorded connection broke, each client raises the error of its
package after the last read. An adapter may let it pass, in whatever exception: the harness counts
it as a failure of the turn.

The package of a library is an extra and is imported when it is first needed. Only this folder
imports SDKs.
"""

from typing import Final

from harness.normalizers.protocol import CAPABILITIES
from harness.normalizers.sdk.answers import Answers
from harness.normalizers.sdk.asynchronous import complete, iterate
from harness.normalizers.sdk.botocore_client import replay_botocore
from harness.normalizers.sdk.calls import (
    failure_delta,
    finish_by_calls,
    finish_delta,
    handed_call,
    named_call,
    withheld_call,
)
from harness.normalizers.sdk.chat import chat_deltas
from harness.normalizers.sdk.http_clients import (
    BASE_URL,
    async_replay_client,
    client_options,
    lasting_async_client,
    lasting_client,
    lasting_transport,
    replay_client,
)
from harness.playback.case_server import replay_server

__all__ = [
    "BASE_URL",
    "CAPABILITIES_OF_ADAPTERS",
    "CAPABILITIES_OF_APPENDERS",
    "Answers",
    "async_replay_client",
    "chat_deltas",
    "client_options",
    "complete",
    "failure_delta",
    "finish_by_calls",
    "finish_delta",
    "handed_call",
    "iterate",
    "lasting_async_client",
    "lasting_client",
    "lasting_transport",
    "named_call",
    "replay_botocore",
    "replay_client",
    "replay_server",
    "withheld_call",
]

# Users of a library cannot choose what providers send. Clients for AWS, for the Realtime API and
# for sessions over WebSocket are other classes of it, and what these libraries do not read of a
# response they keep or ignore. Drivers do not hand over the namespace of a call.
CAPABILITIES_OF_ADAPTERS: Final = frozenset(CAPABILITIES) - {
    "aws-framing",
    "realtime-events",
    "sessions",
    "calls-in-unknown-members",
    "tool-namespaces",
}
# The policy `arguments: append` excludes arguments that are repeated.
CAPABILITIES_OF_APPENDERS: Final = CAPABILITIES_OF_ADAPTERS - {"repeated-arguments"}
