"""Write a script that shows one failure to the maintainers of a library, without this package.

It contains the bytes, the calls of the library, the expected result and the reason. It exits with
code 1 as long as the library fails. Its language is the language of the library, Python or
JavaScript.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Template
from typing import Any, Final

import msgspec

from harness.dialects.table import read_request
from harness.errors import UsageError
from harness.normalizers.client.turn import finish_words
from harness.normalizers.sdk.library import request_members
from harness.reporting.visible import plain
from harness.repro.code import (
    Driver,
    Suffix,
    constants,
    literal,
    load_driver,
    reads_literal,
    template_of,
)
from harness.results.catalogue import Quirk
from harness.results.duties import load_duties
from harness.results.expectation import Expectation, Field
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.wire.cuts import split
from harness.wire.interaction import Interaction

# Path of a finding without its indexes -> what the script compares.
_COMPARED: Final = {
    "text": ("text",),
    "calls": ("calls",),
    "calls.id": ("calls", "ids"),
    "calls.name": ("calls",),
    "calls.arguments": ("calls",),
    "parse_errors": ("calls", "rejected"),
    "parse_errors.snippet": ("calls", "rejected"),
    "finish": ("reason",),
    "finish.raw": ("finish",),
    "failure": ("failed",),
    "replay": (),  # an exception, which is always compared
}
# The paths that the scripts of passing cells compare.
_CONTROLLED: Final = ("text", "calls", "parse_errors", "failure")
# What the script compares -> the judged field that it belongs to.
_FIELDS: Final[dict[str, Field]] = {
    "text": "text",
    "calls": "calls",
    "rejected": "rejected",
    "ids": "calls",
    "reason": "finish",
    "finish": "finish_raw",
    "failed": "failure",
}
_TURN: Final = re.compile(r"turns\[(\d+)\]\.?")
_INDEX: Final = re.compile(r"\[\d+\]")


def repro_script(  # noqa: PLR0913 - what a script says, the versions by keyword
    result: Result,
    interaction: Interaction,
    expectation: Expectation,
    catalogue: Mapping[str, Quirk],
    packages: Sequence[str] = (),
    *,
    seen: Sequence[str] = (),
) -> str:
    """Return the source of a script that shows the findings of `result`.

    Args:
        result: the result of a cell that failed. The script splits the body at the offsets of its
            chunking.
        interaction: the response on which it failed.
        expectation: the expected result of that response.
        catalogue: id -> quirk, for the quirks that the rules name as sources.
        packages: the packages of the library, as its package manager writes them.
        seen: the names and versions of library, dependencies and interpreter that failed.

    Raises:
        UsageError: the client has no driver, or a script cannot show this kind of finding.
    """
    findings = _findings_of_turn(result)
    driver = load_driver(result.normalizer)
    suffix = driver.suffix
    duty = load_duties()[findings[0].rule]
    prefix = "" if suffix == ".py" else "// "
    return Template(template_of(suffix)).substitute(
        title=_comment(result.title),
        rule=findings[0].rule,
        duty=_comment(duty.duty),
        why=_comment(duty.why),
        sources="\n".join(
            f"{prefix}{line}"
            for line in (*_sources(result, findings[0], catalogue), *_seen_line(seen))
        ),
        install=_install(packages, driver.packages, suffix),
        imports=driver.imports.strip(),
        scenario=plain(result.scenario),
        status=interaction.status,
        content_type=literal(interaction.header("content-type") or "text/event-stream", suffix),
        reads=reads_literal(split(interaction.body, result.chunking), suffix),
        breaks_off=literal(bool(interaction.broken), suffix),
        expected=literal(_expected(findings, expectation, suffix), suffix),
        constants=constants(_constants(driver, interaction), suffix),
        driver=driver.code,
        collect=driver.collect,
    )


def control_script(
    result: Result, interaction: Interaction, expectation: Expectation, packages: Sequence[str] = ()
) -> str:
    """Return the source of a script for a cell that passed, which must exit with code 0.

    It compares text, calls and failure. If its exit code is not 0, the other scripts of the client
    prove nothing.

    Args:
        result: the result of a cell that passed.
        interaction: the only interaction of the cell.
        expectation: the expected result of that response.
        packages: the packages of the library, as its package manager writes them.

    Raises:
        UsageError: the client has no driver, or a script cannot show this cell.
    """
    findings = tuple(
        Finding("CALLS-KEPT", "MUST", Outcome.LOST_CALL, path, "", "") for path in _CONTROLLED
    )
    failing = msgspec.structs.replace(result, findings=findings)
    return repro_script(failing, interaction, expectation, {}, packages)


def _findings_of_turn(result: Result) -> list[Finding]:
    """Return the findings of MUST rules about the turn that the script shows."""
    found = [finding for finding in result.findings if finding.level == "MUST"]
    if not found:
        raise UsageError("the cell violates no MUST rule", where=result.cell)
    turns = {finding: _TURN.match(finding.path) for finding in found}
    own = [it for it in found if (turn := turns[it]) is None or int(turn[1]) == result.interaction]
    return own or found


def _comment(text: str) -> str:
    """Return a text on one line, changed so that it cannot end a docstring or a comment."""
    return plain(text, 2_000).replace("\\", "\\\\").replace('"""', "'''").replace("\n", " ")


