"""The envelope of Bedrock's invoke streams: a `chunk` message -> the event in it.

`{"bytes": "<base64>", "p": "<padding>"}` holds one event of the model's own API, be it
Anthropic's, OpenAI's or Meta's; their dialects never see the envelope.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_PayloadPart.html
"""

import binascii

import msgspec


class _PayloadPart(msgspec.Struct, gc=False):
    bytes: str


_DECODE = msgspec.json.Decoder(_PayloadPart).decode


def unwrapped(payload: bytes) -> bytes | None:
    """Return the event that `payload` holds; None where it is no such envelope."""
    try:
        return binascii.a2b_base64(_DECODE(payload).bytes, strict_mode=True)
    except (ValueError, RecursionError):
        return None


def wrapped(event: bytes, padding: str = "abcdefghijk") -> bytes:
    """Return the envelope that holds `event`, as Bedrock pads it to hide its length."""
    text = binascii.b2a_base64(event, newline=False).decode()
    return msgspec.json.encode({"bytes": text, "p": padding})
