"""Record a cassette while a client streams."""

from harness.recording.recorder.recorder import Recorder, recorder_for_test

__all__ = ["Recorder", "recorder_for_test"]