def _install(packages: Sequence[str], imported: Sequence[str], suffix: Suffix) -> str:
    if suffix == ".py":
        return f"pip install {' '.join(packages)}"
    used = [each for each in packages if each.rpartition("@")[0] in imported]
    return f"npm install {' '.join(used or packages)}"


def _seen_line(seen: Sequence[str]) -> Iterator[str]:
    if seen:
        yield f"Seen with: {_comment(', '.join(seen))}"


def _sources(result: Result, finding: Finding, catalogue: Mapping[str, Quirk]) -> Iterator[str]:
    """Yield what shows that a server sends these bytes, and the sources of the violated rule."""
    evidence = result.evidence_of(finding)
    yield from (f"Evidence: {_comment(evidence.text)}",) if evidence else ()
    sources = load_duties()[finding.rule].source
    yield from (f"Source of the rule: {url}" for url in _urls(sources, catalogue))


def _urls(sources: Iterable[str], catalogue: Mapping[str, Quirk]) -> list[str]:
    """Return the URLs in `sources`; the id of a quirk is replaced by the URLs of the quirk."""
    found: dict[str, None] = {}
    for source in sources:
        quirk = catalogue.get(source)
        found |= dict.fromkeys(quirk.references if quirk else (source,))
    return list(found)


def _constants(driver: Driver, interaction: Interaction) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of each constant that the driver and the template use."""
    if driver.suffix == ".mjs":
        yield "FINISH", finish_words(interaction.body)
        yield "REQUEST", request_members(interaction)
        return
    yield "REQUIRED", _required(interaction) if '"checked"' in driver.code else {}
    if "DIALECT" in driver.collect:
        yield "DIALECT", interaction.dialect
    if "REQUEST" in driver.collect:
        yield "REQUEST", request_members(interaction)


def _required(interaction: Interaction) -> dict[str, list[str]]:
    """Return tool -> names of its required parameters, for the tools in the request."""
    request = read_request(interaction.dialect, interaction.request)
    return {tool.name: list(tool.parameters.get("required") or ()) for tool in request.tools}


def _expected(
    findings: Iterable[Finding], expectation: Expectation, suffix: Suffix
) -> list[dict[str, Any]]:
    """Return the correct results, each with the values to compare, and the expected exception."""
    compared: set[str] = set()
    for finding in findings:
        path = _INDEX.sub("", _TURN.sub("", finding.path))
        if path not in _COMPARED:
            raise UsageError(f"there is no script for a failure of {path!r}")
        compared.update(_COMPARED[path])
    if expectation.failure is not None and compared and compared.isdisjoint(("calls", "failed")):
        raise UsageError("there is no script for what comes before a failure")
    readings = list(expectation.readings)
    readings += [each.failed() for each in expectation.readings if each.may_fail]
    found: list[dict[str, Any]] = []
    for reading in readings:
        values = _values(reading, compared, suffix)
        if compared and not values:
            raise UsageError("there is no script for a result that the response does not define")
        if (value := values | {"crash": None}) not in found:
            found.append(value)
    return found


def _values(reading: Expectation, compared: set[str], suffix: Suffix) -> dict[str, Any]:
    if reading.failure is not None:
        calls: dict[str, Any] = {"calls": []} if "calls" in compared else {}
        return calls | {"failed": True}
    values = {
        "text": reading.text,
        "calls": [],
        "rejected": [each.name or "" for each in reading.rejected],
        "ids": [call.id or None for call in reading.calls],
        "finish": reading.finish_raw,
        "reason": str(reading.finish),
        "failed": False,
    }
    if "calls" in compared and "calls" in reading.judged:
        values["calls"] = [_call(call.name, call.json_text, suffix) for call in reading.calls]
    return {
        key: value
        for key, value in values.items()
        if key in compared and _FIELDS[key] in reading.judged
    }


def _call(name: str, arguments: str, suffix: Suffix) -> list[Any]:
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        raise UsageError("there is no script for calls of custom tools") from None
    return [name, value if suffix == ".py" else arguments or "{}"]
