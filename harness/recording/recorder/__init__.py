"""Recording while a client streams: what a server sends goes on at once, and is kept.

    with Recorder("cassettes/a.yaml", mode="once") as recorder:
        client = httpx.Client(transport=recorder.transport(httpx))

`recorder` decides what is played, asked for and saved; `tape` keeps one response; `clients`
is the transport for httpx and httpx2. Nothing is held back from the client.
"""

from harness.recording.recorder.recorder import Recorder, RecordingLabels, RecordMode

__all__ = ["RecordMode", "Recorder", "RecordingLabels"]
