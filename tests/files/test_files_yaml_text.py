"""Hostile YAML is refused with a place and a next step; plain YAML means what it says."""

import json
from collections.abc import Callable

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.files import yaml_text
from harness.files.yaml_text import format_flow, load_yaml, load_yaml_documents
from tests.tables import each_row

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc<=~"), inner),
    max_leaves=20,
)

BILLION_LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)

HOSTILE = {
    "deep sequences": ("[" * 100_000 + "]" * 100_000, 1, "levels"),
    "deep mappings": ("{a: " * 100_000, 1, "levels"),
    "deep blocks": ("- " * 100_000, 1, "levels"),
    "billion laughs": (BILLION_LAUGHS, 7, "aliases written out"),
    "alias to itself": ("a: &x [*x]", 1, "no finished value"),
    "unknown alias": ("a: *x", 1, "no finished value"),
    "alias as key": ("a: &x b\n*x : 1", 2, "text key"),
    "python object": ('a: 1\nb: !!python/object/apply:os.system ["true"]', 2, "tag"),
    "python name": ("a: !!python/name:os.system", 1, "tag"),
    "renamed tag": ("%TAG ! tag:yaml.org,2002:python/\n---\n!none x", 3, "tag"),
    "local tag": ("a: !thing 1", 1, "tag"),
    "explicit number": ("a: !!int '1:1'", 1, "tag"),
    "two equal keys": ("a: 1\nb: 2\na: 3", 3, "occurs twice"),
    "two equal keys inside": ("a: [{b: 1, b: 2}]", 1, "occurs twice"),
    "collection as key": ("? [a]\n: 1", 1, "text key"),
    "two documents": ("a: 1\n---\nb: 1", 2, "one document"),
    "unclosed": ("a: [1, 2\nb: 3", 2, "YAML syntax error"),
    "bad base64": ("a: !!binary a", 1, "base64"),
    "merge of text": ("<<: x", 1, "merging"),
    "merge of texts": ("a: &a {}\n<<: [*a, x]", 2, "merging"),
    "merge key as value": ("a:\n- <<", 2, "merge key"),
    "same anchor twice": ("a: &x 1\nb: &x 2", 2, "occurs twice"),
    "text tag on mapping": ("a: !!str {}", 1, "expected a scalar"),
    "sequence tag on mapping": ("a: !!seq {}", 1, "expected a sequence"),
    "mapping tag on text": ("a: !!map x", 1, "expected a mapping"),
}


@given(PLAIN)
def test_json_means_the_same_as_yaml(value: object) -> None:
    assert load_yaml(json.dumps(value), "x.yaml") == value


@given(st.binary(max_size=200) | st.text("[]{}&*a:-!|> \n'\"?,%#", max_size=60))
def test_any_input_loads_or_is_refused_with_its_place(data: bytes | str) -> None:
    error = _refusal(data)
    assert error is None or (error.where.startswith("x.yaml") and error.hint)


def _refusal(data: bytes | str) -> UnreadableError | None:
    try:
        load_yaml_documents(data, "x.yaml")
    except UnreadableError as error:
        return error
    return None


@each_row("name", HOSTILE)
def test_hostile_yaml_is_refused_with_its_line(name: str) -> None:
    text, line, fact = HOSTILE[name]
    with pytest.raises(UnreadableError, match=fact) as caught:
        load_yaml(text, "x.yaml")
    assert caught.value.where == f"x.yaml:{line}"


@pytest.mark.parametrize("data", [b"a: \xff", b"\xff\xfe\x00", "a\x00b", "\ud800"])
def test_text_that_is_no_unicode_is_refused(data: bytes | str) -> None:
    with pytest.raises(UnreadableError):
        load_yaml(data, "x.yaml")


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 10)
    with pytest.raises(UnreadableError, match="at most 10 values"):
        load_yaml("- a\n" * 11, "x.yaml")


def test_too_many_bytes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_BYTES", 10)
    with pytest.raises(UnreadableError, match="at most 10 bytes"):
        load_yaml("a" * 11, "x.yaml")


def test_scalars_follow_the_core_schema() -> None:
    text = "{a: no, b: 2026-11-02, c: 1:20, d: 0123, e: 1e5, f: -7, g: , h: 0x1f, i: 1.5, j: True}"
    assert load_yaml(text, "x.yaml") == {
        "a": "no",
        "b": "2026-11-02",
        "c": "1:20",
        "d": "0123",
        "e": 1e5,
        "f": -7,
        "g": None,
        "h": 31,
        "i": 1.5,
        "j": True,
    }


