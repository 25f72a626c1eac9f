"""`harness record`: a real server's streams -> cassettes, reads kept and secrets removed.

Three ways: questions of our own to an address, a proxy for any client, or the requests of a
cassette once more. It says whom it asks before it asks, and in CI it asks nobody unless told.
"""

import difflib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED
from harness.cli.new import write_scenario
from harness.cli.options import resolve_cassette, safe_name
from harness.dialects.table import DIALECTS, read_request
from harness.errors import UsageError
from harness.judging.scenario_file import load_scenario
from harness.recording.identify import identify
from harness.recording.prompt_set import load_prompts, prompt_requests
from harness.recording.proxy import RecordingProxy
from harness.recording.recorder import MODES, Recorder, RecordingLabels, RecordMode
from harness.recording.upstream import check_address, upstream_response
from harness.reporting.visible import marked
from harness.runs.refresh import differences
from harness.runs.selection import named_folder
from harness.shipped import bundled_folder
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import dump, load_cassette, save_cassette
from harness.wire.interaction import Due, Headers, Request


def refresh(path: Path, upstream: str, headers: Headers, *, write: bool, allow_in_ci: bool) -> int:
    """Ask again what `path` was asked, print what differs, and replace it where told.

    Args:
        path: a cassette.
        upstream: scheme and host to ask instead of the recorded ones; "" for those.
        headers: sent beside the recorded ones, such as credentials.
        write: replace the cassette.
        allow_in_ci: ask even where CI is set.
    """
    old = identify(resolve_cassette(path))
    if not path.is_file():
        raise UsageError("expected the file of a cassette", where=str(path))
    new = _record_again(old, path, upstream, headers, allow_in_ci=allow_in_ci)
    meant = [
        f"interaction {place}: {line}"
        for place, (was, now) in enumerate(zip(old.interactions, new.interactions, strict=True))
        for line in differences(was, now)
    ]
    for line in _difference_lines(old, new, meant):
        click.echo(marked(line))
    if write:
        save_cassette(new, path)
    click.echo("written" if write else "not written: --write replaces the cassette", err=True)
    return EXIT_GATE_FAILED if meant else 0


def _record_again(
    old: Cassette, path: Path, upstream: str, headers: Headers, *, allow_in_ci: bool
) -> Cassette:
    """Return the cassette of the same requests, asked now."""
    about = RecordingLabels(
        old.provider, old.model, old.prompt, old.dialect, tools=old.tools, due=old.due
    )
    recorder = Recorder(
        path.with_name(f"{path.stem}.refreshed{path.suffix}"),
        mode=RecordMode.ALL,
        about=about,
        allow_in_ci=allow_in_ci,
    )
    for each in old.interactions:
        request = _refreshed_request(each.request, upstream, headers)
        click.echo(f"asking {marked(request.uri)}", err=True)
        with upstream_response(recorder, request) as answer:
            for _ in answer.reads():
                pass
    return msgspec.structs.replace(recorder.cassette(), id=old.id)


def _refreshed_request(recorded: Request, upstream: str, headers: Headers) -> Request:
    """Return what is sent: no encoding that the recording would have to take off."""
    uri = _at_upstream(recorded.uri, upstream) if upstream else recorded.uri
    check_address(uri)
    given = {name.lower() for name, _ in headers} | {"accept-encoding", "content-length", "host"}
    kept = tuple(pair for pair in recorded.headers if pair[0].lower() not in given)
    sent = (*kept, ("accept-encoding", "identity"), *headers)
    return msgspec.structs.replace(recorded, uri=uri, headers=sent)


def _at_upstream(uri: str, upstream: str) -> str:
    check_address(upstream)
    to = urlsplit(upstream)
    return urlunsplit(urlsplit(uri)._replace(scheme=to.scheme, netloc=to.netloc))


def _difference_lines(old: Cassette, new: Cassette, meant: list[str]) -> Iterator[str]:
    yield f"in meaning: {len(meant)} differences" if meant else "in meaning: no difference"
    yield from (f"  {line}" for line in meant)
    yield "in text:"
    lines = difflib.unified_diff(
        dump(old).splitlines(), dump(new).splitlines(), "recorded", "now", n=1, lineterm=""
    )
    yield from (f"  {line}" for line in lines)


# Dialect -> where its API answers, below the server's address.
_PATHS: Final = {row.name: row.record_path for row in DIALECTS.values() if row.record_path}


