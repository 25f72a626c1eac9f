"""Load scenario files. Their keys are the fields of the structs below, and no others.

If a key is missing, its default is judged: no text, no calls, no failure. The exceptions, which are
not judged, are missing `finish_raw` and `usage`, `parse_errors: any`, and the finish of a failed
turn. `open` names further fields that are not judged, because the bytes are ambiguous.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import asdict, replace

from harness.conversation.tool_file import load_tool
from harness.errors import UnreadableError, UsageError
from harness.files import yaml_text
from harness.files.kept import kept_while_unchanged
from harness.files.load import read_file
from harness.files.paths import relative_id
from harness.files.typed import File, Text, convert, require_json
from harness.files.walk import is_yaml, walk_files
from harness.judging.conversations.script import (
    ConversationFile,
    ConversationScript,
    script_from_file,
)
from harness.judging.conversations.text_form import conversation_in_text
from harness.judging.policies import (
    AGENT_POLICIES,
    NORMALIZER_POLICIES,
    require_name,
    require_policies,
)
from harness.judging.scenario import Scenario, ScenarioBlame
from harness.judging.timing.script import TimingScript
from harness.results.expectation import (
    ALL_FIELDS,
    Expectation,
    ExpectedCall,
    ExpectedRejection,
    Field,
)
from harness.results.scenario_evidence import EvidenceFile, is_own, load_evidence
from harness.shipped import SHARED_FOLDERS
from harness.text_calls import TEXT_DIALECTS
from harness.turns.deltas import CallKind, FinishReason, Usage
from harness.turns.exact_json import encode_json

SUFFIX = ".yaml"
_KINDS: Final = ("expect", "conversation", "timing")
# The key that describes how the cassette is written, for `harness cassettes`.
_EMULATE: Final = re.compile(rb"^emulate:(?=\s|$).*+(?:\n(?:[ \t].*+)?+)*+", re.MULTILINE)


class CallFile(File, frozen=True, omit_defaults=True):
    """A call that the client must emit. If `id` is missing, any unique id is correct.

    Exactly one key contains the arguments of the model: `arguments` of a function, `input` of a
    custom tool, or `action`, the content of an action of the client. `namespace` is the namespace
    of the tool.
    """

    name: Text
    arguments: dict[str, Any] | None = None
    id: Text | None = None
    input: str | None = None
    action: dict[str, Any] | list[Any] | None = None
    namespace: str = ""


class FailureFile(File, frozen=True, omit_defaults=True):
    """How the turn must fail: the code ("*" for any), and a part of the provider's message."""

    code: Text
    says: str = ""


class UsageFile(File, frozen=True, omit_defaults=True):
    """The token counts that the provider reports; a missing count is not judged."""

    input_tokens: int | None = None
    output_tokens: int | None = None


Open: TypeAlias = Literal[
    "text", "reasoning", "tool_calls", "missing_calls", "parse_errors", "finish", "failure"
]
_FIELD_OF: Final[dict[Open, Field]] = {
    "text": "text",
    "reasoning": "reasoning",
    "tool_calls": "calls",
    "missing_calls": "calls",
    "parse_errors": "rejected",
    "finish": "finish",
    "failure": "failure",
}


class TurnFile(File, frozen=True, omit_defaults=True):
    """The expected turn of one interaction. If `may_fail` is true, it may also fail with any code.

    `open` lists keys that are not judged. If it has `missing_calls`, calls of `tool_calls` may be
    missing, but the client may emit no others. `alternatives` are other turns that the API's
    specification allows; a result is compared with the closest one. `evidence` replaces that of the
    scenario.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[CallFile, ...] = ()
    parse_errors: tuple[ExpectedRejection, ...] | Literal["any"] = ()
    finish: FinishReason | None = None
    finish_raw: str | None = None
    failure: FailureFile | None = None
    may_fail: bool = False
    usage: UsageFile | None = None
    open: tuple[Open, ...] = ()
    alternatives: tuple["TurnFile", ...] = ()
    evidence: EvidenceFile | None = None


class ScenarioFile(File, frozen=True):
    """The content of a scenario file, with one of the keys `expect`, `conversation` and `timing`.

    `conversation` may be the id of another scenario with native tools. Then it is the same
    conversation with calls in the model's text, with the policies of that scenario, too.
    `white_space` says how text and reasoning are compared. The default is `loose` for text calls,
    because few models follow their template exactly, and `exact` otherwise. `evidence` says what
    shows that a server sends this stream: where it was `recorded`, `reported` or `documented`. With
    `own`, it says what is invented.
    """

    title: Text
    cassette: Text
    expect: Annotated[tuple[TurnFile, ...], msgspec.Meta(min_length=1)] | None = None
    conversation: ConversationFile | Text | None = None
    timing: TimingScript | None = None
    quirks: tuple[Text, ...] = ()
    evidence: EvidenceFile | None = None
    tools: tuple[Text, ...] | None = None
    capabilities: tuple[Text, ...] = ()
    rules: tuple[Text, ...] = ()
    blame: ScenarioBlame = ""
    references: tuple[Text, ...] = ()
    text_dialect: str = ""
    white_space: Literal["exact", "loose"] | None = None
    policies: dict[str, str] = msgspec.field(default_factory=dict)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, as `harness schema scenario` prints it."""
    return msgspec.json.schema(ScenarioFile)


