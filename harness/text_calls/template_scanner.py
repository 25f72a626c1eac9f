"""Split a reply into visible text, reasoning and calls as a response template declares.

In the region without delimiters, the first opening delimiter begins another region. In any other
region only its own closing delimiter counts, so what a call or a thought quotes is part of it. The
end of the text ends every region. Text that may still become a delimiter waits; the text of other
regions than the answer and the reasoning is not shown.
"""

from typing import Any, Final

from harness.text_calls.boundaries import Ending, literal_end
from harness.text_calls.dialect import Offered, RawBlock, TextDialect, WrittenCall
from harness.text_calls.early import EarlyCalls
from harness.text_calls.found import Found, check_call
from harness.text_calls.policy import TextPolicy
from harness.text_calls.template import (
    CALLS,
    CONTENT,
    REASONING,
    Delimiter,
    PatternBudget,
    ResponseTemplate,
    TemplateField,
)
from harness.text_calls.template_values import ContentError, region_values, written_calls

# How much of the text before the current position a pattern may look back at.
_BEHIND: Final = 1_024
_TRIMMED_FROM: Final = 8_192
_NEVER_CLOSED: Final = "the region of the call was never closed"
# Content whose end shows that it is whole, so that a missing closing delimiter does not matter.
_SELF_ENDING: Final = ("json", "python-call-list")