class RecordOptions(msgspec.Struct, frozen=True):
    """What the options say of questions of our own."""

    url: str
    dialect: str
    model: str
    headers: Headers
    options: dict[str, Any]
    about: RecordingLabels
    output: Path
    scenarios: Path | None
    repeat: int
    allow_in_ci: bool


class _RecordRequest(msgspec.Struct, frozen=True):
    """One request, and what the recording of its answer says that the bytes do not.

    Fields:
        id: names the cassette.
        prompt, tools, due: as of a cassette.
    """

    id: str
    request: Request
    prompt: str
    tools: tuple[dict[str, Any], ...]
    due: Due = ""


@click.command("record")
@click.argument("url", required=False, default="")
@click.option("--prompts", type=click.Path(path_type=Path), help="A file of prompts to ask.")
@click.option("--scenario", default="", help="Ask what the cassette of this scenario was asked.")
@click.option("--repeat", type=click.IntRange(1, 10_000), default=1, show_default=True)
@click.option("--model", default="", help="Whom to ask; with a scenario, by default its model.")
@click.option(
    "--dialect", type=click.Choice(sorted(_PATHS)), default="openai-chat", show_default=True
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=JSON",
    help="A field of each body; repeatable.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="Sent, never written; repeatable.",
)
@click.option("--key-env", default="", metavar="NAME", help="The variable that holds a bearer key.")
@click.option("--proxy", type=click.IntRange(0, 65_535), metavar="PORT", help="0 for any port.")
@click.option("--upstream", default="", metavar="URL", help="What the proxy, or --refresh, asks.")
@click.option("--refresh", "again", type=click.Path(path_type=Path), metavar="CASSETTE")
@click.option("--write", is_flag=True, help="Let --refresh replace the cassette.")
@click.option(
    "--mode", type=click.Choice(MODES), default="all", show_default=True, help="Of the proxy."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("recorded"), show_default=True,
    help="The folder for cassettes; of the proxy, the folder or one .yaml file.",
)  # fmt: skip
@click.option(
    "--scenarios", type=click.Path(path_type=Path), help="Write scenarios to confirm here."
)
@click.option("--provider", default="", help="Instead of the one that the address names.")
@click.option("--source", default="", help="The server and its version, for the cassette's origin.")
@click.option("--allow-in-ci", is_flag=True, help="Ask a live server even where CI is set.")
def record_command(  # noqa: PLR0913 - one argument for each option
    *,
    url: str,
    prompts: Path | None,
    scenario: str,
    headers: Sequence[str],
    options: Sequence[str],
    key_env: str,
    proxy: int | None,
    upstream: str,
    again: Path | None,
    write: bool,
    mode: str,
    provider: str,
    source: str,
    **rest: Any,  # noqa: ANN401 - the other options, as Asking types them
) -> int:
    """Record from a live or local server: `record URL`, `--proxy PORT`, or `--refresh CASSETTE`."""
    ways = [bool(url), proxy is not None, again is not None]
    if ways.count(True) != 1:
        raise UsageError(
            "expected one of URL, --proxy and --refresh",
            hint="harness record URL --prompts FILE; harness record --proxy 8080 --upstream URL",
        )
    sent = tuple(_parse_headers(headers, key_env))
    about = RecordingLabels(provider=provider, model=rest["model"], source=source)
    if again is not None:
        return refresh(again, upstream, sent, write=write, allow_in_ci=rest["allow_in_ci"])
    if proxy is not None:
        path = _proxy_path(rest["output"])
        recorder = Recorder(path, mode=mode, about=about, allow_in_ci=rest["allow_in_ci"])
        return _serve_proxy(recorder, upstream, proxy)
    asking_of = RecordOptions(
        url=_complete_address(url, rest["dialect"]),
        headers=sent,
        options=dict(map(_parse_option, options)),
        about=about,
        **rest,
    )
    return _record_requests(asking_of, prompts, scenario)


def _record_requests(how: RecordOptions, prompts: Path | None, scenario: str) -> int:
    if (prompts is None) == (not scenario):
        raise UsageError(
            "expected either --prompts FILE or --scenario ID", hint="Say what to ask the server."
        )
    asked = tuple(
        _scenario_requests(how, scenario) if prompts is None else _prompt_requests(how, prompts)
    )
    count = len(asked) * how.repeat
    click.echo(f"asking {marked(how.url)}: {count} requests", err=True)
    for turn in range(how.repeat):
        for each in asked:
            name = safe_name(each.id) + (f"-{turn + 1}" if how.repeat > 1 else "")
            click.echo(_record_one(how, each, name))
    return 0


