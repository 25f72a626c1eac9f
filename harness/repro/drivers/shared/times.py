"""The options of a client that is told times."""


def times_of(timeout, max_retries):
    """Return the options of a client of OpenAI or Anthropic; a timeout of None is its default."""
    return {"max_retries": max_retries} | ({} if timeout is None else {"timeout": timeout})
