"""The complete answer of Converse -> the same as its stream says.

Inputs are objects here; they are written again as the body spells them.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from collections.abc import Iterator
from typing import Any

from harness.dialects.bedrock_converse.words import SERVER_TOOL
from harness.turns.assembly import Assembly
from harness.turns.chat_request import dicts
from harness.turns.exact_json import decode_exactly, written
from harness.wire.frames import Frame


def read_document(value: dict[str, Any], frame: Frame, says: Assembly) -> None:
    """Say the blocks of the message in `value`, which `frame` holds."""
    if any("toolUse" in block for block in _blocks(value)):
        value = _exactly(value, frame)
    for block in _blocks(value):
        says.text(block.get("text"))
        _reasoning(block.get("reasoningContent"), says)
        _cited(block.get("citationsContent"), says)
        _call(block.get("toolUse"), says)


def _blocks(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return dicts(value["output"]["message"].get("content"))


def _exactly(value: dict[str, Any], frame: Frame) -> dict[str, Any]:
    """Return `value` with its spelling, where the frame holds nothing else."""
    try:
        exact = decode_exactly(frame.data)
    except ValueError:
        return value
    return exact if isinstance(exact, dict) else value


def _reasoning(content: object, says: Assembly) -> None:
    told = content.get("reasoningText") if isinstance(content, dict) else None
    if isinstance(told, dict):
        says.reasoning(told.get("text"))


def _cited(content: object, says: Assembly) -> None:
    """Say a text that comes with its sources."""
    if isinstance(content, dict):
        for piece in dicts(content.get("content")):
            says.text(piece.get("text"))


def _call(use: object, says: Assembly) -> None:
    if not isinstance(use, dict) or use.get("type") == SERVER_TOOL:
        return
    key = len(says)
    says.open(key, use.get("toolUseId"), use.get("name"))
    given = use.get("input")
    if given is not None:
        says.append(key, given if isinstance(given, str) else written(given))