def find_scenarios(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the paths of the scenario files that `paths` name or contain, sorted, each once.

    Raises:
        UsageError: a path does not exist.
    """
    return tuple(sorted({found for path in paths for found in _below(path)}))


def _below(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        for found in map(Path, walk_files(str(path), is_yaml)):
            if SHARED_FOLDERS.isdisjoint(found.relative_to(path).parts[:-1]):
                yield found
    else:
        raise UsageError(
            "no such file or folder",
            where=str(path),
            hint="`harness list scenarios` prints the bundled ones",
        )


@kept_while_unchanged
def load_scenario(path: Path, root: Path) -> Scenario:
    """Return the scenario in the file at `path`.

    Args:
        path: a scenario file.
        root: the folder of scenarios. Ids are relative to it, and it contains the folder `tools`.

    Raises:
        UnreadableError: the scenario file, or a tool file that it names, cannot be used.
    """
    where = str(path)
    file = convert(_document(read_file(path), where), ScenarioFile, where)
    if isinstance(file.conversation, str):
        file = _in_text(file, file.conversation, root, where)
    names = file.tools
    _require_one_expectation(file, where)
    _check_evidence(file, where)
    if file.text_dialect:
        problem = "text_dialect: there is no text dialect"
        require_name(file.text_dialect, tuple(TEXT_DIALECTS), problem, where)
    known = AGENT_POLICIES if file.conversation else NORMALIZER_POLICIES
    require_policies(file.policies, known, where)
    read = {
        "expect": tuple(
            _expectation(turn, f"expect[{index}]", where, _compared(file))
            for index, turn in enumerate(file.expect or ())
        ),
        "conversation": _script(file, where),
        "evidence": load_evidence(file.evidence, "", where),
        "tools": None if names is None else tuple(load_tool(root, name, where) for name in names),
    }
    given = asdict(file) | read
    del given["white_space"]
    return Scenario(id=_scenario_id(path, root), **given)


class _Compared(NamedTuple):
    """How the text of a file's turns is compared; the fields are as in `Expectation`."""

    has_text_calls: bool
    loose_space: bool


def _compared(file: ScenarioFile) -> _Compared:
    has_text_calls = bool(file.text_dialect)
    white_space = file.white_space or ("loose" if has_text_calls else "exact")
    return _Compared(has_text_calls, white_space == "loose")


def load_turns(path: Path) -> tuple[TurnFile, ...]:
    """Return the expected turns in the scenario file at `path`, with the keys of the file.

    Raises:
        UnreadableError: the file cannot be read, or is not valid.
    """
    where = str(path)
    return convert(_document(read_file(path), where), ScenarioFile, where).expect or ()


def _in_text(file: ScenarioFile, other: str, root: Path, where: str) -> ScenarioFile:
    """Return `file` with the conversation of the scenario `other`, with calls in the text."""
    path = root / f"{other}{SUFFIX}"
    if not path.is_file():
        raise UnreadableError(
            f"conversation: there is no scenario {other!r}",
            where=where,
            hint=f"Give the id of a file below {root}, or a conversation.",
        )
    base = convert(_document(read_file(path), str(path)), ScenarioFile, str(path))
    if not isinstance(base.conversation, ConversationFile):
        raise UnreadableError(
            f"conversation: the scenario {other!r} does not contain a conversation",
            where=where,
            hint="Give the id of a scenario whose key `conversation` has questions.",
        )
    # How turns become messages of an API with a field for calls does not apply here.
    policies = {key: value for key, value in base.policies.items() if key != "history"}
    conversation = conversation_in_text(base.conversation)
    return replace(file, conversation=conversation, policies=policies | file.policies)


def _script(file: ScenarioFile, where: str) -> ConversationScript | None:
    if not isinstance(file.conversation, ConversationFile):
        return None
    return script_from_file(file.conversation, where)


def _require_one_expectation(file: ScenarioFile, where: str) -> None:
    given = [key for key in _KINDS if getattr(file, key) is not None]
    if len(given) != 1:
        raise UnreadableError(
            f"expected one of {', '.join(_KINDS)}, found {' and '.join(given) or 'none'}",
            where=where,
            hint="`expect` judges turns, `conversation` an agent, `timing` times and breaks",
        )
    if file.conversation is not None:
        for name in ("text_dialect", "capabilities"):
            if getattr(file, name):
                raise UnreadableError(
                    f"{name}: has no effect in a scenario of a conversation",
                    where=where,
                    hint="list what the provider can do in conversation.capabilities",
                )


def _check_evidence(file: ScenarioFile, where: str) -> None:
    """Reject evidence of several kinds, and evidence that has no effect.

    Runs leave out a scenario that is `own`, whatever its turns state.
    """
    whole = load_evidence(file.evidence, "", where)
    for index, turn in enumerate(file.expect or ()):
        evidence = load_evidence(turn.evidence, f"expect[{index}].", where)
        if is_own(whole) and evidence is not None and not is_own(evidence):
            raise UnreadableError(
                f"expect[{index}].evidence: expected `own`, as for the scenario, "
                f"found `{evidence.kind}`",
                where=where,
                hint="Give the scenario the evidence of this turn, and `own` to the other turns.",
            )
        if any(each.evidence for each in turn.alternatives):
            raise UnreadableError(
                f"expect[{index}].alternatives: the key `evidence` has no effect here",
                where=where,
                hint="Give it to the turn, because all alternatives are about the same bytes.",
            )


def _document(data: bytes, where: str) -> object:
    """Return the parsed YAML of a file without the key `emulate`, on which no result may depend.

    The key is removed as text, because parsing it would take four times as long as the rest.
    """
    document = yaml_text.load_yaml(_EMULATE.sub(_empty_lines, data), where)
    if isinstance(document, dict):
        document.pop("emulate", None)
    return document


def _empty_lines(found: re.Match[bytes]) -> bytes:
    """Return as many line ends as `found` has, so that errors name the right line."""
    return b"\n" * found[0].count(b"\n")


def _scenario_id(path: Path, root: Path) -> str:
    return relative_id(path, root).with_suffix("").as_posix()


def _expectation(turn: TurnFile, path: str, where: str, compared: _Compared) -> Expectation:
    if turn.finish is None and turn.failure is None and "finish" not in turn.open:
        raise UnreadableError(
            f"{path}: the key 'finish' is missing",
            where=where,
            hint="a turn that does not fail must finish: stop, tool_calls, length, ...",
        )
    if turn.failure is not None and turn.may_fail:
        raise UnreadableError(
            f"{path}: expected either `failure` or `may_fail`, found both",
            where=where,
            hint="a turn with `failure` must fail; one with `may_fail` may also give this result",
        )
    for number, call in enumerate(turn.tool_calls):
        _require_call(call, f"{path}.tool_calls[{number}]", where)
    return Expectation(
        source="scenario",
        text=turn.text,
        reasoning=turn.reasoning,
        calls=tuple(map(_expected_call, turn.tool_calls)),
        rejected=() if turn.parse_errors == "any" else turn.parse_errors,
        finish=turn.finish,
        finish_raw=turn.finish_raw or "",
        failure=turn.failure.code if turn.failure else None,
        failure_says=turn.failure.says if turn.failure else "",
        usage=Usage(turn.usage.input_tokens, turn.usage.output_tokens) if turn.usage else None,
        judged=ALL_FIELDS.difference(_not_judged(turn)),
        has_text_calls=compared.has_text_calls,
        loose_space=compared.loose_space,
        calls_at_most="missing_calls" in turn.open,
        may_fail=turn.may_fail,
        alternatives=tuple(
            _expectation(each, f"{path}.alternatives[{number}]", where, compared)
            for number, each in enumerate(turn.alternatives)
        ),
        evidence=load_evidence(turn.evidence, f"{path}.", where),
    )


def _require_call(call: CallFile, path: str, where: str) -> None:
    if [call.arguments, call.input, call.action].count(None) != 2:  # noqa: PLR2004 - all but one
        raise UnreadableError(
            f"{path}: expected one of `arguments` (a function), `input` (a custom tool) and "
            "`action` (of the client)",
            where=where,
            hint="a function that is called without arguments has `arguments: {}`",
        )
    require_json(call.arguments, f"{path}.arguments", where)
    require_json(call.action, f"{path}.action", where)


def _expected_call(call: CallFile) -> ExpectedCall:
    kind: CallKind = "function"
    text = ""
    if call.input is not None:
        kind, text = "custom", call.input
    elif call.action is not None:
        kind, text = "action", encode_json(call.action).decode()
    return ExpectedCall(call.name, call.arguments or {}, call.id, text, kind, call.namespace)


def _not_judged(turn: TurnFile) -> Iterator[Field]:
    yield from (_FIELD_OF[name] for name in turn.open)
    if turn.parse_errors == "any":
        yield "rejected"
    if turn.finish is None:
        yield "finish"
    if turn.finish_raw is None:
        yield "finish_raw"
    if turn.usage is None:
        yield "usage"
