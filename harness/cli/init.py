"""`harness init`: write the files with which a repository tests its client, including a gate."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from harness import shipped
from harness.cli.new import cassette_of_quirk, write_scenario
from harness.cli.run_files import require_writable, writing
from harness.errors import HarnessError, UsageError
from harness.files.load import load_toml_file, read_file
from harness.files.write import write_file
from harness.normalizers.discovery import GROUP, installed_normalizer_names
from harness.normalizers.gateway.settings import settings_of
from harness.normalizers.registry import entry_points_of
from harness.project import FILE, MAX_BYTES, PLAIN_FILE
from harness.reporting.visible import marked
from harness.results.catalogue import load_catalogue
from harness.runs.declared import declared_normalizer
from harness.starters import starter_for
from harness.starters.address import DISTRIBUTION, install_address
from harness.wire import cassette_file

_SKELETON: Final = "conformance_client"
_GATEWAY: Final = "gateway:"
_COMMAND: Final = "client:"
_UPSTREAM: Final = 8045
_DEFAULT_DIALECT: Final = "openai-chat"
# What the first scenario shows: a client that takes the empty name loses the call.
_QUIRK: Final = "DELTA-ID-EMPTY-LATER"
_QUIRK_OPTIONS: Final = ("later_id=empty", "later_name=empty")

_CLIENT: Final = '''"""The client under test: it gets the recorded reads of one response."""

from harness.normalizers import sdk

# The exceptions with which your client reports a failed turn. Any other one is a crash. If only one
# call is unusable, yield sdk.withheld_call for it, and keep the rest of the turn.
FAILURES = (OSError,)


def call_my_client(base_url):
    """Send one streaming request to base_url with your client, without retries."""
    raise NotImplementedError("call your client here, and return what it returns")


def normalize(interaction, reads):
    """Give the reads to your client, and yield what it returns as deltas.

    chat_deltas reads chunks and completions of the form of OpenAI's chat completions, as objects
    or dicts. For any other form, yield TextDelta, sdk.handed_call and sdk.finish_delta.
    """
    with sdk.replay_server(interaction, reads) as base_url:
        try:
            yield from sdk.chat_deltas(call_my_client(base_url))
        except FAILURES as problem:
            yield sdk.failure_delta(problem)
'''

_TEST: Final = """from harness import conformance_suite

test_conformance = conformance_suite("{name}")
"""

_WORKFLOW: Final = """name: conformance
on: [push, pull_request]
permissions: {{contents: read}}
jobs:
  conformance:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
    - uses: actions/setup-python@v5
      with: {{python-version: "3.12"}}
    - run: pip install {packages}
{toolchain}    # The history of earlier runs, with which this one is compared.
    - uses: actions/cache@v4
      with:
        path: reports/runs
        key: conformance-${{{{ github.ref }}}}-${{{{ github.run_id }}}}
        restore-keys: |
          conformance-${{{{ github.ref }}}}-
          conformance-
    - run: harness run
    - if: always()
      run: harness report
    - if: always()
      uses: actions/upload-artifact@v4
      with: {{name: conformance, path: reports}}
