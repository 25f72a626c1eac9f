"""The documents name what exists: files, commands, options, keys, rules and quirks."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest

from harness import load_cassette, shipped
from harness.cli import cli
from harness.conversation.task import Limits
from harness.judging.conversations import script as conversation_file
from harness.judging.conversations.expected_request import (
    CharacterCount,
    ExpectedRequest,
    ExpectedText,
)
from harness.judging.policies import AGENT_POLICIES, READER_POLICIES, TEXT_POLICIES
from harness.judging.rules import RULES
from harness.judging.scenario_file import ScenarioFile, TurnFile
from harness.normalizers.protocol import CAPABILITIES
from harness.results.catalogue import load_catalogue
from harness.results.outcome import Outcome
from harness.runs.judge_job import judge_job
from harness.runs.plan import Job
from harness.runs.selection import select_subjects
from harness.text_calls import TEXT_DIALECTS, WrittenCall
from harness.verdicts.gate import Summary
from tests.tables import each_row

ROOT = Path(__file__).parents[1]
DOCS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
)
NAMES = [path.relative_to(ROOT).as_posix() for path in DOCS]


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _commands() -> Iterator[tuple[str, click.Command]]:
    group = cli
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield name, command


COMMANDS = dict(_commands())


def _params(command: click.Command) -> list[click.Parameter]:
    """Return the parameters of a command and of its subcommands."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return [*command.params, *(param for each in below for param in each.params)]


@each_row("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", _text(name))
    folder = (ROOT / name).parent
    assert [target for target in targets if not (folder / target).exists()] == []


@each_row("name", NAMES)
def test_links_into_a_page_lead_to_a_heading(name: str) -> None:
    found = re.findall(r"\]\(([^)#:]*)#([^)]*)\)", _text(name))
    places = [
        ((ROOT / name).parent / target if target else ROOT / name, at) for target, at in found
    ]
    assert [at for page, at in places if at not in _anchors(page)] == []


def _anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of `page`."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize(
    ("page", "name"), [("write-a-scenario", "reference"), ("write-a-conversation", "gateway")]
)
def test_the_first_example_of_a_page_runs(tmp_path: Path, page: str, name: str) -> None:
    example = _text(f"docs/how-to/{page}.md").split("```yaml\n")[1].partition("```")[0]
    path = tmp_path / "scenarios" / "a" / "example.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(example, encoding="utf-8")
    (subject,) = select_subjects([path])
    result, _ = judge_job(Job(subject, name), "quick")
    assert result.outcome in {Outcome.PASS, Outcome.PARSE_ERROR}, result.findings


@each_row("name", NAMES)
def test_commands_and_options_exist(name: str) -> None:
    for command, rest in re.findall(r"\bharness ([a-z]+)\b([^`\n#]*)", _text(name)):
        if command not in COMMANDS:
            assert not rest.startswith(" -"), f"harness {command}{rest}"
            continue
        known = {option for each in _params(COMMANDS[command]) for option in each.opts}
        used = set(re.findall(r"(?<=\s)--[a-z-]+", rest)) - {"--help"}
        assert used <= known, f"harness {command}{rest}"


def test_readme_has_exactly_the_two_quick_start_lines() -> None:
    lines = re.findall(r"^python3 -m venv \.venv && .*$", _text("README.md"), re.MULTILINE)
    assert [line.rpartition("/")[2] for line in lines] == ["harness run", "pytest"]


def test_the_command_reference_has_every_command_and_option() -> None:
    text = _text("docs/reference/cli.md")
    assert [name for name in COMMANDS if f"## harness {name}" not in text] == []
    options = {param.opts[-1] for each in COMMANDS.values() for param in _params(each)}
    assert [o for o in options if o.startswith("--") and f"{o}" not in text] == []


def test_the_scenario_keys_are_all_told() -> None:
    text = _text("docs/how-to/write-a-scenario.md")
    keys = (*ScenarioFile.__struct_fields__, *TurnFile.__struct_fields__)
    assert [key for key in keys if f"`{key}`" not in text] == []


def test_the_keys_of_a_conversation_are_all_told() -> None:
    text = _text("docs/how-to/write-a-conversation.md")
    kinds = [
        conversation_file.ConversationFile,
        conversation_file.ConversationExpectFile,
        conversation_file.MockAnswer,
        conversation_file.ExpectedExecution,
        conversation_file.ExpectedReport,
        ExpectedRequest,
        ExpectedText,
        CharacterCount,
        Limits,
    ]
    keys = [key for kind in kinds for key in kind.__struct_fields__]
    own = [name for name in AGENT_POLICIES if name not in TEXT_POLICIES]
    assert [key for key in (*keys, *own) if f"`{key}`" not in text] == []


def test_outcomes_and_capabilities_are_all_told() -> None:
    text = _text("docs/explanation/outcomes-and-blame.md") + _text("README.md")
    assert [name for name in (*Outcome, *CAPABILITIES) if f"`{name}`" not in text] == []


def test_the_keys_of_the_summary_are_all_told() -> None:
    text = _text("docs/reference/run-file.md")
    assert [key for key in msgspec.structs.fields(Summary) if f"`{key.name}" not in text] == []


def test_rules_and_quirks_that_are_named_exist() -> None:
    known = {*RULES, *load_catalogue(shipped.bundled_folder("catalogue") / "quirks")}
    for name in NAMES:
        named = re.findall(r"`([A-Z]+(?:-[A-Z]+)+)`", _text(name))
        assert set(named) <= known, name


def test_the_text_dialects_are_shown_as_they_are_written() -> None:
    text = _text("docs/reference/text-dialects.md")
    call = WrittenCall("get_weather", '{"city": "Oslo"}')
    shown = {
        name: f"\n## {name}\n\n~~~~text\n{dialect.write([call])}\n~~~~\n\n"
        for name, dialect in TEXT_DIALECTS.items()
    }
    assert [name for name, section in shown.items() if section not in text] == []
    assert set(re.findall(r"^## (\S+)$", text, re.MULTILINE)) == set(TEXT_DIALECTS)
    line_ends = re.findall(r"^\| \[`([\w-]+)`\].* (\d) \|$", text, re.MULTILINE)
    assert dict(line_ends) == {name: str(it.line_ends) for name, it in TEXT_DIALECTS.items()}


@pytest.mark.parametrize(
    ("page", "policies"),
    [
        ("docs/explanation/text-calls.md", TEXT_POLICIES),
        ("docs/how-to/write-a-scenario.md", READER_POLICIES),
    ],
)
def test_the_policies_are_told_with_their_values(
    page: str, policies: dict[str, tuple[str, ...]]
) -> None:
    text = _text(page)
    rows = {
        name: f"| `{name}` | {', '.join(f'`{value}`' for value in values)} |"
        for name, values in policies.items()
    }
    assert [name for name, row in rows.items() if row not in text] == []


def test_readme_counts_what_ships() -> None:
    about = [rule.duty.about for rule in RULES.values()]
    turns, conversations, cost = (about.count(it) for it in ("turns", "conversation", "cost"))
    text = " ".join(_text("README.md").split())
    said = (
        f"{turns} rules for turns, {conversations} rules for conversations and {cost} rules for "
        "cost."
    )
    assert said in text
    recorded = [
        cassette
        for cassette in map(load_cassette, sorted((ROOT / "cassettes").rglob("*.yaml")))
        if cassette.origin.kind == "recorded"
    ]
    streams = sum(len(cassette.interactions) for cassette in recorded)
    assert f"{len(recorded)} **recorded** cassettes: {streams} turns" in text
