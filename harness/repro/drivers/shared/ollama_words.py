"""Ollama's API: its finish words and errors."""

FINISH = {"stop": "stop", "length": "length"}


def failure_of_ollama(error):
    """Return code and message of a `ResponseError`; that inside a stream has the status -1."""
    return f"http_{error.status_code}" if error.status_code > 0 else "error", error.error