"""


class _Client(msgspec.Struct, frozen=True):
    """The client under test for which the files are written.

    Fields:
        target: the client as `module:callable`, `gateway:URL` or `client:COMMAND`.
        dialects: the dialects of the client; empty if it cannot be imported yet.
        extra: the extra of this package that installs its dependencies; "" for none.
        problem: why the client cannot be imported yet; "" if it can.
    """

    target: str
    dialects: tuple[str, ...] = ()
    extra: str = ""
    problem: str = ""

    @property
    def dialect(self) -> str:
        """The dialect of the first scenario that the command writes."""
        is_default = not self.dialects or _DEFAULT_DIALECT in self.dialects
        return _DEFAULT_DIALECT if is_default else self.dialects[0]


@click.command("init")
@click.argument("target", required=False, metavar="[CLIENT]")
@click.option("--name", default="ours", show_default=True, help="Name of the client in results.")
def init_command(target: str | None, *, name: str) -> None:
    """Write the files with which the repository in this folder tests CLIENT.

    CLIENT is the module:callable of a normalizer, the name of a bundled adapter, such as
    openai-sdk, or gateway:URL, an endpoint of a gateway. Default: a new file that you complete, in
    the language of the repository: conformance_client.py, or a driver if there is a package.json,
    go.mod, Cargo.toml, pom.xml, build.gradle or a project of .NET. The other files are the table
    [tool.harness] in pyproject.toml, or harness.toml for another language, a test in Python, a
    workflow of GitHub Actions, and a first scenario with its cassette. Existing files are kept.
    """
    root = Path.cwd()
    require_writable(root, "Change to a folder that can be written to.")
    starter = starter_for(root) if target is None else None
    client = _client(f"client:{starter.command}") if starter else _client(target)
    packages = _packages(root, client, is_python=starter is None)
    toolchain = starter.toolchain if starter else ""
    workflow = _WORKFLOW.format(packages=packages, toolchain=toolchain)
    new = starter.texts if starter else {} if target else {f"{_SKELETON}.py": _CLIENT}
    test = {} if starter else {"tests/test_conformance.py": _TEST.format(name=name)}
    files = {**new, **test, ".github/workflows/conformance.yml": workflow}
    _add_table(root / (PLAIN_FILE if starter else FILE), client, name)
    for path, text in files.items():
        _write_new(Path(path), text)
    _write_scenario(client.dialect)
    for line in _next_lines(client, to_complete=next(iter(new), ""), is_python=starter is None):
        click.echo(line, err=True)


def _client(target: str | None) -> _Client:
    """Return the client called `target`, even if it cannot be imported yet.

    Raises:
        UsageError: `target` is neither `module:callable` nor a bundled adapter.
    """
    if target is None:
        return _Client(f"{_SKELETON}:normalize", (_DEFAULT_DIALECT,))
    spec = target
    if target.startswith(_GATEWAY):
        settings_of(f"{target.removeprefix(_GATEWAY)} upstream={_UPSTREAM}", None)
        return _Client(target, (_DEFAULT_DIALECT,))
    if target.startswith(_COMMAND):
        return _Client(target, (_DEFAULT_DIALECT,))
    if ":" not in target:
        points = entry_points_of(GROUP, ()).get(target, ())
        if not points:
            known = ", ".join(installed_normalizer_names())
            hint = f"Pass module:callable, such as mypackage.llm:normalize, or one of {known}."
            raise UsageError(f"unknown client {target!r}", where="CLIENT", hint=hint)
        spec = points[0].value
    try:
        found = declared_normalizer(target)
    except HarnessError as error:
        return _Client(spec, problem=str(error))
    return _Client(spec, tuple(sorted(found.dialects)), found.extra)


def _packages(root: Path, client: _Client, *, is_python: bool) -> str:
    """Return the packages for pip: this package, and the repository if it is a package itself."""
    extra = f" '{DISTRIBUTION}[{client.extra}]'" if client.extra else ""
    ours = f'"{install_address()}"{extra}'
    if not is_python:
        return ours
    table = _toml(root / FILE)
    is_package = "project" in table or "build-system" in table or (root / "setup.py").exists()
    return f"{ours} pytest -e ." if is_package else f"{ours} pytest"


def _toml(path: Path) -> dict[str, Any]:
    return load_toml_file(path, most=MAX_BYTES) if path.is_file() else {}


def _add_table(path: Path, client: _Client, name: str) -> None:
    """Append [tool.harness] to the file, unless it has one; or write harness.toml."""
    if path.name == PLAIN_FILE:
        _write_new(Path(path.name), _table_text(client, name, ""))
        return
    tool = _toml(path).get("tool")
    if isinstance(tool, dict) and "harness" in tool:
        click.echo(f"kept   {path.name}: it has [tool.harness]")
        return
    before = read_file(path).decode() if path.is_file() else ""
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    with writing(path):
        write_file(path, f"{before}{gap}{_table_text(client, name, 'tool.harness')}".encode())
    click.echo(f"wrote  {path.name}: [tool.harness]")


def _table_text(client: _Client, name: str, table: str) -> str:
    """Return the declarations in `table`, or at the top of a file if it is ""."""
    lines = [
        *([f"[{table}]"] if table else []),
        'paths = ["bundled", "scenarios"]',
        'set = "smoke"  # few streams that show most faults; remove the line to play all of them',
        'cuts = "quick"  # "standard" splits each body in more places, and takes longer',
    ]
    if len(client.dialects) == 1:
        lines.append(f'select = "dialect:{client.dialects[0]}"')
    inner = ".".join(filter(None, (table, "normalizers", name)))
    lines += ["", f"[{inner}]", f'target = "{client.target}"']
    if client.target.startswith(_GATEWAY):
        lines += [
            'dialects = ["openai-chat"]  # what the gateway asks',
            f"upstream = {_UPSTREAM}  # its provider is http://127.0.0.1:{_UPSTREAM}/v1",
            'model = "replay"  # as the gateway calls it',
        ]
    lines.append("")
    return "\n".join(lines)


def _write_new(path: Path, text: str) -> None:
    """Write a file, unless it exists."""
    if path.exists():
        click.echo(f"kept   {marked(str(path))}: it exists")
        return
    with writing(path):
        write_file(path, text.encode())
    click.echo(f"wrote  {marked(str(path))}")


def _write_scenario(dialect: str) -> None:
    """Write the first scenario and its cassette, unless one of the two files exists."""
    options = _QUIRK_OPTIONS if dialect == _DEFAULT_DIALECT else ()
    cassette = cassette_of_quirk(_QUIRK, dialect, "first", options)
    stored = Path("cassettes", f"{cassette.id}.yaml")
    scenario = Path("scenarios", "first.yaml")
    existing = [path for path in (stored, scenario) if path.exists()]
    if existing:
        click.echo(f"kept   {marked(str(existing[0]))}: it exists")
        return
    quirks = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    shown = (_QUIRK,) if options else ()
    with writing(stored):
        cassette_file.save_cassette(cassette, stored)
    with writing(scenario):
        write_scenario(cassette, scenario, quirks[_QUIRK].title if shown else "", shown)
    click.echo(f"wrote  {stored}\nwrote  {scenario}")


def _next_lines(client: _Client, *, to_complete: str, is_python: bool) -> Iterator[str]:
    yield "Next:"
    if to_complete:
        yield f"  Complete the function in {to_complete} that calls your client."
    elif client.problem:
        first, *more = client.problem.splitlines()
        yield f"  Fix the import of the client: {marked(first)}"
        yield from (f"  {marked(line)}" for line in more)
    yield "  harness doctor               checks this project, and plays ten plain responses"
    yield "  harness run                  judges the client by few streams, and writes a report"
    yield "  harness run --set ''         judges it by all streams"
    yield "  harness run --accept-new     accepts today's failures, so that only new ones fail"
    if is_python:
        yield "  pytest                       judges the same cells as tests"
    yield "Add reports/ to .gitignore, and commit the rest."
