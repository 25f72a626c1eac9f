"""The mistralai package: the chunks of `chat.stream`."""

from mistralai.client import Mistral, errors
from shared.calls import Calls

DOCUMENTED = (errors.MistralError,)
FINISH = {"model_length": "length"}


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = Mistral(api_key="none", server_url=base_url)
    text, finish, calls, last = "", None, Calls(), {}
    with client.chat.stream(model="any", messages=[]) as stream:
        for choice in (it for event in stream for it in event.data.choices if it.index == 0):
            finish = choice.finish_reason or finish
            content = choice.delta.content or ""
            parts = (
                [part.text for part in content if part.type == "text"]
                if isinstance(content, list)
                else [content]
            )
            text += "".join(parts)
            for place, part in enumerate(choice.delta.tool_calls or ()):
                call_id = "" if part.id in (None, "", "null") else part.id
                # Another id, or a second entry in one chunk, begins another call.
                begins = part.index not in last or call_id not in ("", last[part.index][1])
                if begins or (place and not call_id):
                    last[part.index] = (len(calls), call_id)
                function = part.function
                given = function.arguments
                written = given if isinstance(given, str) else json.dumps(given)
                calls.add(last[part.index][0], call_id, function.name, written)
    turn = calls.turn(text, finish, cut=("length", "model_length"))
    return {**turn, "failed": finish in (None, "error")}
