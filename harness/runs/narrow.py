"""Words such as `dialect:openai-chat` -> the subjects that all of them fit.

Files are loaded only where a word asks for what stands in them.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from harness.errors import UsageError
from harness.judging.judge import Loaded
from harness.runs.areas import area_of
from harness.runs.plan import Subject
from harness.runs.select import subject_id
from harness.runs.worker import load_subject

_Term: TypeAlias = tuple[str, str]

_BY_ID: Final[dict[str, Callable[[str], str]]] = {"id": str, "area": area_of}
_BY_CONTENT: Final[dict[str, Callable[[Loaded], Iterable[str]]]] = {
    "dialect": lambda loaded: {each.dialect for each in loaded.cassette.interactions},
    "provider": lambda loaded: (loaded.cassette.provider,),
    "model": lambda loaded: (loaded.cassette.model,),
    "prompt": lambda loaded: (loaded.cassette.prompt,),
    "quirk": lambda loaded: loaded.scenario.quirks if loaded.scenario else (),
}
KEYS: Final = (*_BY_ID, *_BY_CONTENT)


def narrow(subjects: Iterable[Subject], words: str) -> Iterator[Subject]:
    """Yield those of `subjects` that fit each of `words`; all of them where there are none.

    Args:
        subjects: in their order.
        words: `key:glob`, separated by blanks; the keys are `KEYS`.

    Raises:
        UsageError: a word is none of these.
        UnreadableError: a file that must be looked into cannot be used.
    """
    terms = [_term(word) for word in words.split()]
    return (subject for subject in subjects if all(_fits(subject, term) for term in terms))


def _term(word: str) -> _Term:
    key, _, glob = word.partition(":")
    if key in KEYS and glob:
        return key, glob
    near = difflib.get_close_matches(key, KEYS, n=1)
    hint = f"did you mean {near[0]!r}? " if near and near[0] != key else ""
    raise UsageError(
        f"expected words `key:glob`, found {word!r}",
        where="select",
        hint=f"{hint}keys: {', '.join(KEYS)}",
    )


def _fits(subject: Subject, term: _Term) -> bool:
    key, glob = term
    if key in _BY_ID:
        return fnmatchcase(_BY_ID[key](subject_id(subject)), glob)
    if subject.kind == "log":  # it has no bytes to look into
        return False
    return any(fnmatchcase(value, glob) for value in _BY_CONTENT[key](load_subject(subject)))
