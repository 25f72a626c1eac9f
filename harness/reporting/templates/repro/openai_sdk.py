"""The openai package: `chat.completions.stream` and its final completion."""

import openai

DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    try:
        with client.chat.completions.stream(model="any", messages=[]) as stream:
            completion = stream.get_final_completion()
    except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as error:
        completion = getattr(error, "completion", None)  # the answer, which was cut off
        if completion is None:
            raise
    if not completion.choices:
        return {"calls": [], "failed": True}
    choice = completion.choices[0]
    message, finish = choice.message, choice.finish_reason
    calls = [(it.id, it.function.name, it.function.arguments) for it in message.tool_calls or ()]
    if message.function_call and not calls:
        calls = [("function_call", message.function_call.name, message.function_call.arguments)]
    cut = [name for _, name, arguments in calls if finish == "length" and not arguments]
    return {
        "text": message.content or "",
        "calls": [call for call in calls if finish and (finish != "length" or call[2])],
        "rejected": cut,
        "finish": finish,
        "failed": bool(calls and not finish) or bool(message.refusal),
    }
