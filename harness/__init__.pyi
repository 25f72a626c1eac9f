# What type checkers see of the public interface; `__init__.py` imports it on first use.

from harness.conversation.agent import Agent as Agent
from harness.errors import HarnessError as HarnessError
from harness.errors import StreamError as StreamError
from harness.errors import UnreadableError as UnreadableError
from harness.errors import UsageError as UsageError
from harness.judging.cassettes import judge as judge
from harness.judging.cassettes import normalize as normalize
from harness.judging.results import Finding as Finding
from harness.judging.results import Outcome as Outcome
from harness.judging.results import Result as Result
from harness.normalizers.protocol import Normalizer as Normalizer
from harness.playback.playback import Playback as Playback
from harness.playback.server import PlaybackServer as PlaybackServer
from harness.recording.recorder import Recorder as Recorder
from harness.testing import conformance_suite as conformance_suite
from harness.text_calls import TextPolicy as TextPolicy
from harness.text_calls import read_text_calls as read_text_calls
from harness.turns.deltas import ArgumentsDelta as ArgumentsDelta
from harness.turns.deltas import Delta as Delta
from harness.turns.deltas import Finish as Finish
from harness.turns.deltas import FinishReason as FinishReason
from harness.turns.deltas import ParseError as ParseError
from harness.turns.deltas import ReasoningDelta as ReasoningDelta
from harness.turns.deltas import SealedDelta as SealedDelta
from harness.turns.deltas import StreamFailure as StreamFailure
from harness.turns.deltas import TextDelta as TextDelta
from harness.turns.deltas import ToolCall as ToolCall
from harness.turns.deltas import ToolCallEnd as ToolCallEnd
from harness.turns.deltas import ToolCallRejected as ToolCallRejected
from harness.turns.deltas import ToolCallStart as ToolCallStart
from harness.turns.deltas import Usage as Usage
from harness.turns.deltas import UsageDelta as UsageDelta
from harness.turns.fold import fold as fold
from harness.turns.turn import Tool as Tool
from harness.turns.turn import Turn as Turn
from harness.wire.cassette import Cassette as Cassette
from harness.wire.cassette_file import load_cassette as load_cassette
from harness.wire.cassette_file import save_cassette as save_cassette
from harness.wire.cuts import split as split
from harness.wire.frames import Frame as Frame
from harness.wire.framing import iter_frames as iter_frames
from harness.wire.interaction import Interaction as Interaction
from harness.wire.interaction import Read as Read
from harness.wire.interaction import Request as Request

__version__: str
