"""Check a gateway with ten responses: which endpoint it asked, how often, and what it answered."""

from collections.abc import Iterator
from typing import Final

import msgspec

from harness.checks.bundled_data import Check
from harness.checks.client import iter_responses
from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.playback.matching import path_of
from harness.results.exchange import Exchange
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Request

_SHOWN: Final = 160


def check_gateway(name: str) -> Iterator[Check]:
    """Run a gateway on ten responses of each API that it declares for its upstream.

    Args:
        name: the name of a gateway of the project, or `gateway:URL`.

    Raises:
        UsageError: `name` is not a gateway.
        NormalizerLoadError: it cannot be started.
    """
    gateway = load_normalizer(name)
    if gateway.link is None:
        raise UsageError(f"{name} is not a gateway", hint='Its target must be "gateway:URL".')
    gateway.link.prepare()
    yield Check(f"the gateway runs, front {gateway.front}", ok=True, count=1, detail=())
    one = len(gateway.dialects) == 1
    played = [it for name in sorted(gateway.dialects) for it in _checks_of(name, gateway, one=one)]
    yield from played
    if not played:
        detail = ("declare what it asks as `dialects`, and check the address of its provider",)
        yield Check("the gateway asks the upstream", ok=False, count=0, detail=detail)


def _checks_of(name: str, gateway: Normalizer, *, one: bool) -> Iterator[Check]:
    """Yield the ten checks of one API; none if the gateway may ask others, and asks another."""
    request = DIALECTS[name].request_forms[""].first_request("replay", "Hi.", ())
    for title, interaction in iter_responses(DIALECTS[name]):
        asked = msgspec.structs.replace(interaction, request=request)
        check = _check_one(f"{name}: {title}", asked, gateway, request)
        latest = gateway.link.latest if gateway.link else None
        if not one and latest is not None and latest.not_played:
            return
        yield check


def _check_one(
    title: str, interaction: Interaction, gateway: Normalizer, request: Request
) -> Check:
    cassette = Cassette(title, (interaction,), Origin("emulated"))
    result, _ = judge_subject(LoadedSubject(cassette), gateway, cuts="whole")
    exchange = gateway.link.latest if gateway.link else None
    detail = [
        f"{found.level} {found.rule} at {found.path}: expected {found.expected[:_SHOWN]}, found "
        f"{found.actual[:_SHOWN]}"
        for found in result.findings
        if found.level == "MUST"
    ]
    if result.unsupported:
        detail.append(str(result.unsupported))
    if detail and exchange is not None:
        detail.extend(_exchange_lines(exchange, request))
    count = len(exchange.arrived) if exchange else 0
    return Check(title, ok=not detail, count=count, detail=tuple(detail))


def _exchange_lines(exchange: Exchange, request: Request) -> Iterator[str]:
    for each in exchange.arrived or ():
        yield f"it asked {path_of(each.uri)}: {each.body[:_SHOWN].decode('utf-8', 'replace')}"
    if not exchange.arrived:
        yield f"it asked nothing, expected {path_of(request.uri)}"
    answer = exchange.answer
    body = answer.body[:_SHOWN].decode("utf-8", "replace")
    yield f"it answered HTTP {answer.status}, {answer.header('content-type')}: {body}"
