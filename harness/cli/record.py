"""`harness record`: record the streams of a real server as cassettes without secrets.

It has three modes: new requests to an address, a proxy for any client, and the requests of a
cassette again. It prints each address before it connects, and in CI it connects only if the user
allows that.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit, urlunsplit

import click
import msgspec

from harness.cli.cassette_options import resolve_cassette
from harness.cli.new import write_scenario
from harness.cli.options import output_option, safe_name, wait_for_interrupt
from harness.cli.refresh import refresh, with_recovered
from harness.cli.run_files import claim_cassette
from harness.dialects.table import DIALECTS, read_request
from harness.errors import HarnessError, UsageError
from harness.judging.scenario_file import load_scenario
from harness.recording.prompt_set import PromptEntry, load_prompts, prompt_requests
from harness.recording.proxy import RecordingProxy, parse_upstream
from harness.recording.recorder import Recorder
from harness.recording.recorder.options import MODES, RecordingLabels, RecordMode
from harness.recording.secrets.credentials import scrub_address
from harness.recording.upstream import check_address, upstream_response
from harness.reporting.visible import marked
from harness.runs.selection import named_folder
from harness.shipped import bundled_folder
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Headers, Request
from harness.wording import pluralize

# The seconds between two attempts to write to a full disk, and the time without writing, in units
# of the time that the last writing took.
_SAVE_SECONDS: Final = 5.0
_SAVE_SHARE: Final = 10.0
# Path of the API of each dialect on a server.
PATHS: Final = {row.name: row.record_path for row in DIALECTS.values() if row.record_path}


class RecordOptions(msgspec.Struct, frozen=True):
    """The options of the mode that sends new requests."""

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


# The id, which names the cassette, the request, and the labels that the cassette gets.
LabelledRequest: TypeAlias = tuple[str, Request, RecordingLabels]


@click.command("record")
@click.argument("url", required=False, default="")
@click.option("--prompts", type=click.Path(path_type=Path), help="File of prompts to send.")
@click.option("--scenario", default="", help="Send the requests of the cassette of this scenario.")
@click.option(
    "--repeat",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    help="How often to send each request.",
)
@click.option("--model", default="", help="Model to request. Default: that of the scenario.")
@click.option(
    "--dialect",
    type=click.Choice(sorted(PATHS)),
    default="openai-chat",
    show_default=True,
    help="API to send requests to.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=JSON",
    help="Member to set in each request body. Repeatable.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="Header to send, which is never recorded. Repeatable.",
)
@click.option("--key-env", default="", metavar="NAME", help="Variable with the bearer key.")
@click.option(
    "--proxy", type=click.IntRange(0, 65_535), metavar="PORT", help="Run a proxy; 0 for any port."
)
@click.option(
    "--upstream", default="", metavar="URL", help="Server to use with --proxy or --refresh."
)
@click.option(
    "--refresh",
    "again",
    type=click.Path(path_type=Path),
    metavar="CASSETTE",
    help="Send the requests of this cassette again, and print what changed.",
)
@click.option("--write", is_flag=True, help="Let --refresh replace the cassette.")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default="all",
    show_default=True,
    help="Recording mode of the proxy.",
)
@output_option(
    "Folder for cassettes; with --proxy also one .yaml file.", default="recorded", is_folder=False
)
@click.option(
    "--scenarios", type=click.Path(path_type=Path), help="Folder for drafts of scenarios."
)
@click.option("--provider", default="", help="Provider label. Default: detected from the address.")
@click.option("--source", default="", help="Server and version, for the origin of the cassette.")
@click.option("--allow-in-ci", is_flag=True, help="Connect to live servers even if CI is set.")
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
    **rest: Any,  # noqa: ANN401 - RecordOptions has their types
) -> int:
    """Record cassettes: `record URL`, `record --proxy PORT` or `record --refresh CASSETTE`."""
    if [bool(url), proxy is not None, again is not None].count(True) != 1:
        raise UsageError(
            "expected one of URL, --proxy and --refresh",
            hint="Run harness record URL --prompts FILE, or "
            "harness record --proxy 8080 --upstream URL.",
        )
    sent, allow_in_ci = tuple(parse_headers(headers, key_env)), rest["allow_in_ci"]
    if again is not None:
        return refresh(again, upstream, sent, write=write, allow_in_ci=allow_in_ci)
    about = RecordingLabels(provider=provider, model=rest["model"], source=source)
    if proxy is not None:
        output = rest["output"]
        path = output if output.suffix in {".yaml", ".yml"} else output / "proxy.yaml"
        if path.exists() and mode == RecordMode.ALL.value:
            claim_cassette(path.parent, path, "recorded")
        parse_upstream(upstream)
        recorder = Recorder(path, mode=mode, labels=about, allow_in_ci=allow_in_ci)
        return _serve_proxy(with_recovered(recorder), upstream, proxy)
    url = api_address(url, rest["dialect"])
    members = dict(map(_parse_option, options))
    about = msgspec.structs.replace(about, dialect=rest["dialect"])
    config = RecordOptions(url=url, headers=sent, options=members, about=about, **rest)
    return _record_requests(config, prompts, scenario)


def api_address(url: str, dialect: str) -> str:
    """Return the address of the API of `dialect` at the server `url`; or `url` if it has a path.

    Raises:
        UsageError: `url` is not the address of an HTTP server.
    """
    check_address(url)
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=PATHS[dialect])) if parts.path in {"", "/"} else url


def _record_requests(config: RecordOptions, prompts: Path | None, scenario: str) -> int:
    if (prompts is None) == (not scenario):
        raise UsageError(
            "expected either --prompts FILE or --scenario ID", hint="Choose the requests to send."
        )
    found = (
        iter_prompt_requests(config, load_prompts(prompts))
        if prompts
        else _scenario_requests(config, scenario)
    )
    for _, line in iter_recorded(config, tuple(found)):
        click.echo(line)
    return 0


def iter_recorded(
    config: RecordOptions, requests: Sequence[LabelledRequest]
) -> Iterator[tuple[Path, str]]:
    """Send requests, and yield the path of each new cassette and a line about the result."""
    count = len(requests) * config.repeat
    place = marked(scrub_address(config.url))
    click.echo(f"connecting to {place}: {pluralize(count, 'request')}", err=True)
    for turn in range(config.repeat):
        for each in requests:
            yield _record_one(config, *each, f"-{turn + 1}" if config.repeat > 1 else "")


def _record_one(
    config: RecordOptions, own: str, request: Request, about: RecordingLabels, suffix: str
) -> tuple[Path, str]:
    """Send one request, write its cassette and scenario, and return the path and a result line."""
    name = safe_name(own) + suffix
    headers = (("content-type", "application/json"), ("accept-encoding", "identity"))
    sent = msgspec.structs.replace(request, headers=(*headers, *config.headers))
    path = config.output / f"{name}.yaml"
    draft = config.scenarios / path.name if config.scenarios is not None else None
    if draft is not None and draft.exists():
        raise UsageError("file already exists", where=str(draft), hint="Choose another folder.")
    claim_cassette(config.output, path, "recorded")
    new = Recorder(path, mode=RecordMode.ALL, labels=about, allow_in_ci=config.allow_in_ci)
    with with_recovered(new) as recorder, upstream_response(recorder, sent) as answer:
        size = sum(map(len, answer.reads()))
    cassette = load_cassette(path, named_folder(path, "cassettes") or config.output)
    ended = cassette.interactions[0].ended
    if draft is not None:
        write_scenario(cassette, draft)
    broken = "" if ended == "complete" else f", {ended}"
    return path, marked(f"{path}: status {answer.head.status}, {size} bytes{broken}")


def iter_prompt_requests(
    config: RecordOptions, prompts: Sequence[PromptEntry]
) -> Iterator[LabelledRequest]:
    """Yield a request for each entry of a file of prompts."""
    api = (config.url, config.dialect, config.model)
    for entry, request in prompt_requests(prompts, *api, config.options):
        labels = {"prompt": entry.prompt, "tools": entry.described_tools}
        yield entry.id, request, msgspec.structs.replace(config.about, **labels)


def _scenario_requests(config: RecordOptions, name: str) -> Iterator[LabelledRequest]:
    """Yield the requests in the cassette of the scenario `name`, addressed to this server."""
    root = bundled_folder("scenarios")
    path = Path(name) if Path(name).is_file() else root / f"{name}.yaml"
    scenario = load_scenario(path, root)
    cassette = resolve_cassette(Path(scenario.cassette))
    labels = {name: getattr(cassette, name) for name in ("prompt", "tools", "due")}
    about = msgspec.structs.replace(config.about, **labels)
    for place, each in enumerate(cassette.interactions):
        recorded = read_request(each.dialect, each.request)
        if not recorded.tools_known or each.dialect != config.dialect:
            raise UsageError(
                f"interaction {place} has no recorded request in the dialect {config.dialect}",
                where=scenario.cassette,
                hint="Choose a scenario of a recorded cassette, and its dialect with --dialect.",
            )
        body = msgspec.json.decode(each.request.body)
        if not body.get("messages"):
            hint = "Choose a scenario whose request has the key `messages`."
            raise UsageError("the request has no messages", where=scenario.cassette, hint=hint)
        model = {"model": config.model} if config.model else {}
        body |= {"stream": True, **model, **config.options}
        request = Request("POST", config.url, (), msgspec.json.encode(body))
        yield f"{scenario.id}-{place}", request, about


def _serve_proxy(recorder: Recorder, upstream: str, port: int) -> int:
    recorder.open()
    try:
        with recorder, RecordingProxy(recorder, upstream, port=port) as proxy:
            click.echo(f"forwarding each request to {marked(scrub_address(upstream))}", err=True)
            wait_for_interrupt(proxy.base_url, proxy.limit_note, meanwhile=_Saver(recorder).save)
    finally:
        for line in _summary_lines(recorder):
            click.echo(marked(line))
    return 0


class _Saver:
    """Writes the cassette at times while the proxy records, in at most a tenth of the time."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._next = 0.0
        self._problem = ""

    def save(self) -> None:
        """Write the cassette if a new response ended, and print what cannot be written."""
        start = time.monotonic()
        if not self._recorder.unsaved or start < self._next:
            return
        problem: Exception | None = None
        try:
            self._recorder.checkpoint()
        except (OSError, HarnessError) as error:
            problem = error
        took = time.monotonic() - start
        self._next = start + max(_SAVE_SECONDS if problem else 0.0, _SAVE_SHARE * took)
        text = getattr(problem, "strerror", None) or str(problem or "")
        if text != self._problem:
            self._problem = text
            for line in _unwritten_lines(self._recorder.path, text):
                click.echo(marked(line), err=True)


