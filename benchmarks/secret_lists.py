"""Measure how many secrets of a list the scrubber finds, and how many ordinary texts it changes.

    python benchmarks/secret_lists.py [--secrets FILE] [--texts FILE]

Each file has one JSON string or object on each line. An object has the key `text` and, for
secrets, `secret`, the part that must be gone. Without the files, the script draws 300 secrets of
the forms in `tests/attack/planted.py`, which does not use the detectors, and takes 1,000 texts
from the documentation, the code and the recorded answers of this repository.
"""

import argparse
import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from harness.recording.secrets.scan import secrets_in, without_secrets
from harness.shipped import bundled_folder
from harness.wire.cassette_file import load_cassette
from tests.attack.planted import TEXTS

ROOT = Path(__file__).parents[1]


def drawn_secrets(count: int) -> Iterator[tuple[str, str, str]]:
    """Yield kind, text and the part that must be gone of `count` secrets."""
    source = random.Random(0)  # noqa: S311 - the same every time
    kinds = sorted(TEXTS)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        made = TEXTS[kind](source)
        yield kind, made.text, made.secrets[0]


def ordinary_texts(count: int) -> list[str]:
    """Return `count` texts: lines of documentation, of code, and of recorded responses."""
    source = random.Random(0)  # noqa: S311 - the same every time
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    code = [*ROOT.glob("harness/**/*.py")]
    texts = [
        line for path in (*pages, *code) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    for path in islice(sorted(bundled_folder("cassettes").rglob("*.yaml")), None, None, 3):
        for interaction in load_cassette(path).interactions:
            texts += interaction.body.decode("utf-8", "replace").splitlines()
    lines = sorted({line for line in texts if len(line) > 20})  # noqa: PLR2004 - words
    return source.sample(lines, min(count, len(lines)))


def _rows(path: Path) -> list[dict[str, str]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [{"text": row} if isinstance(row, str) else row for row in rows]


def main() -> None:
    """Print the recall and the share of false positives."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--secrets", type=Path)
    parser.add_argument("--texts", type=Path)
    options = parser.parse_args()
    secrets = (
        [
            (row.get("kind", ""), row["text"], row.get("secret", ""))
            for row in _rows(options.secrets)
        ]
        if options.secrets
        else list(drawn_secrets(300))
    )
    texts = [row["text"] for row in _rows(options.texts)] if options.texts else ordinary_texts(1000)
    found = 0
    for kind, text, secret in secrets:
        body = text.encode()
        clean = without_secrets(body, "a list")
        gone = secret.encode() not in clean if secret else clean != body
        found += gone
        if not gone:
            print(f"missed: {kind}: {text[:80]!r}")
    changed = [text for text in texts if secrets_in(text.encode())]
    for text in changed:
        kinds = ", ".join(each.kind for each in secrets_in(text.encode()))
        print(f"changed: {kinds}: {text[:120]!r}")
    print(f"recall {found}/{len(secrets)} = {found / len(secrets):.1%}")
    print(f"false positives {len(changed)}/{len(texts)} = {len(changed) / len(texts):.2%}")


if __name__ == "__main__":
    main()
