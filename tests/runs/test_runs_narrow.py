"""Words that select subjects: by id without a look into files, by content with one."""

import pytest

from harness import shipped
from harness.errors import UsageError
from harness.runs.narrow import narrow
from harness.runs.plan import Subject
from harness.runs.select import select, subject_id


@pytest.fixture(name="subjects", scope="module")
def _subjects() -> tuple[Subject, ...]:
    return select([shipped.folder("scenarios") / "dashscope"])


def test_without_words_all_are_kept(subjects: tuple[Subject, ...]) -> None:
    assert tuple(narrow(subjects, " ")) == subjects


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("id:dashscope/set-*", ["dashscope/set-memory"]),
        (
            "area:dashscope id:*/split-chunks*",
            ["dashscope/split-chunks-null", "dashscope/split-chunks"],
        ),
        ("area:other", []),
        ("dialect:openai-chat provider:dash* id:*/parallel", ["dashscope/parallel"]),
        ("dialect:anthropic", []),
        ("quirk:DELTA-ADDITIONAL-KWARGS", ["dashscope/additional-kwargs"]),
    ],
)
def test_each_word_must_fit(subjects: tuple[Subject, ...], words: str, ids: list[str]) -> None:
    assert [subject_id(each) for each in narrow(subjects, words)] == ids


@pytest.mark.parametrize("words", ["dialekt:x", "dialect", "dialect:", ":x"])
def test_a_word_of_another_kind_is_refused(subjects: tuple[Subject, ...], words: str) -> None:
    with pytest.raises(UsageError, match="expected words `key:glob`"):
        narrow(subjects, words)
