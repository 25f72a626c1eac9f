"""Each quirk that an oracle can report has a duty of the server."""

import re
from pathlib import Path

from harness import shipped
from harness.results.catalogue import load_catalogue
from harness.results.server_duties import load_server_duties

DIALECTS = Path(__file__).parents[2] / "harness" / "dialects"
CATALOGUE = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")


def test_each_quirk_of_an_oracle_has_a_duty_and_no_other_has_one() -> None:
    named: set[str] = set()
    for path in [
        *DIALECTS.rglob("oracle.py"),
        *DIALECTS.rglob("oracle/*.py"),
        DIALECTS / "table.py",
        DIALECTS.parent / "judging" / "unusable.py",
    ]:
        named |= set(re.findall(r'"([A-Z0-9]+(?:-[A-Z0-9]+)+)"', path.read_text(encoding="utf-8")))
    duties = load_server_duties()
    assert {name for name, duty in duties.items() if not duty.title} == named & CATALOGUE.keys()
    of_turns = (DIALECTS.parent / "judging" / "turn_duties.py").read_text(encoding="utf-8")
    titled = {name for name, duty in duties.items() if duty.title}
    assert titled == {name for name in titled if f'= "{name}"' in of_turns} - CATALOGUE.keys()


def test_duties_are_sentences() -> None:
    assert [
        quirk for quirk, duty in load_server_duties().items() if not duty.send.endswith(".")
    ] == []


def test_a_deviation_without_a_clear_meaning_violates_a_must() -> None:
    duty = load_server_duties()["ARGS-OBJECT"]
    assert duty.level_in("openai-chat", ambiguous=False) == "MUST"
    assert duty.level_in("mistral", ambiguous=False) == "MAY"
    assert duty.level_in("mistral", ambiguous=True) == "MUST"
