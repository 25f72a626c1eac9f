"""README shows what the tool prints: the tables stand in it line by line."""

from pathlib import Path

import pytest

from scripts.readme_output import renewed, shown

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
PRINTED = (
    "Normalizers by conformance\n  rank  name\n  1     a\n\nText dialects by conformance\n  x\n\n"
    "Outcomes of cells\n  name  pass\n\nModels by turn success\n  rank  name\n  1     m\n"
)


def test_the_tables_that_readme_has_room_for_take_the_place_of_the_old() -> None:
    text = renewed(README, PRINTED)
    assert f"```text\n{shown(PRINTED)}```\n" in text
    assert "Text dialects by conformance" not in shown(PRINTED)
    assert renewed(text, PRINTED) == text
    before, _, after = README.partition("```text\nNormalizers by conformance")
    assert text.startswith(before)
    assert text.endswith(after.partition("```\n")[2])


def test_without_a_block_nothing_is_written() -> None:
    with pytest.raises(ValueError, match="found 0"):
        renewed("# harness\n", PRINTED)
