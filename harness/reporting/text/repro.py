"""A script for the maintainers of a library: one failure, without this package.

It contains the bytes, the calls of the library, the expected result and the reason, and exits with
1 as long as the library fails. The calls are a module in `templates/repro/` with the name of the
adapter. It is copied and never imported, so it uses nothing but its library and the standard
library. It defines `PACKAGES`, the names on the package index; `drive(base_url)`, which returns
text, calls and finish reason as agent code gets them; and `DOCUMENTED`, the exceptions that the
library documents.
"""

import json
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pprint import pformat
from string import Template
from typing import Any, Final

from harness.errors import UsageError
from harness.files.names import did_you_mean
from harness.judging.catalogue import Quirk
from harness.judging.duties import load_duties
from harness.judging.results import Finding, Result
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking, split
from harness.wire.interaction import Interaction

_FOLDER: Final = resources.files("harness.reporting").joinpath("templates/repro")
# First part of a finding's path -> what the script compares. Of other parts it compares all.
_COMPARED: Final = {
    "text": ("text",),
    "calls": ("calls",),
    "parse_errors": ("calls",),
    "finish": ("finish",),
    "failure": ("failed",),
    "replay": (),  # an exception, which is always compared
}
_PART: Final = re.compile(r"(?:turns\[\d+\]\.)?([a-z_]*)")
_WIDTH: Final = 96


def reproducible_clients() -> tuple[str, ...]:
    """Return the names of the normalizers for which there are scripts."""
    names = (file.name for file in _FOLDER.iterdir() if file.name.endswith(".py"))
    return tuple(sorted(name.removesuffix(".py").replace("_", "-") for name in names))


def repro_script(
    result: Result,
    interaction: Interaction,
    chunking: Chunking,
    expected: Turn,
    catalogue: Mapping[str, Quirk],
) -> str:
    """Return the source of a script that shows the first finding of `result`.

    Args:
        result: of a cell that failed.
        interaction: the response on which it failed.
        chunking: the offsets at which the script splits the body.
        expected: the expected turn.
        catalogue: of the quirks that the rule's sources name.

    Raises:
        UsageError: there is no script for the client, or the failure is about a custom tool.
    """
    findings = [finding for finding in result.findings if finding.level == "MUST"]
    duty = load_duties()[findings[0].rule]
    driver = _driver(result.normalizer)
    _, _, body = driver.partition('"""\n\n')
    imports, _, code = body.partition("\n\n")
    packages = [_pinned(name) for name in _packages(driver)]
    template = _FOLDER.joinpath("script.txt").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=result.title,
        rule=findings[0].rule,
        duty=duty.duty,
        why=duty.why,
        sources="\n".join(f"Source: {url}" for url in _urls(duty.source, catalogue)),
        install=f"pip install {' '.join(packages)}",
        scenario=result.scenario,
        status=interaction.status,
        content_type=repr(interaction.header("content-type") or "text/event-stream"),
        reads="".join(f"    {read!r},\n" for read in split(interaction.body, chunking)),
        breaks_off=interaction.broken,
        expected=pformat(_expected(findings, expected), width=_WIDTH, sort_dicts=False),
        imports=imports.strip(),
        driver=code.strip(),
    )


def _driver(client: str) -> str:
    names = reproducible_clients()
    if client not in names:
        raise UsageError(
            f"there is no script for the client {client!r}",
            hint=did_you_mean(client, names, "known"),
        )
    return _FOLDER.joinpath(f"{client.replace('-', '_')}.py").read_text(encoding="utf-8")


def _packages(driver: str) -> tuple[str, ...]:
    line = next(line for line in driver.splitlines() if line.startswith("PACKAGES"))
    names: Any = json.loads("[" + line.partition("(")[2].rpartition(")")[0].rstrip(",") + "]")
    return tuple(names)


def _pinned(package: str) -> str:
    try:
        return f"{package}=={version(package)}"
    except PackageNotFoundError:
        return package


def _urls(sources: Iterable[str], catalogue: Mapping[str, Quirk]) -> list[str]:
    """Return the URLs, with those of each quirk in place of its id."""
    found: dict[str, None] = {}
    for source in sources:
        quirk = catalogue.get(source)
        found |= dict.fromkeys(quirk.references if quirk else (source,))
    return list(found)


def _expected(findings: Iterable[Finding], turn: Turn) -> dict[str, Any]:
    """Return what the script compares: what the findings are about, and the exception."""
    values = {
        "text": turn.text,
        "calls": [[call.name, _value(call.arguments)] for call in turn.tool_calls],
        "ids": [call.id or None for call in turn.tool_calls],
        "finish": turn.finish.raw if turn.finish else None,
        "failed": turn.failure is not None,
    }
    compared: set[str] = set()
    for finding in findings:
        part = _PART.match(finding.path)
        compared.update(_COMPARED.get(part[1] if part else "", values))
        if finding.path.endswith(".id"):
            compared.add("ids")
    return {key: value for key, value in values.items() if key in compared} | {"crash": None}


def _value(arguments: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        raise UsageError("there is no script for calls of custom tools") from None
