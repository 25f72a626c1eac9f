"""Write the result of a tool as text of bounded length for a model.

Text is unchanged, results of a search become numbered entries, and everything else becomes JSON
(quirk HIST-RESULT-NON-STRING). A text that is too long is truncated between entries or characters,
and states how much is missing. The text of a failed tool says that it failed, and never looks like
an empty result (quirk HIST-RESULT-ERROR-LOST).
"""

import json
import unicodedata
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from harness.conversation.wording import TEXTS, Language, ResultTexts
from harness.turns.exact_json import join_surrogates

# Of one result, including the notice that it was truncated.
MOST_CHARACTERS: Final = 8_000
# The notice and some of the text must fit.
FEWEST_CHARACTERS: Final = 200

_TITLE_KEYS: Final = ("title",)
_SOURCE_KEYS: Final = ("url", "source", "link", "href")
_CONTENT_KEYS: Final = ("content", "snippet", "text", "description", "summary", "body")
_LIST_KEYS: Final = ("results", "items", "organic_results")
_SUMMARY_KEYS: Final = ("answer", "summary")
_ERROR_KEYS: Final = ("error", "errors")
# Other keys of a search without results; no information is lost if they are left out.
_KEYS_WITHOUT_RESULTS: Final = frozenset((*_SUMMARY_KEYS, "query"))
_JOINER: Final = "\u200d"
_MARKS: Final = frozenset(("Mn", "Me", "Mc"))
_MODIFIERS: Final = range(0x1F3FB, 0x1F400)
# A visible character has no more code points than this.
_LONGEST_CHARACTER: Final = 32


class SearchResult(msgspec.Struct, frozen=True):
    """One entry in the results of a search tool."""

    title: str
    source: str
    content: str


def result_text(value: object, language: Language = "en", *, limit: int = MOST_CHARACTERS) -> str:
    """Return the value that a tool returned as text.

    Args:
        value: text, or any JSON value; other values are written as `str` does.
        language: the language of the words around the value.
        limit: the maximum number of characters including the notice, at least `FEWEST_CHARACTERS`.
    """
    words, limit = TEXTS[language].result, max(limit, FEWEST_CHARACTERS)
    found = search_results(value)
    if found is not None:
        return _entries(found, _summary(value), words, limit)
    text = value if isinstance(value, str) else _json(value)
    return truncate(join_surrogates(text), words.cut, limit) if text.strip() else words.empty


def error_text(error: str, language: Language = "en", *, limit: int = MOST_CHARACTERS) -> str:
    """Return the text that the model gets instead of a result, with the error."""
    words, limit = TEXTS[language].result, max(limit, FEWEST_CHARACTERS)
    reason = join_surrogates(" ".join(error.split())) or "?"
    return truncate(f"<tool_error>{words.failed}{reason}</tool_error>", words.cut, limit)


def search_results(value: object) -> tuple[SearchResult, ...] | None:
    """Return the entries in `value`, or None if it is not the result of a search.

    An entry is an object with a title and a source, under the keys that search services use. All
    objects of the list must be entries, because in other objects every field may matter. For the
    same reason, a list next to an error, or an empty list next to other fields, does not count.
    """
    listed = _listed(value)
    if listed is None:
        return None
    entries = tuple(map(_entry, listed))
    found = tuple(entry for entry in entries if entry)
    return found if len(found) == len(entries) else None


def truncate(text: str, notice: str, limit: int) -> str:
    """Return `text`, or as much of it as fits in `limit` characters with the notice after it.

    Args:
        text: a text of any length.
        notice: a format string that states that text is missing, with the fields `missing` and
            `total`.
        limit: the maximum number of characters of the result, at least `FEWEST_CHARACTERS`.
    """
    if len(text) <= limit:
        return text
    total = f"{len(text):,}"
    available = limit - len(notice.format(missing=total, total=total)) - 1
    end = _character_boundary(text, available)
    return f"{text[:end]}\n{notice.format(missing=f'{len(text) - end:,}', total=total)}"


def _character_boundary(text: str, end: int) -> int:
    """Return the last offset up to `end` that is not inside one visible character."""
    lowest = max(end - _LONGEST_CHARACTER, 0)
    start = end
    while start > lowest and _continues(text, start):
        start -= 1
    return start if start > lowest or lowest == 0 else end


def _continues(text: str, at: int) -> bool:
    """Whether the code point at `at` belongs to the same visible character as the previous one."""
    sign = text[at]
    joined = _JOINER in (sign, text[at - 1])
    return (
        joined
        or unicodedata.category(sign) in _MARKS
        or ord(sign) in _MODIFIERS
        or text[at - 1 : at + 1] == "\r\n"
    )


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except Exception:  # noqa: BLE001 - keys that are not text, a cycle, a broken `__str__`
        return _python(value)


def _python(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a number with too many digits, third-party code
        return str(type(value))


def _listed(value: object) -> list[Any] | None:
    if isinstance(value, dict):
        if any(value.get(key) for key in _ERROR_KEYS):
            return None
        key = next((key for key in _LIST_KEYS if key in value), None)
        listed = value.get(key)
        if listed == [] and not _KEYS_WITHOUT_RESULTS.issuperset(
            each for each in value if value[each]
        ):
            return None
        return listed if isinstance(listed, list) else None
    return value if isinstance(value, list) and value else None


def _entry(value: object) -> SearchResult | None:
    if not isinstance(value, dict):
        return None
    title, source, content = (
        _first(value, keys) for keys in (_TITLE_KEYS, _SOURCE_KEYS, _CONTENT_KEYS)
    )
    return SearchResult(title, source, content) if source and "title" in value else None


def _summary(value: object) -> str:
    return _first(value, _SUMMARY_KEYS) if isinstance(value, dict) else ""


def _first(value: dict[Any, Any], keys: Iterable[str]) -> str:
    found = (value[key] for key in keys if isinstance(value.get(key), str))
    return next((join_surrogates(text) for text in found if text.strip()), "")


def _entries(found: tuple[SearchResult, ...], summary: str, words: ResultTexts, limit: int) -> str:
    """Return as many complete entries as fit, and how many are missing; the first may be cut."""
    lead = f"{words.summary}{summary.strip()}\n\n" if summary else ""
    if not found:
        return truncate(lead + words.none_found, words.cut, limit)
    texts = [_numbered(number, entry, words) for number, entry in enumerate(found, start=1)]
    complete = f"{lead}{words.results}\n\n" + "\n\n".join(texts)
    if len(complete) <= limit:
        return complete
    total = f"{len(texts):,}"
    # Not all of them fit, because the complete text is longer.
    available = limit - len(words.cut_entries.format(missing=total, total=total)) - 2
    text, shown = f"{lead}{words.results}", 0
    while len(text) + 2 + len(texts[shown]) <= available:
        text = f"{text}\n\n{texts[shown]}"
        shown += 1
    if not shown:  # the first entry alone is too long
        return truncate(complete, words.cut, limit)
    missing = f"{len(texts) - shown:,}"
    return f"{text}\n\n{words.cut_entries.format(missing=missing, total=total)}"


def _numbered(number: int, entry: SearchResult, words: ResultTexts) -> str:
    title = " ".join(entry.title.split()) or words.untitled
    source = " ".join(entry.source.split())
    lines = [f"{number}. {title}"]
    lines += [f"   {words.source}{source}"] if source else []
    lines += [f"   {words.content}{entry.content.strip()}"] if entry.content.strip() else []
    return "\n".join(lines)
