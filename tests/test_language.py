"""Plain English: private phrases, which docs/words.txt cannot contain, are not in text or code."""

import re
from functools import cache
from pathlib import Path

from tests.tables import each_row

ROOT = Path(__file__).parents[1]
# Phrase -> what to write instead. Single words are in docs/words.txt, for codespell.
PHRASES = {
    r"\bleaves? with \d": "exits with code",
    r"(?<!here )\b(is|are|be) no\b(?! longer)": "is not a",
    r"\b(cannot|can|to) be had\b": "is not available",
    r"\bthat (ship|ships)\b|\bwhat ships\b": "bundled",
    r"\bmeant to pass\b": "conforming",
    r"\breally broken\b": "known-bad",
    r"\bstrict readings?\b": "oracle",
    r"\bfor (machines|people)\b": "machine-readable, human-readable",
    r"\bof (its|our|their) own\b": "its own, separate",
    r"\b(told|stands?) (by|in|as)\b": "detected from, is in",
    r"\bbe mended\b|\bonce more\b": "be fixed, again",
    r"\bleft open\b|\bleaves? open\b": "is ambiguous, is not judged",
    r"\bmust come out\b": "the expected result",
    r"\bwithout teeth\b|\bmust be earned\b": "without a mutant, enough evidence",
    r"(?<!word )(?<!it )\bin words\b(?![:.(])": "in the text",
    r"\blaid beside\b": "compared with",
    r"\bwhose fault\b": "blame",
    r"\bwhat (became|came) of\b": "the result of",
}
# The matrix is generated, with titles of scenarios.
GENERATED = {ROOT / "docs" / "matrix.md"}
# Not the words for models in `conversation/texts/*.toml`, which are part of recorded requests: a
# change of them would be a new version of the prompt.
FILES = sorted(
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "examples/**/*.md",
        "harness/**/*.py",
        "harness/**/*.j2",
    )
    for path in ROOT.glob(pattern)
    if path not in GENERATED
)


@cache
def _texts() -> dict[str, str]:
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in FILES}


@each_row("phrase", PHRASES)
def test_private_phrases_are_not_used(phrase: str) -> None:
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for name, text in _texts().items()
        for match in re.finditer(phrase, text)
    ]
    assert found == [], f"write: {PHRASES[phrase]}"
