"""The adapters in README and the how-to are short, and conform on ordinary answers."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from harness import shipped
from harness.judging.judge import judge_subject
from harness.normalizers.protocol import Normalizer
from harness.runs.load import load_subject
from harness.runs.plan import Subject

ROOT = Path(__file__).parents[3]
FOLDER = shipped.bundled_folder("scenarios")
SCENARIOS = ("text/plain", "calls/as-documented", "calls/parallel", "errors/http-429")
# A warning of a library about its dependencies is not an error of its user.
pytestmark = pytest.mark.filterwarnings("default")


def adapters(page: str) -> list[str]:
    """Return the examples that define a normalizer with an SDK."""
    text = (ROOT / page).read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return [each for each in examples if "def normalize" in each and "import sdk" in each]


EXAMPLES = [*adapters("README.md"), *adapters("docs/how-to/test-an-sdk.md")]


def test_an_adapter_takes_ten_lines() -> None:
    assert len(EXAMPLES) == 4
    assert EXAMPLES[0] == EXAMPLES[1]
    sizes = [len([line for line in each.splitlines() if line.strip()]) for each in EXAMPLES]
    assert max(sizes) <= 10


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("example", EXAMPLES[1:], ids=("client", "server", "async"))
def test_an_example_conforms_on_an_ordinary_answer(example: str, scenario: str) -> None:
    packages = re.findall(r"^import (\w+)|lient\(\"(\w+)\"", example, re.MULTILINE)
    missing = [name for name in map("".join, packages) if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - an example of this repository
    roots = (str(FOLDER), str(shipped.bundled_folder("cassettes")))
    subject = load_subject(Subject("scenario", str(FOLDER / f"{scenario}.yaml"), roots))
    result, case = judge_subject(subject, Normalizer("example", names["normalize"]), cuts="quick")
    assert result.outcome.conforms, case
