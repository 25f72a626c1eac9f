"""harness: a conformance suite for tool calling over streams.

These names are the public Python interface, together with `harness.testing`,
`harness.fuzzing.strategies` and `harness.normalizers.sdk`. Everything else is private and may
move without notice. Importing this package loads no other module of it: each name is imported
when it is first used, because the pytest plugin and the command line must start fast.
`__init__.pyi` shows the names to type checkers.
"""

import importlib

__version__ = "0.1.0"

# Module -> the public names that it defines.
_HOMES = {
    "conversation.agent": ("Agent",),
    "conversation.task": ("Limits", "Reply", "Task", "ToolFailed"),
    "errors": ("HarnessError", "StreamError", "UnreadableError", "UsageError"),
    "judging.cassettes": ("judge", "normalize"),
    "normalizers.protocol": ("Normalizer",),
    "playback.playback": ("Playback",),
    "playback.server": ("PlaybackServer",),
    "recording.recorder": ("Recorder",),
    "providers": ("Capabilities",),
    "results.conversation": ("Conversation", "Probe", "TurnMeta", "TurnRecord"),
    "results.finding": ("Finding",),
    "results.outcome": ("Outcome",),
    "results.result": ("Result",),
    "testing": ("conformance_suite",),
    "text_calls": ("TEXT_DIALECTS", "TextPolicy", "read_text_calls"),
    "turns.deltas": (
        *("ArgumentsDelta", "Delta", "Finish", "FinishReason", "ParseError", "ReasoningDelta"),
        *(
            "SealedDelta",
            "StreamFailure",
            "TextDelta",
            "ToolCall",
            "ToolCallEnd",
            "ToolCallRejected",
        ),
        *("ToolCallStart", "Usage", "UsageDelta"),
    ),
    "turns.fold": ("fold",),
    "turns.turn": ("Tool", "Turn"),
    "wire.cassette": ("Cassette",),
    "wire.cassette_file": ("load_cassette", "save_cassette"),
    "wire.cuts": ("split",),
    "wire.frames": ("Frame",),
    "wire.framing": ("iter_frames",),
    "wire.interaction": ("Interaction", "Read", "Request"),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_MODULES)  # noqa: PLE0605 - a list of names, computed from the one table


def __getattr__(name: str) -> object:
    """Return the public `name`, importing its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module 'harness' has no attribute {name!r}", name=name, obj=__name__)
    value: object = getattr(importlib.import_module(f"harness.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__, "__version__"]
