"""Foreign text: named, never evaluated, and JSON values inside it are left alone."""

import pytest

from harness.turns.foreign_text import (
    MAX_PYTHON_CHARACTERS,
    is_fenced,
    is_prose,
    is_python_dict,
)


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("```\n{}\n```", True),
        ('~~~json5\n{"a": "```"}\n~~~', True),
        ('```json\n{"a": "```"}\n```', True),
        ("``` {} ```", True),
        ("``````", True),
        ("```", False),
        ("`````", False),
        ("```a``` and ```b```", False),
        ("```\n{}\n```\ntext\n```\n{}\n```", False),
        ("here: ```{}```", False),
        ("```\n{}\n~~~", False),
    ],
)
def test_fences(text: str, fenced: bool) -> None:  # noqa: FBT001 -- a table's column
    assert is_fenced(text) is fenced


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("{'a': 1}", True),
        ("{'a': \"it's\", 'b': '\\d \\400 \\\\'}", True),
        ("{u'a': r'\\d', 'b': -1, 'c': 1e5, 'd': .5}", True),
        ('{"a": None}', True),
        ('{"a": 1,}', False),
        ('{"a": "None",}', False),
        ("{'a': __import__('os')}", False),
        ("{'a': b'x'}", False),
        ("{'a': 1 + 1}", False),
        ("{'a': '\ud83d'}", False),
        ("{'a'}", False),
        ("['a']", False),
        ("{'a': " + "9" * 5_000 + "}", False),
        ("{'a': '" + "x" * MAX_PYTHON_CHARACTERS + "'}", False),
    ],
)
def test_python_dicts(text: str, python: bool) -> None:  # noqa: FBT001 -- a table's column
    assert is_python_dict(text) is python


@pytest.mark.parametrize("text", ["你好", "Sure: {}", "*ok*", "(see above)", "😀 ok", "¿Qué?"])
def test_words_of_any_language_are_prose(text: str) -> None:
    assert is_prose(text)


@pytest.mark.parametrize(
    "text", ["", "{好", "f(x)", "a=1", "<f>", "// no", "...", "True", "\ufeffa"]
)
def test_code_and_markup_are_not_prose(text: str) -> None:
    assert not is_prose(text)
