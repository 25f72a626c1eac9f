"""Read how a gateway is reached: the text after `gateway:`, and the keys of the project's table."""

import shlex
from typing import Final
from urllib.parse import urlsplit

import msgspec

from harness.dialects.table import DETECTOR, DIALECTS
from harness.errors import NormalizerLoadError
from harness.playback.matching import path_of
from harness.project import DeclaredNormalizer
from harness.wording import did_you_mean

_SCHEMES: Final = ("http", "https")
_EXAMPLE: Final = "gateway:http://127.0.0.1:4000/v1/messages upstream=8045"
_HINT: Final = f"Name the URL of an endpoint of the gateway, such as {_EXAMPLE}"


class GatewaySettings(msgspec.Struct, frozen=True):
    """How to reach a gateway, and how it reaches the upstream.

    Fields:
        url: the endpoint of the front; `{port}` and `{model}` in it are replaced.
        front: the dialect of the front.
        upstream: the port to which the gateway sends its requests; 0 for any free port, which the
            command gets as `{upstream}`.
        command: the command that starts the gateway; "" if it runs already.
        model: the name of the upstream model in requests to the gateway.
        headers: headers to send to the gateway, with `{upstream}` as in the command.
        sends_usage: whether the upstream reports the numbers of tokens if the gateway asks.
        read_with: the normalizer that reads the answers; "" for the readers of the harness.
        asks: a dialect that the gateway asks.
    """

    url: str
    front: str
    upstream: int = 0
    command: str = ""
    model: str = "replay"
    headers: tuple[tuple[str, str], ...] = ()
    sends_usage: bool = True
    read_with: str = ""
    asks: str = "openai-chat"

    @property
    def is_parallel(self) -> bool:
        """Whether several processes can each have their own gateway and upstream."""
        return bool(self.command) and not self.upstream and "{port}" in self.url


def settings_of(text: str, declared: DeclaredNormalizer | None) -> GatewaySettings:
    """Return the settings in the text after `gateway:`, and in the declaration of the project.

    Args:
        text: a URL, then words such as `upstream=8045` or `model=gpt-4o`.
        declared: the declaration; None without one.

    Raises:
        NormalizerLoadError: the URL or a word cannot be used.
    """
    where = f"gateway:{text}"
    url, words = _split(text, where)
    known = {"upstream": "0", "command": "", "model": "replay", "front": "", "read-with": ""}
    for name, value in words.items():
        if name not in known:
            raise NormalizerLoadError(
                f"unknown word {name!r}", where=where, hint=did_you_mean(name, [*known], "known")
            )
        known[name] = value
    if declared is not None:
        given = {"upstream": declared.upstream, "command": declared.command}
        given |= {"model": declared.model, "front": declared.front}
        given |= {"read-with": declared.read_with}
        known |= {name: str(value) for name, value in given.items() if value is not None}
    if not known["upstream"].isdigit() or int(known["upstream"]) > 65_535:  # noqa: PLR2004 - the last port
        raise NormalizerLoadError(f"upstream: {known['upstream']!r} is not a port", where=where)
    policies = (declared.policies if declared else None) or {}
    settings = GatewaySettings(
        url,
        known["front"] or front_of(url, where),
        int(known["upstream"]),
        known["command"],
        known["model"],
        tuple(sorted(((declared.headers if declared else None) or {}).items())),
        policies.get("usage-asked", "sent") == "sent",
        known["read-with"],
        next(iter((declared.dialects if declared else None) or ("openai-chat",))),
    )
    _check(settings, where)
    return settings


def _split(text: str, where: str) -> tuple[str, dict[str, str]]:
    try:
        url, *words = shlex.split(text)
    except ValueError:
        raise NormalizerLoadError("expected a URL", where=where, hint=_HINT) from None
    pairs = (word.partition("=") for word in words)
    return url, {name: value for name, _, value in pairs}


def front_of(url: str, where: str) -> str:
    """Return the dialect of the endpoint at `url`.

    Raises:
        NormalizerLoadError: the path belongs to no API that the harness can ask.
    """
    front = DETECTOR.dialect_of_path(path_of(url.replace("{port}", "1").replace("{model}", "any")))
    if front in DIALECTS and DIALECTS[front].build_request is not None:
        return front
    known = ", ".join(sorted(name for name, row in DIALECTS.items() if row.build_request))
    raise NormalizerLoadError(
        f"no known endpoint: {url}", where=where, hint=f"{_HINT}, or name one of {known} as `front`"
    )


def _check(settings: GatewaySettings, where: str) -> None:
    try:
        parts = urlsplit(settings.url.replace("{port}", "1"))
        is_usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise NormalizerLoadError(f"no URL: {settings.url}", where=where, hint=_HINT)
    if settings.front not in DIALECTS or DIALECTS[settings.front].build_request is None:
        raise NormalizerLoadError(f"front: unknown API {settings.front!r}", where=where)
    if not settings.upstream and "{upstream}" not in settings.command:
        raise NormalizerLoadError(
            "the gateway cannot know the upstream",
            where=where,
            hint="Name the port that the gateway asks as `upstream`, or use {upstream} in the "
            "command.",
        )
    if "{port}" in settings.url and not settings.command:
        raise NormalizerLoadError("{port} in the URL requires a `command`", where=where)
