"""Puts the installed `openai` package under test, as its users call it."""

import openai

from harness.normalizers import sdk


def normalize(interaction, reads):
    """Yield the deltas of one response."""
    client = openai.OpenAI(**sdk.client_options(sdk.replay_client("httpx2", interaction, reads)))
    try:
        chunks = client.chat.completions.create(model="any", messages=[], stream=True)
        yield from sdk.chat_deltas(chunks)
    except openai.APIError as problem:
        yield sdk.failure_delta(problem)
