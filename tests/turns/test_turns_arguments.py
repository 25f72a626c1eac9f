"""Argument texts: every class has its examples, and no text is repaired or raises."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from harness.turns import arguments
from harness.turns.argument_errors import (
    MAX_PYTHON_CHARACTERS,
    ArgumentClass,
    is_fenced,
    is_prose,
    is_python_dict,
)
from harness.turns.arguments import parse, same_value
from harness.turns.strict_json import MAX_DIGITS
from harness.wire.payload import MAX_DEPTH
from tests.tables import each_row


@each_row(
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


@each_row(
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


@each_row("text", ["你好", "Sure: {}", "*ok*", "(see above)", "😀 ok", "¿Qué?"])
def test_words_of_any_language_are_prose(text: str) -> None:
    assert is_prose(text)


@each_row("text", ["", "{好", "f(x)", "a=1", "<f>", "// no", "...", "True", "\ufeffa"])
def test_code_and_markup_are_not_prose(text: str) -> None:
    assert not is_prose(text)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
OBJECT_TEXTS = st.builds(
    json.dumps,
    OBJECTS,
    ensure_ascii=st.booleans(),
    indent=st.sampled_from([None, 0, 2]),
)
NEARLY_JSON = st.text(st.sampled_from("{}[]\",:\\'`~ \n019-.eTrueNon好\ud83d"), max_size=30)

EXAMPLES = {
    ArgumentClass.OBJECT: [
        "{}",
        ' {"city":"Paris"}\n',
        '{"content":"```py\\nprint(1)\\n```"}',
        '{"query":"what\'s the weather"}',
        '{"label":"\\ud83e Check"}',
        '{"label":"\ud83e Check"}',
        '{"comment":"[label]: see {\\"a\\":1}"}',
    ],
    ArgumentClass.VALUE: ['"abc"', "[1,2]", "42", "-1.5", "null", "true", '[{"a":1,"a":2}]'],
    ArgumentClass.EMPTY: ["", " ", "\r\n\t", "\u3000"],
    ArgumentClass.TRUNCATED: [
        '{"command":"rm -rf /tmp/build && cp',
        '{"a":{"b":1}',
        "{",
        '{"a',
        '{"a":',
        '{"a":1,',
        '{"a":"\\u00',
        "[1,",
        "fals",
    ],
    ArgumentClass.CONCATENATED: [
        '{"url":"a"}{"url":"b"}',
        '{}{"a":1}',
        '{"a":1}\n{"a":1}\n{"a":1}\n',
        '{"a":1,"a":2}{}',
    ],
    ArgumentClass.DOUBLE_ENCODED: ['"{\\"n\\": 2}"', '" {}"'],
    ArgumentClass.FENCED: [
        '```json\n{"city":"paris"}\n```',
        "```\n{}\n```\n",
        '```{"a":1}```',
        '~~~json\n{"a":"```"}\n~~~',
    ],
    ArgumentClass.PROSE: [
        "查询北京的天气",
        "Sure! I will search now.",
        "nothing to do",
        "Погода в Москве",
        "“Paris”",
        "none, thanks",
    ],
    ArgumentClass.PYTHON_LITERAL: [
        "{'query': 'x', 'all': True, 'limit': None}",
        '{"all": True}',
        "{'path': 'C:\\dir'}",
        "\n{'a': (1, {2}), 'b': -1.5}\n",
    ],
    ArgumentClass.DUPLICATE_KEYS: [
        '{"path":"safe.txt","path":"/etc/passwd"}',
        '{"a":1,"\\u0061":1}',
        '{"x":[{"y":{"k":1,"k":1}}]}',
    ],
    ArgumentClass.NOT_JSON: [
        '{"seconds":NaN}',
        "NaN",
        "-Infinity",
        "undefined",
        "None",
        '{"n":1e999}',
        '{"seconds":300,}',
        '{"n": 3 /* pages */}',
        '{"seconds":60*60*12}',
        '{"keywords": Dave, "days": 1}',
        "{“city”:“Paris”}",
        '{"name":"hi "hello world""}',
        '{"query": \\"foo\\"}',
        '{"text":"line 1\nline 2"}',
        '{"path":"C:\\Users\\me"}',
        '{"query":"TO-DO"}\n\nI\'ll now search for the items.',
        '{"path":"a"}</parameter></tool_call>',
        '{"a":1}}',
        '{"a":1}{"b":',
        '{"a":1}[]',
        "[]{}",
        "```json\n{}\n```\n```json\n{}\n```",
        "```json\n{}",
        "{'a', 'b'}",
        "{'a': f()}",
        "{'a': 1-1-1}",
        "{[]: 'a'}",
        'get_weather(city="Paris")',
        "<function=f></function>",
        "\ufeff{}",
        "\ud83e",
        "!?",
    ],
}


@given(OBJECTS)
def test_an_object_is_its_value(value: dict[str, Any]) -> None:
    parsed = parse(json.dumps(value))
    assert (parsed.kind, parsed.value, parsed.error) == (ArgumentClass.OBJECT, value, "")


@given(OBJECT_TEXTS, st.data())
def test_every_strict_prefix_of_an_object_is_truncated(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text) - 1))
    kind = ArgumentClass.TRUNCATED if text[:cut].strip() else ArgumentClass.EMPTY
    assert parse(text[:cut]).kind is kind


@given(st.lists(OBJECT_TEXTS, min_size=2, max_size=4), st.sampled_from(["", " ", "\n"]))
def test_objects_in_a_row_are_concatenated(texts: list[str], between: str) -> None:
    assert parse(between.join(texts)).kind is ArgumentClass.CONCATENATED


@given(OBJECT_TEXTS)
def test_one_layer_too_much_is_named(text: str) -> None:
    assert parse(json.dumps(text)).kind is ArgumentClass.DOUBLE_ENCODED
    assert parse(f"```json\n{text}\n```").kind is ArgumentClass.FENCED


@given(
    st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text(), min_size=1)
)
@example({"a": 'say "hi"', "b": "it's"})
def test_what_python_prints_is_never_taken_for_an_object(value: dict[str, Any]) -> None:
    assert parse(repr(value)).kind in {ArgumentClass.PYTHON_LITERAL, ArgumentClass.NOT_JSON}


@given(OBJECTS.filter(bool))
def test_a_repeated_key_is_found(value: dict[str, Any]) -> None:
    members = json.dumps(value)[1:-1]
    assert parse(f'{{"x":[{{{members},{members}}}]}}').kind is ArgumentClass.DUPLICATE_KEYS


@given(st.text(st.characters()) | NEARLY_JSON)
def test_any_text_has_a_value_or_a_reason(text: str) -> None:
    parsed = parse(text)
    has_value = parsed.kind in {ArgumentClass.OBJECT, ArgumentClass.EMPTY}
    assert (parsed.value is not None) == has_value
    assert (parsed.error == "") == has_value
    parsed.error.encode()
    assert same_value(text, text)


@each_row(
    ("kind", "text"),
    [(kind, text) for kind, texts in EXAMPLES.items() for text in texts],
)
def test_examples(kind: ArgumentClass, text: str) -> None:
    assert parse(text).kind is kind


def test_every_class_has_examples() -> None:
    assert set(EXAMPLES) == set(ArgumentClass)


@each_row(
    ("text", "facts"),
    [
        ("[1]", "an array at offset 0"),
        ("  null", "null at offset 2"),
        ('{"a":1,', "the end of the text at offset 7, where a key in double quotes"),
        ('{"a":1}{"b":2}', "2 objects in a row, the second at offset 7"),
        ('{"a":1}}', "a value that ends at offset 7, and then '}' at offset 7"),
        ('{"a":"1e999","b":1e999}', "too large to hold: '1e999'"),
        ('{"a":{"b":1},"b":2,"a":3}', "the key 'a' twice"),
        ('{"n":NaN}', "'NaN}' at offset 5, where a value"),
        (" ```\n{}\n```", "a Markdown fence around the whole text at offset 1"),
    ],
)
def test_an_error_says_what_and_where(text: str, facts: str) -> None:
    error = parse(text).error
    assert error.startswith("expected one JSON object, found ")
    assert facts in error


@each_row("digits", [17, 640, MAX_DIGITS - 1])
@each_row("sign", ["", "-"])
def test_integers_are_exact_at_any_size(digits: int, sign: str) -> None:
    value = parse(f'{{"n":{sign}{"9" * digits}}}').value
    assert value == {"n": int(f"{sign}1") * (10**digits - 1)}


def test_the_limits_are_stated() -> None:
    deepest = '{"a":' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}"
    too_deep = parse(f"[{deepest}]")
    assert parse(deepest).kind is ArgumentClass.OBJECT
    assert too_deep.kind is ArgumentClass.NOT_JSON
    assert str(MAX_DEPTH) in too_deep.error
    assert parse(f'{{"n":{"9" * (MAX_DIGITS + 1)}}}').kind is ArgumentClass.NOT_JSON


@each_row(
    "text",
    [
        "[" * 200_000,
        '{"a":' * 50_000,
        "[" * 100_000 + "]" * 100_000,
        "{'a':" + "(" * 4_000 + ")" * 4_000 + "}",
        "{'a':" + "-" * 200_000,
        "```" * 50_000,
        "a(" * 50_000,
    ],
)
def test_hostile_nesting_is_refused(text: str) -> None:
    assert parse(text).kind is ArgumentClass.NOT_JSON


def test_many_glued_objects_take_linear_time() -> None:
    assert parse('{"a":1}' * 50_000).kind is ArgumentClass.CONCATENATED


@given(OBJECTS)
def test_spelling_does_not_change_the_value(value: dict[str, Any]) -> None:
    backwards = dict(reversed(value.items()))
    assert same_value(json.dumps(value), json.dumps(backwards, ensure_ascii=False, indent=1))


@given(OBJECTS, OBJECTS)
def test_same_value_is_symmetric_and_agrees_with_the_values(
    first: dict[str, Any],
    second: dict[str, Any],
) -> None:
    a, b = json.dumps(first), json.dumps(second)
    assert same_value(a, b) == same_value(b, a)
    assert first == second or not same_value(a, b)


@each_row(
    ("a", "b", "same"),
    [
        ("", "{}", True),
        (" ", "{ }", True),
        ('{"a":1}', '{"a":1.0}', False),
        ('{"a":1.0}', '{"a":1.00}', True),
        ('{"a":10e1}', '{"a":1E2}', True),
        ('{"a":-0}', '{"a":0}', True),
        ('{"a":1}', '{"a":true}', False),
        ('{"a":0}', '{"a":false}', False),
        ('{"a":9007199254740992}', '{"a":9007199254740993}', False),
        ('{"a":0.1}', '{"a":0.10000000000000000555}', False),
        ('{"a":1e-99999999999999999999}', '{"a": 1e-99999999999999999999}', True),
        ('{"a":"\\u00e9"}', '{"a":"é"}', True),
        ('{"a":[1,2]}', '{"a":[2,1]}', False),
        ('"x"', "x", False),
        ("[ 1]", "[1]", True),
        ('{"a":1,"a":2}', '{"a":2}', False),
        ("{'a':1}", '{"a":1}', False),
        ("prose", "prose ", False),
    ],
)
def test_same_value_examples(a: str, b: str, same: bool) -> None:  # noqa: FBT001 -- a table's column
    assert same_value(a, b) is same


def test_no_more_meanings_are_kept_than_a_few_hundred_short_ones() -> None:
    for number in range(2000):
        assert same_value(f'{{"a": {number}}}', f'{{"a":{number}}}')
        assert not same_value(f'{{"a": {number}}}', f'{{"a":{number}.0}}')
    long = '{"a": "' + "x" * 2000 + '"}'
    before = arguments._kept_meaning.cache_info()
    assert before.currsize <= 512
    assert same_value(long, long + " ")
    assert arguments._kept_meaning.cache_info() == before
