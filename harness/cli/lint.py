"""`harness lint`: report where the streams of a server violate the documentation of its API."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from harness.checks.lint import LintFinding, LintReport, lint_cassettes
from harness.checks.lint_prompts import lint_prompts
from harness.checks.openresponses import (
    CHECKS,
    PROFILE,
    SCHEMA,
    ProfileCheck,
    ProfileReport,
    compacted_output,
    judge_profile,
)
from harness.checks.openresponses_sessions import run_session_checks
from harness.cli import EXIT_GATE_FAILED, EXIT_NOTHING_SELECTED, EXIT_USAGE, print_error
from harness.cli.cassette_options import dialect_option
from harness.cli.options import echo_result, format_option, output_option
from harness.cli.record import (
    PATHS,
    RecordOptions,
    api_address,
    iter_prompt_requests,
    iter_recorded,
    parse_headers,
)
from harness.errors import UnreadableError, UsageError
from harness.files.load import load_yaml_file
from harness.files.walk import is_yaml, walk_files
from harness.judging.contract.table import chosen_clients
from harness.recording.prompt_set import load_prompts
from harness.recording.recorder.options import RecordingLabels
from harness.reporting.visible import markdown_code, markdown_table, markdown_text, marked, plain
from harness.results.catalogue import load_catalogue
from harness.results.finding import LEVELS, Level
from harness.shipped import bundled_folder
from harness.turns.exact_json import encode_json
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Request
from harness.wire.prompt_tools import read_prompt_tools
from harness.wording import pluralize


@click.command("lint")
@click.argument(
    "paths", nargs=-1, type=click.Path(path_type=Path, exists=True), metavar="[CASSETTE]..."
)
@click.option("--url", default="", help="Record streams of this server, and judge those.")
@click.option("--model", default="", help="Model to request with --url.")
@click.option(
    "--prompts",
    type=click.Path(path_type=Path),
    help="File of prompts to send with --url. Default: one for each form of an answer.",
)
@click.option(
    "--tools",
    type=click.Path(path_type=Path, exists=True),
    help="File with a list of your tools, which one more request of --url offers.",
)
@click.option(
    "--header", "headers", multiple=True, metavar="NAME:VALUE", help="Header to send. Repeatable."
)
@click.option("--key-env", default="", metavar="NAME", help="Variable with the bearer key.")
@output_option("Folder for the cassettes of --url.", default="recorded/lint")
@click.option("--allow-in-ci", is_flag=True, help="Connect to --url even if CI is set.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="SHOULD",
    show_default=True,
    help="Lowest level to report. MAY includes the forms that the reference documents.",
)
@click.option(
    "--profile",
    type=click.Choice((PROFILE,)),
    help="Run the checks of the suite of this specification on --url instead.",
)
@click.option(
    "--for",
    "clients",
    default="",
    metavar="CLIENTS",
    help="List only what is known to break these clients, such as openai-python,koog.",
)
@dialect_option("Judge by the contract of this API; with --url, send its requests.")
@format_option("pretty", "json", "markdown")
def lint_command(
    paths: tuple[Path, ...],
    *,
    url: str,
    dialect: str | None,
    level: Level,
    style: str,
    **sending: Any,  # noqa: ANN401 - `_recorded` has their types
) -> int:
    """List the deviations of streams from the contract of their API, with their bytes.

    CASSETTE is a file or a folder of cassettes. The level of a deviation is MUST if the reference
    of the API forbids it or the stream has no clear meaning, SHOULD if clients are known to fail on
    it, and MAY if the reference documents the form. The command exits with code 1 if there is a
    deviation with the level MUST, with code 2 if a file cannot be used, and with code 5 if no
    stream was judged. With --for, it exits with code 1 if there is anything that breaks one of the
    clients.
    """
    if bool(paths) == bool(url):
        raise UsageError("expected either cassettes or --url", hint="Run `harness lint --help`.")
    _require_used(sending, url)
    if sending.pop("profile"):
        return _run_profile(url, style, **sending)
    chosen = chosen_clients(sending.pop("clients"))
    catalogue = load_catalogue(bundled_folder("catalogue") / "quirks")
    unreadable: list[Path] = []
    loaded = _loaded(list(_files(paths)), dialect, unreadable)
    cassettes = loaded if paths else _recorded(url, dialect, **sending)
    found = lint_cassettes(cassettes, catalogue, level)
    if chosen:
        found = found.breaking(chosen)
    echo_result(style, found, _markdown(found) if style == "markdown" else _lines(found))
    if found.findings if chosen else found.with_level("MUST"):
        return EXIT_GATE_FAILED
    if unreadable:
        return EXIT_USAGE
    return 0 if found.streams else EXIT_NOTHING_SELECTED


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from map(Path, walk_files(str(path), is_yaml))
        else:
            yield path


def _loaded(
    files: Sequence[Path], dialect: str | None, unreadable: list[Path]
) -> Iterator[tuple[str, Cassette]]:
    """Yield the readable cassettes; print errors of other files, and add them to `unreadable`."""
    for path in files:
        try:
            cassette = load_cassette(path)
        except UnreadableError as error:
            print_error(error)
            unreadable.append(path)
            continue
        yield str(path), cassette.with_each(dialect=dialect) if dialect else cassette


def _recorded(  # noqa: PLR0913 - one argument for each option
    url: str,
    dialect: str | None,
    *,
    model: str,
    prompts: Path | None,
    tools: Path | None,
    headers: Sequence[str],
    key_env: str,
    output: Path,
    allow_in_ci: bool,
) -> Iterator[tuple[str, Cassette]]:
    api = dialect or "openai-chat"
    if api not in PATHS:
        known = ", ".join(sorted(PATHS))
        raise UsageError(
            f"cannot send requests of the dialect {api!r}",
            where="--dialect",
            hint=f"Record with `harness record --proxy`, or choose one of: {known}.",
        )
    config = RecordOptions(
        url=api_address(url, api),
        dialect=api,
        model=model,
        headers=tuple(parse_headers(headers, key_env)),
        options={},
        about=RecordingLabels(model=model, dialect=api),
        output=output,
        scenarios=None,
        repeat=1,
        allow_in_ci=allow_in_ci,
    )
    asked = load_prompts(prompts) if prompts else lint_prompts(api, _own_tools(tools))
    requests = tuple(iter_prompt_requests(config, asked))
    for (path, line), (_, request, _) in zip(
        iter_recorded(config, requests), requests, strict=True
    ):
        click.echo(line, err=True)
        yield str(path), _answered(path, request)


def _answered(path: Path, request: Request) -> Cassette:
    """Return a cassette without answers that earlier runs left in it, such as of other servers."""
    cassette = load_cassette(path)
    sent = (request.uri, request.body)
    own = tuple(it for it in cassette.interactions if (it.request.uri, it.request.body) == sent)
    return msgspec.structs.replace(cassette, interactions=own or cassette.interactions[-1:])


def _require_used(given: Mapping[str, Any], url: str) -> None:
    """Refuse an option that would have no effect.

    Raises:
        UsageError: an option is given that another one excludes, or that needs --url.
    """
    for name in ("prompts", "tools", "clients"):
        option = {"clients": "for"}.get(name, name)
        if given["profile"] and given[name]:
            raise UsageError(f"--{option} has no effect with --profile", hint="Leave one out.")
    if given["prompts"] and given["tools"]:
        raise UsageError("--tools has no effect with --prompts", hint="Add the tools to the file.")
    for name in ("prompts", "tools"):
        if given[name] and not url:
            raise UsageError(f"--{name} needs --url", hint="Run `harness lint --help`.")


def _own_tools(path: Path | None) -> tuple[Tool, ...]:
    if path is None:
        return ()
    given = load_yaml_file(path, hint="Check --tools.")
    return msgspec.convert(read_prompt_tools(given, str(path)), tuple[Tool, ...])


def _run_profile(url: str, style: str, **sending: Any) -> int:  # noqa: ANN401 - as above
    """Send the requests of Open Responses, print the results, and return the exit code."""
    if not url:
        raise UsageError("--profile needs --url", hint="Name the address of `/responses`.")
    labels = RecordingLabels(model=sending["model"], dialect="openai-responses")
    config = RecordOptions(
        url=url,
        dialect="openai-responses",
        model=sending["model"],
        headers=tuple(parse_headers(sending["headers"], sending["key_env"])),
        options={},
        about=labels,
        output=sending["output"],
        scenarios=None,
        repeat=1,
        allow_in_ci=sending["allow_in_ci"],
    )
    requests = [(each.id, _profile_request(each, config), labels) for each in CHECKS]
    recorded = zip(iter_recorded(config, requests), requests, strict=True)
    answers = [_answered(path, sent).interactions[-1] for (path, _), (_, sent, _) in recorded]
    sessions = run_session_checks(
        config.url, config.headers, config.model, compacted_output(answers)
    )
    report = ProfileReport(SCHEMA, PROFILE, (*judge_profile(answers), *sessions))
    echo_result(style, report, _profile_lines(report))
    has_failed = any(each.status == "failed" for each in report.results)
    return EXIT_GATE_FAILED if has_failed else 0


def _profile_request(check: ProfileCheck, config: RecordOptions) -> Request:
    model = {"model": config.model} if check.has_model else {}
    return Request("POST", f"{config.url}{check.path}", (), encode_json({**model, **check.body}))


def _profile_lines(report: ProfileReport) -> Iterator[str]:
    for each in report.results:
        yield f"{each.status:<8}  {each.id}"
        yield from (f"          {plain(problem)}" for problem in each.problems)
    counts = Counter(each.status for each in report.results)
    yield ", ".join(f"{count} {status}" for status, count in counts.items())


def _lines(found: LintReport) -> Iterator[str]:
    for group in _grouped(found):
        first = group[0]
        unclear = ", ambiguous" if first.ambiguous else ""
        yield f"{first.level:<6}  {first.quirk}: {_title(group)} ({first.severity}{unclear})"
        streams = pluralize(_streams(group), "stream")
        yield f"        {streams}, the first {_place(first)}:"
        yield f"        {marked(first.bytes)}"
        yield f"        {first.send}"
        yield from (f"        fails: {plain(each)}" for each in _clients(group))
        yield f"        {first.sources[0]}"
    for skipped in found.skipped:
        yield f"not judged: {plain(skipped.place)}#{skipped.interaction}: {plain(skipped.why)}"
    yield from (f"checked: {each}" for each in found.checked)
    yield from (f"not checked: {each}" for each in found.unchecked)
    yield _summary(found)


def _grouped(found: LintReport) -> Iterator[list[LintFinding]]:
    """Yield the findings of each kind; a member that several objects lack is one kind."""
    groups: dict[tuple[str, str, str, bool], list[LintFinding]] = {}
    for each in found.findings:
        duty = each.quirk.rpartition(".")[2]
        key = (each.level, duty, each.dialect, each.ambiguous)
        groups.setdefault(key, []).append(each)
    yield from groups.values()


def _title(group: Sequence[LintFinding]) -> str:
    more = len({each.quirk for each in group}) - 1
    return group[0].title + (f", and in {pluralize(more, 'other object')}" if more else "")


def _streams(group: Sequence[LintFinding]) -> int:
    return len({(each.place, each.interaction) for each in group})


def _clients(group: Sequence[LintFinding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(client for each in group for client in each.clients))


def _place(finding: LintFinding) -> str:
    where = f"{plain(finding.place)}#{finding.interaction}"
    return f"{where} ({finding.dialect}) at byte {finding.offset}"


def _summary(found: LintReport) -> str:
    counts = ", ".join(
        f"{len(found.with_level(level))} {level}" for level in LEVELS if found.with_level(level)
    )
    skipped = f", {len(found.skipped)} not judged" if found.skipped else ""
    clean = "no deviations in what was checked" if found.streams else "nothing was judged"
    clean = "no deviations of the level shown" if found.hidden else clean
    hidden = f", {found.hidden} below it" if found.hidden else ""
    return f"{pluralize(found.streams, 'stream')}{skipped}: {counts or clean}{hidden}"


def _markdown(found: LintReport) -> Iterator[str]:
    yield f"**{_summary(found)}**"
    if found.findings:
        yield ""
        yield markdown_table(
            ("level", "deviation", "streams", "first", "bytes", "send instead", "fails"),
            (
                (
                    group[0].level,
                    f"{markdown_code(group[0].quirk)} {markdown_text(_title(group))}",
                    str(_streams(group)),
                    markdown_text(_place(group[0])),
                    markdown_code(group[0].bytes).replace("|", "\\|"),
                    f"{group[0].send} ([reference]({group[0].sources[0]}))",
                    markdown_text("; ".join(_clients(group))),
                )
                for group in _grouped(found)
            ),
        )
    if found.checked or found.unchecked:
        yield ""
    yield from (f"- checked: {each}" for each in found.checked)
    yield from (f"- not checked: {each}" for each in found.unchecked)
