"""Define an exchange: the requests and the response on both sides of a gateway, in one replay."""

import msgspec

from harness.wire.interaction import Interaction, Request


class Exchange(msgspec.Struct, frozen=True):
    """What a gateway was sent, what it sent upstream, and what it answered.

    Fields:
        answer: the request in the API of the gateway's front, with the response of the gateway.
        arrived: the requests that arrived upstream and ask for a response, in order.
        not_played: why the upstream could not answer as its cell requires; "" if it could. Such a
            cell is not judged.
        refused: why the API of the upstream refuses the request that the gateway made; "" if it
            does not. Then the response was not sent, and only the request is judged.
    """

    answer: Interaction
    arrived: tuple[Request, ...] = ()
    not_played: str = ""
    refused: str = ""