def _record_one(how: RecordOptions, asked: _RecordRequest, name: str) -> str:
    """Ask once, and write the cassette and the scenario; return the line that says so."""
    about = msgspec.structs.replace(
        how.about, prompt=asked.prompt, dialect=how.dialect, tools=asked.tools, due=asked.due
    )
    path = how.output / f"{name}.yaml"
    with (
        Recorder(path, mode=RecordMode.ALL, about=about, allow_in_ci=how.allow_in_ci) as recorder,
        upstream_response(recorder, asked.request) as answer,
    ):
        size = sum(map(len, answer.reads()))
    cassette = load_cassette(path, named_folder(path, "cassettes") or how.output)
    ended = cassette.interactions[0].ended
    if how.scenarios is not None:
        write_scenario(cassette, how.scenarios / f"{name}.yaml")
    broken = "" if ended == "complete" else f", {ended}"
    return marked(f"{path}: status {answer.head.status}, {size} bytes{broken}")


def _prompt_requests(how: RecordOptions, path: Path) -> Iterator[_RecordRequest]:
    for asked, request in prompt_requests(
        load_prompts(path), how.url, how.dialect, how.model, how.options
    ):
        yield _RecordRequest(
            asked.id, _with_headers(request, how), asked.prompt, asked.described_tools
        )


def _scenario_requests(how: RecordOptions, name: str) -> Iterator[_RecordRequest]:
    """Yield the requests of a scenario's cassette, asked of the server at hand."""
    root = bundled_folder("scenarios")
    path = Path(name) if Path(name).is_file() else root / f"{name}.yaml"
    scenario = load_scenario(path, root)
    cassette = resolve_cassette(Path(scenario.cassette))
    for place, each in enumerate(cassette.interactions):
        asked = read_request(each.dialect, each.request)
        if not asked.tools_known or each.dialect != how.dialect:
            raise UsageError(
                f"interaction {place} keeps no request in the dialect {how.dialect}",
                where=scenario.cassette,
                hint="Name a scenario of a recorded cassette, and its dialect with --dialect.",
            )
        body = msgspec.json.decode(each.request.body)
        if not body.get("messages"):
            raise UsageError("its request has no messages to ask with", where=scenario.cassette)
        body |= {"stream": True, **({"model": how.model} if how.model else {}), **how.options}
        request = _with_headers(Request("POST", how.url, (), msgspec.json.encode(body)), how)
        own = f"{scenario.id}-{place}"
        yield _RecordRequest(own, request, cassette.prompt, cassette.tools, cassette.due)


def _with_headers(request: Request, how: RecordOptions) -> Request:
    headers = (("content-type", "application/json"), ("accept-encoding", "identity"), *how.headers)
    return msgspec.structs.replace(request, headers=headers)


def _serve_proxy(recorder: Recorder, upstream: str, port: int) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        recorder,
        RecordingProxy(recorder, upstream, port=port) as proxy,
        suppress(KeyboardInterrupt),
    ):
        click.echo(f"asking {marked(upstream)} for each request", err=True)
        click.echo(proxy.base_url)
        threading.Event().wait()
    click.echo(marked(f"{recorder.path}: {recorder.count} interactions recorded"))
    return 0


def _proxy_path(output: Path) -> Path:
    return output if output.suffix in {".yaml", ".yml"} else output / "proxy.yaml"


def _complete_address(url: str, dialect: str) -> str:
    check_address(url)
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=_PATHS[dialect])) if parts.path in {"", "/"} else url


def _parse_headers(given: Sequence[str], key_env: str) -> Iterator[tuple[str, str]]:
    for each in given:
        name, colon, value = each.partition(":")
        if not colon or not name.strip():
            raise UsageError(f"expected --header NAME:VALUE, found {name[:40]!r} without a colon")
        yield name.strip(), value.strip()
    if key_env:
        key = os.environ.get(key_env)
        if not key:
            raise UsageError(
                f"the variable {key_env} is not set", hint="Export it, or drop --key-env."
            )
        yield "authorization", f"Bearer {key}"


def _parse_option(given: str) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    try:
        return name, msgspec.json.decode(value if equals else "")
    except msgspec.DecodeError:
        raise UsageError(
            f"expected --option KEY=JSON, found {given!r}", hint="Such as --option temperature=0.7"
        ) from None
