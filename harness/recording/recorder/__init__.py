"""Record while a client streams, from the first request to the cassette."""

from harness.recording.recorder.recorder import Recorder, recorder_for_test

__all__ = ["Recorder", "recorder_for_test"]
