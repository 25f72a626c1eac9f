"""Select what a command judges by the filters `key:glob` of its option `--select`.

A subject, which is a scenario or a cassette, must match every filter. The keys are `FILTER_KEYS`.
"""

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final

from harness.errors import UnreadableError, UsageError
from harness.judging.judge import LoadedSubject
from harness.results.result import CASSETTE_PREFIX, area_of
from harness.runs.load import load_subject
from harness.runs.plan import Subject, subject_id
from harness.wording import nearest

_BY_SUBJECT: Final[dict[str, Callable[[Subject], str]]] = {
    "id": subject_id,
    "area": lambda subject: area_of(subject_id(subject)),
    "kind": lambda subject: subject.judges,
}
_BY_CONTENT: Final[dict[str, Callable[[LoadedSubject], Iterable[str]]]] = {
    "dialect": lambda loaded: {each.dialect for each in loaded.cassette.interactions},
    "provider": lambda loaded: (loaded.cassette.provider,),
    "model": lambda loaded: (loaded.cassette.model,),
    "prompt": lambda loaded: (loaded.cassette.prompt,),
    "evidence": lambda loaded: (loaded.evidence.kind if loaded.evidence else "",),
    "quirk": lambda loaded: loaded.scenario.quirks if loaded.scenario else (),
}
FILTER_KEYS: Final = (*_BY_SUBJECT, *_BY_CONTENT)
_ABOUT_MODELS: Final = ("model:", "prompt:", f"id:{CASSETTE_PREFIX}")


def filter_subjects(subjects: Iterable[Subject], words: str) -> Iterator[Subject]:
    """Yield the subjects that match all filters; without filters, all subjects.

    Files are loaded only if a filter is about their content. A file that cannot be loaded matches,
    so that the run reports it.

    Args:
        subjects: scenarios, cassettes and logs, which are yielded in the same order.
        words: filters `key:glob`, separated by spaces; the keys are `FILTER_KEYS`.

    Raises:
        UsageError: a part of `words` is not `key:glob`, or has an unknown key.
    """
    terms = [_parse_filter(word) for word in words.split()]
    return (subject for subject in subjects if all(_matches(subject, *term) for term in terms))


def selects_models(words: str) -> bool:
    """Return whether a filter in `words` selects models, prompts or recordings."""
    return any(word.startswith(_ABOUT_MODELS) for word in words.split())


def globs_of(words: str, key: str) -> tuple[str, ...]:
    """Return the globs of the filters in `words` that have this key.

    Raises:
        UsageError: as of `filter_subjects`.
    """
    return tuple(glob for name, glob in map(_parse_filter, words.split()) if name == key)


def _parse_filter(word: str) -> tuple[str, str]:
    key, _, glob = word.partition(":")
    if key in FILTER_KEYS and glob:
        return key, glob
    near = "" if key in FILTER_KEYS else nearest(key, FILTER_KEYS)
    raise UsageError(
        f"expected words `key:glob`, found {word!r}",
        where="select",
        hint=f"{near} keys: {', '.join(FILTER_KEYS)}".strip(),
    )


def _matches(subject: Subject, key: str, glob: str) -> bool:
    if subject.kind == "unreadable":
        return True
    if key in _BY_SUBJECT:
        return fnmatchcase(_BY_SUBJECT[key](subject), glob)
    if subject.kind == "log":  # it has no cassette
        return False
    try:
        loaded = load_subject(subject)
    except UnreadableError:
        return True
    return any(fnmatchcase(value, glob) for value in _BY_CONTENT[key](loaded))
