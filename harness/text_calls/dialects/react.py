"""Read `Thought:`, `Action:`, `Action Input:` lines: ReAct, taught by the prompt.

A thought is reasoning, and the text after `Final Answer:` is the answer. An action is the name
of a tool on its line and an input after it. The input is a JSON object, in a code block too, or one
line of text for a tool with exactly one required parameter, a string. Labels may be bold. The
action may be a JSON object itself, `{"action": NAME, "action_input": ...}`, often in a code block.
`Action: None` is not a call.

Readers of this format differ in some cases. Here, a generated `Observation:` ends the reply, and
the action before it counts (REACT-FAKE-OBSERVATION). An action next to a final answer is unusable,
because it is not known which was meant (REACT-BOTH). Arguments on the action's own line count
(REACT-INLINE-ARGS). A misspelled label is a broken call, never the answer (REACT-ERROR-AS-ANSWER).
Text that looks like JSON, code or a parameter with its value is not text input. Text of several
lines, whose end is not known, is not text input either.
Source: the ReAct paper; the agents of LangChain and LlamaIndex, which read this format.
"""

import re
from typing import ClassVar, Final

from harness.text_calls.boundaries import SPACE, Ending, Head, any_of, literal, literal_end
from harness.text_calls.context import FENCES
from harness.text_calls.dialect import (
    BlockStart,
    Offered,
    RawBlock,
    Section,
    TextDialect,
    WrittenCall,
)
from harness.text_calls.json_calls import read_members, read_pairs, read_string, repeated_key
from harness.text_calls.native import clean_name
from harness.text_calls.parameters import as_list, as_mapping
from harness.text_calls.react import (
    ACTION,
    ANSWER,
    INPUT,
    INPUT_LABEL,
    NO_ACTION,
    STOPS,
    THOUGHT,
    ActionEnd,
)
from harness.text_calls.streamed import BlockStream, HeadedStream
from harness.turns.exact_json import write_exactly
from harness.turns.json_prefix import PrefixState, scan

_BOTH: Final = "one reply contains an action and a final answer: it is not known which was meant"
# The members of an action that is an object.
_ACTION: Final = "action"
_ACTION_INPUT: Final = "action_input"
_NOTHING: Final = ("", "none", "n/a", "null")

# How each label is written: plain, or in bold type.
_LABELS: Final = {
    written: label
    for label in (THOUGHT, ACTION, INPUT, ANSWER)
    for written in (label, f"**{label}**", f"**{label[:-1]}**:")
}

_NAME = re.compile(r"[ \t]*+[`*\"'\[]{0,2}+([\w.\-]{1,128}+)[`*\"'\]]{0,2}+[ \t]*+")
_INLINE = re.compile(_NAME.pattern + r"(?:\([ \t]*+)?+(?=\{)")
_LINE = re.compile(_NAME.pattern + r"\r?\Z")
# The label of the input, or what was meant to be one.
_LABEL = re.compile(
    r"\s*+(?:\*\*)?(?:action[ _]?in?[a-z]{0,8}|input)(?:\*\*)?[ \t]?:", re.IGNORECASE
)
# An action that is an object itself, and how far that must come not to be prose.
_OBJECT: Final = (SPACE, r"\{", SPACE, *literal('"action'))
_OBJECTS: Final = (
    Head(*_OBJECT, commits=1),
    *(Head(SPACE, *literal(it), r"[\w+.\-]{0,20}+", *_OBJECT, commits=6) for it in FENCES),
)
_FENCED = re.compile(r"\s*+(?:(?:`{3,9}+|~{3,9}+)[\w+.\-]{0,20}+|`{1,2}+)\s*+(?=\{)")
# What begins so is not text: JSON, code, or a parameter with its value.
_NO_TEXT = re.compile(r"[\"'*(\s]*+(?:[`{\[]|~~~)")
_KEYED = re.compile(r"[\-*+(\"'\s]*+([\w.\-]{1,128}+)[\"'*\s]{0,8}+[=:(]")


class ReAct(TextDialect):
    """Reads and writes calls as actions of the ReAct format."""

    title = "ReAct lines, taught by prompt"
    openers = tuple(_LABELS)
    heads: ClassVar = dict.fromkeys(_LABELS, _OBJECTS)
    begins_line = True
    between = "\n"
    line_ends = 1
    open_ended = True
    taught_by = (ACTION, INPUT)
    markers = tuple(it for it, label in _LABELS.items() if label in (ACTION, INPUT))

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether an action has a name on its line, and an input that follows it."""
        if _LABELS[start.opener] != ACTION:
            # White space after the label belongs to it.
            return True if start.head.strip() or start.final else None
        return any_of((_starts_with_name(start), super().starts(start)))

    def section(self, start: BlockStart) -> Section | None:
        """Return the section of a thought, or of the answer; None if an action begins."""
        space = len(start.head) - len(start.head.lstrip())
        label = _LABELS[start.opener]
        if label == ANSWER:
            return Section(
                reasoning=False, closers=(), header=space, opens=self.openers, voids=_BOTH
            )
        if label == THOUGHT:
            return Section(
                reasoning=True,
                closers=(),
                header=space,
                ended_by=self.openers,
                line_ends=self.line_ends,
            )
        return None

    def ending(self, opener: str) -> Ending:
        """Return an `Ending` that finds the end of the action's input."""
        is_action = _LABELS[opener] == ACTION
        return ActionEnd() if is_action else literal_end("\n")

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the header, and then the JSON while it arrives."""
        return HeadedStream(self, opener, offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the one call of an action; () if it names none; None if it is the answer."""
        if _LABELS[block.opener] == INPUT:
            nothing = block.raw.strip().lower() in _NOTHING
            return () if nothing else (WrittenCall("", error="an input without its action"),)
        text = _object_of(block.raw)
        return (
            _of_line(block.raw, block.offered) if text is None else _of_object(text, block.offered)
        )

    def shown(self, block: RawBlock) -> tuple[bool, str]:
        """Return the text of an action that contains the final answer."""
        answer = (read_members(_object_of(block.raw) or "") or {}).get(_ACTION_INPUT, "")
        return False, read_string(answer) if answer.startswith('"') else answer

    def write_call(self, call: WrittenCall) -> str:
        """Return the two lines of one action: its name, and its input as a JSON object."""
        return f"{ACTION} {call.name}\n{INPUT} {call.arguments or '{}'}"


