"""Name the API of a response that no dialect reads, so that no party is blamed for it.

Their addresses and events look like those of a dialect: Titan and Claude's text completions come
in the messages of Bedrock, and watsonx has an `input`. A response is refused by its address, or by
the form of its first events.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from harness.wire.interaction import Interaction

Event = dict[str, Any]
# Each object of a run of the Assistants API names its kind so, and each of its requests has the
# header: https://platform.openai.com/docs/api-reference/assistants-streaming/events
_THREAD: Final = "thread."
_BETA: Final = "openai-beta"
_ON_BEDROCK: Final = r"/model/[^/?]*{}[^/?]*/invoke(?:-with-response-stream)?$"


class UnreadApi(msgspec.Struct, frozen=True):
    """An API that no dialect reads.

    Fields:
        name: its name, as the reason for skipping a response shows it.
        address: a regular expression for the address of a request, without its query.
        has: whether a first event has the form that only this API writes.
    """

    name: str
    address: str
    has: Callable[[Event], bool] = lambda _: False


def _has_keys(*keys: str) -> Callable[[Event], bool]:
    return lambda event: all(key in event for key in keys)


def _first(event: Event, key: str) -> Event:
    """Return the first object in a list of an event; {} if there is none."""
    items = event.get(key)
    first = items[0] if isinstance(items, list) and items else None
    return first if isinstance(first, dict) else {}


# In the order in which they are tried. Sources are the references of the APIs.
UNREAD_APIS: Final = (
    UnreadApi(
        "the OpenAI Assistants API",
        r"/threads(?:/[^/?]+)?/runs(?:/|$)",
        lambda event: str(event.get("object") or "").startswith(_THREAD),
    ),
    # docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-text.html
    UnreadApi(
        "the text API of Amazon Titan",
        _ON_BEDROCK.format(r"amazon\.titan-t"),
        lambda event: "outputText" in event or "outputText" in _first(event, "results"),
    ),
    # docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-cohere-command.html
    UnreadApi(
        "the text API of Cohere Command on Bedrock",
        _ON_BEDROCK.format(r"cohere\.command-(?:light-)?text"),
        lambda event: (
            "generations" in event
            or ("is_finished" in event and not {"event_type", "type"} & event.keys())
        ),
    ),
    UnreadApi("the generate API of Cohere", r"cohere\.(?:ai|com)/(?:v1/)?generate$"),
    # docs.anthropic.com/en/api/complete
    UnreadApi(
        "the text completions of Anthropic",
        r"/v1/complete$",
        lambda event: "completion" in event and "stop_reason" in event,
    ),
    # docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-jurassic2.html
    UnreadApi(
        "the text API of AI21 Jurassic",
        _ON_BEDROCK.format(r"ai21\.j2"),
        lambda event: "data" in _first(event, "completions"),
    ),
    # docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-mistral-text-completion.html
    UnreadApi(
        "the text API of Mistral on Bedrock",
        r"(?!)",
        lambda event: {"text", "stop_reason"} <= _first(event, "outputs").keys(),
    ),
    # dev.writer.com/api-reference/completion-api/text-generation
    UnreadApi(
        "the text completions of Writer",
        r"writer\.com/v1/completions$",
        lambda event: event.keys() == {"value"} and isinstance(event["value"], str),
    ),
    # docs.aws.amazon.com/bedrock/latest/APIReference, RetrieveAndGenerateStream
    UnreadApi(
        "the retrieveAndGenerate API of Bedrock",
        r"/retrieveAndGenerate(?:Stream)?$",
        lambda event: "retrievedReferences" in _first(event, "citations"),
    ),
    # docs.aws.amazon.com/bedrock/latest/APIReference, InvokeAgent and InvokeFlow
    UnreadApi(
        "Bedrock agents",
        r"/agents/[^/?]+/agentAliases/[^/?]+/sessions/[^/?]+/text$"
        r"|/agents/[^/?]+/sessions/[^/?]+$|/flows/[^/?]+/aliases/[^/?]+$",
        lambda event: {"agentId", "agentAliasId"} <= event.keys() or "returnControl" in event,
    ),
    # replicate.com/docs/topics/predictions/streaming
    UnreadApi(
        "the API of Replicate",
        r"//(?:api|stream[^/]*)\.replicate\.com/|/v1/(?:models/[^/?]+/[^/?]+/)?predictions$",
        lambda event: {"id", "status", "urls"} <= event.keys() and "input" in event,
    ),
    # cloud.ibm.com/apidocs/watsonx-ai#text-generation-stream
    UnreadApi(
        "the text generation of watsonx",
        r"/ml/v1(?:-beta)?/(?:deployments/[^/?]+/)?text/generation(?:_stream)?$",
        lambda event: "generated_text" in _first(event, "results"),
    ),
    UnreadApi(
        "the text API of PaLM",
        r":(?:generateText|generateMessage|serverStreamingPredict)$",
    ),
)
_ADDRESSES: Final = tuple((re.compile(api.address), api.name) for api in UNREAD_APIS)


def unread_api(interaction: Interaction, events: Iterable[Event], *, is_known: bool) -> str:
    """Return the name of the API that sent a response, if no dialect reads it; else "".

    Args:
        interaction: the request and the response.
        events: the first events of the response.
        is_known: whether an event shows a dialect. Then the address does not count, because a
            gateway may answer in another way.
    """
    found = next((api.name for event in events for api in UNREAD_APIS if api.has(event)), "")
    if found or is_known:
        return found
    headers = interaction.request.headers
    if any(name.lower() == _BETA and value.startswith("assistants=") for name, value in headers):
        return UNREAD_APIS[0].name
    address = interaction.request.uri.partition("?")[0]
    return next((name for pattern, name in _ADDRESSES if pattern.search(address)), "")
