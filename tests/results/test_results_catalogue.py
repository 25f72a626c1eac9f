"""The catalogue loads strictly, and the bundled one is valid."""

from pathlib import Path

import pytest

from harness import shipped
from harness.errors import UnreadableError
from harness.results.catalogue import Quirk, load_catalogue, load_excluded

ONE = "- {id: A-B, group: A, title: t, summary: s, rule: r, severity: crash, references: [u]}\n"


def load(folder: Path, text: str) -> dict[str, Quirk]:
    path = folder / "any.yaml"
    path.write_text(text, encoding="utf-8")
    return load_catalogue(folder)


def test_a_quirk_loads(tmp_path: Path) -> None:
    assert load(tmp_path, ONE) == {"A-B": Quirk("A-B", "A", "t", "s", "r", "crash", ("u",))}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE + ONE, "two quirks have the id 'A-B'"),
        (ONE.replace("rule:", "rulez:"), "[0]: unknown key 'rulez'"),
        (ONE.replace("crash", "bad"), "[0].severity: invalid enum value 'bad'"),
        (ONE.replace("A-B", "a b"), "[0].id: expected `str` matching regex"),
        ("{}", "expected a list, found an object"),
    ],
)
def test_catalogue_refuses_a_mistake(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        load(tmp_path, text)
    assert said in caught.value.what


def test_catalogue_refuses_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="found none"):
        load_catalogue(tmp_path / "none")


def test_bundled_catalogue_loads() -> None:
    folder = shipped.bundled_folder("catalogue")
    quirks = load_catalogue(folder / "quirks")
    assert len(quirks) > 100
    assert all(len(quirk.references) <= 3 for quirk in quirks.values())
    assert load_excluded(folder / "excluded.yaml").keys() <= quirks.keys()