def _starts_with_name(start: BlockStart) -> bool | None:
    head = start.head
    if _INLINE.match(head):
        return True
    line, newline, rest = head.partition("\n")
    if not newline and not start.final:
        return None
    if NO_ACTION.match(line):
        return True
    named = _LINE.match(line)
    if named is None:
        return False
    known = clean_name(named[1], start.offered) in start.offered
    return True if known or _LABEL.match(rest) else None


def _object_of(raw: str) -> str | None:
    """Return the JSON object that the action consists of; None if it is not an object."""
    fenced = _FENCED.match(raw)
    text = raw[fenced.end() :] if fenced else raw.lstrip()
    if not text.startswith("{"):
        return None
    return _object_text(text)


def _of_object(text: str, offered: Offered) -> tuple[WrittenCall, ...] | None:
    """Return the call of an object with an action; () if it names no tool; None if an answer."""
    found = read_pairs(text)
    if found is None:
        return (WrittenCall("", error="the action is not a JSON object"),)
    content = dict(found)
    name, value = read_string(content.get(_ACTION)), content.get(_ACTION_INPUT, "null")
    if name == ANSWER.removesuffix(":"):
        return None
    if NO_ACTION.match(name):
        return ()
    if not name or repeated_key(found) or not content.keys() <= {_ACTION, _ACTION_INPUT}:
        return (WrittenCall(name, error=f"it has not just {_ACTION!r} and {_ACTION_INPUT!r}"),)
    return (_with_value(clean_name(name, offered), value, offered),)


def _with_value(name: str, value: str, offered: Offered) -> WrittenCall:
    if value.startswith("{"):
        return WrittenCall(name, value)
    if value.startswith('"') or value == "null":
        return _with_text(name, read_string(value), offered)
    return WrittenCall(name, error=f"{_ACTION_INPUT!r} is neither an object nor text")


def _of_line(raw: str, offered: Offered) -> tuple[WrittenCall, ...]:
    """Return the call whose name is on the line of the action; () if it names no tool."""
    if NO_ACTION.match(raw):
        return ()
    named = _NAME.match(raw)
    if named is None:
        return (WrittenCall("", error="the action names no tool"),)
    name = clean_name(named[1], offered)
    inline = _INLINE.match(raw)
    if inline:
        return (WrittenCall(name, _object_text(raw[inline.end() :])),)
    label = INPUT_LABEL.match(raw, named.end())
    if label is None:
        return (WrittenCall(name, error=f"no line {INPUT!r} follows its action"),)
    return (_with_input(name, raw[label.end() :], offered),)


def _before_label(text: str) -> str:
    stop = STOPS.search(text)
    return text[: stop.start()] if stop else text


def _object_text(text: str) -> str:
    """Return the object at the start of `text`; if broken, the text before the next label."""
    end = scan(text).end
    return text[:end] if end >= 0 else _before_label(text)


def _with_input(name: str, text: str, offered: Offered) -> WrittenCall:
    fenced = _FENCED.match(text)
    if fenced or text.lstrip().startswith("{"):
        return WrittenCall(name, _object_text(text[fenced.end() :] if fenced else text.strip()))
    content = _before_label(text).strip()
    quoted = content.startswith('"') and scan(content).state is PrefixState.COMPLETE
    call = _with_text(name, read_string(content) if quoted else content, offered)
    if "\n" in content and not call.error:
        return WrittenCall(name, error="its input is text, and more follows the line of it")
    return call


def _with_text(name: str, content: str, offered: Offered) -> WrittenCall:
    """Return the call with `content` as its only argument, or with an error if that fails."""
    schema = offered.schema(name)
    key, required = _only_text(schema)
    if content.lower() in _NOTHING and not required:
        return WrittenCall(name)
    if not content:
        return WrittenCall(name, error="its input is empty")
    if not key or _is_no_text(name, content, schema):
        return WrittenCall(name, error=f"its input is not a JSON object: {content[:40]!r}")
    return WrittenCall(name, write_exactly({key: content}))


def _is_no_text(name: str, content: str, schema: dict[str, object]) -> bool:
    """Return whether the input is a broken object, or a call in another format."""
    if _NO_TEXT.match(content):
        return True
    keyed = _KEYED.match(content)
    names = (name, *as_mapping(schema.get("properties")))
    return keyed is not None and keyed[1] in names


def _only_text(schema: dict[str, object]) -> tuple[str, bool]:
    """Return the parameter for plain text, or "", and whether the tool requires any."""
    required, properties = as_list(schema.get("required")), as_mapping(schema.get("properties"))
    texts = [
        it for it in map(str, required) if as_mapping(properties.get(it)).get("type") == "string"
    ]
    return texts[0] if len(required) == len(texts) == 1 else "", bool(required)