def _unwritten_lines(path: Path, problem: str) -> Iterator[str]:
    if not problem:
        yield f"{path}: can be written again"
        return
    yield f"{path}: cannot be written: {problem}"
    yield "  Free disk space. The proxy goes on, and writes later what it records now."


def _summary_lines(recorder: Recorder) -> Iterator[str]:
    recorded = recorder.recorded
    yield f"{recorder.path}: {pluralize(len(recorded), 'interaction')} recorded"
    counts = Counter(f"status {each.status}, {each.ended}" for each in recorded)
    for what, count in (*counts.most_common(), *recorder.left_out().most_common()):
        yield f"{count:>8}  {what}"


def parse_headers(given: Sequence[str], key_env: str) -> Iterator[tuple[str, str]]:
    """Yield the headers that the user gave with the options --header and --key-env.

    Raises:
        UsageError: a header has no colon, or the environment variable is not set.
    """
    for each in given:
        name, colon, value = each.partition(":")
        if not colon or not name.strip():
            raise UsageError(
                f"expected --header NAME:VALUE, found {name[:40]!r} without a colon",
                hint="Write a colon after the name.",
            )
        yield name.strip(), value.strip()
    if key_env:
        key = os.environ.get(key_env)
        if not key:
            raise UsageError(
                f"the variable {key_env} is not set", hint="Export it, or remove --key-env."
            )
        yield "authorization", f"Bearer {key}"


def _parse_option(given: str) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    try:
        return name, msgspec.json.decode(value if equals else "")
    except msgspec.DecodeError:
        raise UsageError(
            f"expected --option KEY=JSON, found {given!r}", hint="Write --option temperature=0.7."
        ) from None