class _Template(TextDialect):
    """Stands for the template in what is found; a template is not in the table of text dialects."""

    name = "template"
    title = "a response template"
    openers = ()

    def ending(self, opener: str) -> Ending:
        """Return an `Ending`; the scanner of templates finds ends itself."""
        return literal_end(opener)

    def calls(self, _block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return None; the scanner of templates reads calls itself."""
        return None


_TEMPLATE: Final = _Template()


class TemplateScanner:
    """Scans the text of one response with a response template.

    It has the same methods as `Scanner`.

    Args:
        template: the template.
        offered: the tools of the request. Without tools, no region is a call.
        policy: what counts as a call.
        early: gets the calls as they are read; None if they are emitted at the end.

    Fields:
        found: the calls so far.
    """

    def __init__(
        self,
        template: ResponseTemplate,
        offered: Offered,
        policy: TextPolicy,
        early: EarlyCalls | None,
    ) -> None:
        self.found: list[Found] = []
        self._template = template
        self._offered = offered
        self._policy = policy
        self._early = early
        self._budget = PatternBudget(template.source, template.seconds)
        self._emitted: list[tuple[bool, str]] = []
        self._buffer, self._at = "", 0
        self._field = template.implicit
        self._captures: dict[str, str] = {}
        self._body: list[str] = []
        self._opening = ""
        self._shown = False
        # White space at the end of the text of a region, which is not part of it.
        self._space = ""
        self._begun = False
        self._said: set[str] = set()

    @property
    def blank(self) -> bool:
        """Whether no visible text and no call was found yet."""
        return not self._shown and not self.found

    def begin_prompt(self, prompt_end: str) -> None:
        """Read what the prompt contains of the reply."""
        self.feed(self._template.reply_start(prompt_end, self._budget))

    def begin_reply(self) -> str:
        """Mark all text so far as part of the prompt; return the part that may still be emitted."""
        self._emitted.clear()
        self._said.clear()
        return ""

    def take(self) -> list[tuple[bool, str]]:
        """Return (whether it is reasoning, text) for everything emitted since the last call."""
        emitted, self._emitted = self._emitted, []
        return emitted

    def passes(self, _text: str) -> bool:
        """Return False, because each text must be searched for delimiters."""
        return False

    def feed(self, text: str) -> None:
        """Process the next part of the text."""
        if self._at > _TRIMMED_FROM:
            self._buffer = self._buffer[self._at - _BEHIND :]
            self._at = _BEHIND
        self._buffer += text
        self._scan(final=False)

    def settle(self) -> None:
        """Do nothing, because a template says what belongs to a region."""

    def stop(self, token: str) -> None:
        """Process the stop token that the server removed."""
        if token:
            self.feed(token)

    def close(self, *, with_native_calls: bool, cut: bool) -> None:
        """Process the end of the text, which ends the open region."""
        del with_native_calls, cut
        self._scan(final=True)

    def resolve(self, *, count: bool) -> None:
        """Do nothing, because no call waits for a decision."""

    # The regions

    def _watched(self) -> list[tuple[TemplateField, Delimiter, bool]]:
        """Return the delimiters that count now: a field, its delimiter, whether it opens it."""
        field, implicit = self._field, self._template.implicit
        if field is not None and field is not implicit:
            return [(field, field.closes, False)] if field.closes else []
        opening = [(each, each.opens, True) for each in self._template.fields if each.opens]
        return opening + ([(field, field.closes, False)] if field and field.closes else [])

    def _scan(self, *, final: bool) -> None:
        while True:
            best, stop = self._next(final=final)
            if best is None:
                self._add(self._buffer[self._at : stop])
                self._at = stop
                break
            field, match, opens = best
            self._add(self._buffer[self._at : match.start()])
            self._at = match.end()
            if opens:
                self._finish(closed=True)
                self._begin(field, match)
                continue
            had_text = bool(self._body) or self._field is not self._template.implicit
            self._captures |= {key: it for key, it in match.groupdict().items() if it is not None}
            self._finish(closed=True)
            if not had_text and match.start() == match.end():
                break
        if final:
            self._finish(closed=False)

    def _next(self, *, final: bool) -> tuple[tuple[TemplateField, Any, bool] | None, int]:
        """Return the next delimiter that is certain, and up to where text is certain to be text."""
        stop = len(self._buffer)
        best: tuple[TemplateField, Any, bool] | None = None
        key: tuple[int, int, bool, str] | None = None
        for field, delimiter, opens in self._watched():
            match = self._budget.search(
                delimiter.pattern, self._buffer, self._at, partial=not final
            )
            if match is None:
                continue
            if not final and (match.partial or self._may_grow(delimiter, match)):
                stop = min(stop, match.start())
                continue
            # The first counts, and of two at one place the longer one, or the opening one.
            own = (match.start(), match.start() - match.end(), not opens, field.name)
            if key is None or own < key:
                key, best = own, (field, match, opens)
        # One that starts where another may still be must wait.
        waits = best is not None and not final and best[1].start() >= stop
        return (None if waits else best), stop

    def _may_grow(self, delimiter: Delimiter, match: Any) -> bool:  # noqa: ANN401
        """Return whether more text may change a match."""
        if match.end() == len(self._buffer):
            return match.start() == match.end() or delimiter.may_continue
        if delimiter.literal:
            return False
        # A pattern may look ahead at the end of the text.
        more = self._budget.match(delimiter.pattern, f"{self._buffer}\x00", match.start())
        return more is None or (more.span(), more.groups()) != (match.span(), match.groups())

    def _begin(self, field: TemplateField, match: Any) -> None:  # noqa: ANN401
        self._field, self._opening = field, match[0]
        self._captures = {key: it for key, it in match.groupdict().items() if it is not None}

    def _add(self, text: str) -> None:
        """Add text to the open region."""
        field = self._field
        if not text or field is None:
            return
        if field.name == CALLS:
            self._body.append(text)
            return
        self._body = self._body or [""]
        if field.name == CONTENT or field.name in REASONING:
            self._show(text, field)

    def _show(self, text: str, field: TemplateField) -> None:
        """Emit text, without white space at the start and the end of its region."""
        reasoning = field.name != CONTENT
        if field.parser.args.get("strip", True):
            text = self._space + text
            text = text if self._begun else text.lstrip()
            rest = text.rstrip()
            self._space, text = text[len(rest) :], rest
        if text:
            joined = field.join and not self._begun and field.name in self._said
            self._emitted.append((reasoning, field.join + text if joined else text))
            self._said.add(field.name)
            self._begun = True
            self._shown = self._shown or not reasoning

    def _finish(self, *, closed: bool) -> None:
        """End the open region, and continue in the one without delimiters."""
        field, body = self._field, "".join(self._body)
        opened = field is not self._template.implicit or self._body
        if field is not None and opened and field.name == CALLS:
            self._call(field, body, closed=closed)
        self._field, self._captures, self._opening = self._template.implicit, {}, ""
        self._body, self._space, self._begun = [], "", False

    def _call(self, field: TemplateField, body: str, *, closed: bool) -> None:
        raw = self._opening + body
        if not self._offered:
            self._emitted.append((False, raw))
            return
        try:
            values = region_values(field, body, self._captures, self._budget)
            calls = [check_call(it, self._offered) for it in written_calls(values, self._offered)]
        except ContentError as error:
            calls = [WrittenCall(self._captures.get("name", ""), error=str(error))]
        # Of other content, a part that the end of the text cut off would be missing unnoticed.
        cut = not closed and field.closes and field.parser.name not in _SELF_ENDING
        if cut:
            calls = [WrittenCall(it.name, it.arguments, error=_NEVER_CLOSED) for it in calls]
        found = [Found(it, _TEMPLATE, raw, closed or not field.closes) for it in calls]
        self.found += found
        if self._early:
            self._early.finish(None, found)