def test_a_hostile_number_stays_text() -> None:
    assert load_yaml("1" + ":1" * 100_000, "x.yaml") == "1" + ":1" * 100_000
    assert load_yaml("9" * 100_000, "x.yaml") == "9" * 100_000


def test_aliases_and_merges_of_modest_size_are_plain_data() -> None:
    text = "a: &a {x: 1}\nb: {c: &c {<<: *a, y: 2}}\nd: {<<: *c, y: 3}"
    assert load_yaml(text, "x.yaml") == {
        "a": {"x": 1},
        "b": {"c": {"x": 1, "y": 2}},
        "d": {"x": 1, "y": 3},
    }


def test_merged_mappings_yield_to_own_keys_and_the_first_one_wins() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {z: 3, <<: [*a, *b]}\nd: {'<<': 4}"
    merged = load_yaml(text, "x.yaml")
    assert isinstance(merged, dict)
    assert merged["c"] == {"x": 1, "y": 1, "z": 3}
    assert merged["d"] == {"<<": 4}
    assert merged["a"] == {"x": 1, "y": 1}


def test_tags_of_the_core_schema_set_the_type() -> None:
    text = "{a: !!str 1, b: !!binary YQ==, c: !!map {d: 2}, e: !!seq [-0x1F, +3, .5, -.INF]}"
    assert load_yaml(text, "x.yaml") == {
        "a": "1",
        "b": b"a",
        "c": {"d": 2},
        "e": [-31, 3, 0.5, float("-inf")],
    }


def test_a_local_tag_is_read_where_it_is_allowed() -> None:
    assert load_yaml("a: !up x", "x.yaml", tags={"!up": str.upper}) == {"a": "X"}
    with pytest.raises(UnreadableError, match="expected a scalar"):
        load_yaml("a: !up [x]", "x.yaml", tags={"!up": str.upper})


OBJECTS = {"tag:yaml.org,2002:python/object/apply:": str}


@each_row(
    ("text", "value"),
    [
        ("? !!python/object/apply:a.istr [A]\n: 1\n? B\n: 2", {"A": 1, "B": 2}),
        (
            "a: !!python/object/apply:a.istr [x]\nb: !!python/object/apply:a.b y",
            {"a": "x", "b": "y"},
        ),
        ("- ? &k !!python/object/apply:a.istr [A]\n  : 1\n- ? *k\n  : 2", [{"A": 1}, {"A": 2}]),
    ],
)
def test_the_text_under_the_tag_of_an_object_counts(text: str, value: object) -> None:
    assert load_yaml(text, "x.yaml", tags=OBJECTS) == value


@each_row(
    "text",
    [
        "a: !!python/object/apply:os.system [a, b]",
        "a: !!python/object/apply:os.system []",
        "a: !!python/object/apply:os.system [[a]]",
        "a: !!python/object/apply:os.system [1]",
        "a: !!python/object/apply:os.system {args: [a]}",
        "a: !!python/object:os.system [a]",
        "a: !!python/name:os.system x",
        "? !!python/object/apply:a.istr [A]\n: 1\n? A\n: 2",
        "? &k !!python/object/apply:a.istr [A]\n: 1\n? *k\n: 2",
    ],
)
def test_an_object_that_is_not_one_text_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        load_yaml(text, "x.yaml", tags=OBJECTS)


def test_empty_text_and_many_documents() -> None:
    assert load_yaml("", "x.yaml") is None
    assert load_yaml_documents("", "x.yaml") == ()
    assert load_yaml_documents("a: &x 1\n---\n- 2\n", "x.yaml") == ({"a": 1}, [2])
    with pytest.raises(UnreadableError, match="no finished value"):
        load_yaml_documents("a: &x 1\n---\n- *x\n", "x.yaml")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ("no", "null", "1e5", "<<", "=", "2026-11-22", "0o7", "12:30", "~", "")
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.floats(allow_nan=False, width=64),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
).filter(lambda value: "Infinity" not in json.dumps(value))


def _core(text: str) -> object:
    return yaml_text.load_yaml(text, "x")


def _older(text: str) -> object:
    return yaml.load(text, yaml.CSafeLoader)


@pytest.mark.parametrize("read", [_core, _older])
@given(value=JSON)
@example(value=1e16)
@example(value=[-1e-07])
def test_any_json_comes_back(read: Callable[[str], object], value: object) -> None:
    back = read(format_flow(value))
    assert json.dumps(back) == json.dumps(value)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
def test_a_number_that_json_does_not_have_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        format_flow(value)
