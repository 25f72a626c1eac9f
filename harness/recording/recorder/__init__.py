"""Record a cassette while a client streams."""

from harness.recording.recorder.of_test import recorder_for_test
from harness.recording.recorder.recorder import Recorder

__all__ = ["Recorder", "recorder_for_test"]
