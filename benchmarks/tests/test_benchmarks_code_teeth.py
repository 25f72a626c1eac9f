"""Faults in the code that ships: each is one change, and the suite judges the changed code."""

import ast
import json
import subprocess
import sys
from collections import Counter
from functools import cache

from benchmarks import code_teeth, explained_mutants
from benchmarks.code_mutations import mutated, mutated_text, mutations, text_mutations
from benchmarks.suite_cells import ROOT, lines_at_import

SOURCE = '''
"""A module."""

def first(values: list[int], *, most: int = 3) -> str:
    """Return one."""
    for value in values:
        if value >= most and not is_odd(value):
            raise ValueError("too many")
        total.add(value)
    return f"{total} values" if total else ""
'''
TEXTS = """[refusal]
unknown = "There is none. Use another."
system = '''
# Tools

Use them.
'''
"""


def test_faults_of_a_function() -> None:
    found = [each.name.removeprefix("first: ") for each in mutations(SOURCE)]
    assert found == [
        "constant: 3 => 4",
        "boolean: value >= most and (not is_odd(value)) => value >= most or not is_odd(value)",
        "operand: value >= most and (not is_odd(value)) => not is_odd(value)",
        "operand: value >= most and (not is_odd(value)) => value >= most",
        "comparison: value >= most => value > most",
        "negation: not is_odd(value) => is_odd(value)",
        "statement: raise ValueError('too many') => pass",
        "statement: total.add(value) => pass",
        "result: return f'{total} values' if total else '' => return None",
        "condition: total => not total",
        "constant: ' values' => ' valuesXX'",
        "constant: '' => 'XX'",
    ]


def test_each_fault_is_another_valid_module() -> None:
    path = "normalizers/respond.py"
    source = (ROOT / "harness" / path).read_text(encoding="utf-8")
    found = mutations(source)
    trees = [mutated(source, index) for index in range(len(found))]
    for tree in trees:
        compile(tree, path, "exec")
    assert len(set(map(ast.dump, (ast.parse(source), *trees)))) == len(found) + 1
    assert len({each.name for each in found}) == len(found)


def test_a_text_loses_one_sentence() -> None:
    found = {
        each.before: mutated_text(TEXTS, index) for index, each in enumerate(text_mutations(TEXTS))
    }
    assert list(found) == ["There is none.", "Use another.", "# Tools", "Use them."]
    for sentence, text in found.items():
        assert sentence not in text
        assert all(other in text for other in found.keys() - {sentence})


@cache
def every_fault() -> tuple[code_teeth.Fault, ...]:
    """Return each fault of the repository, found once."""
    return tuple(code_teeth.faults())


def test_a_sample_has_as_many_of_each_group() -> None:
    every = every_fault()
    chosen = code_teeth.drawn(every, 100, 7)
    assert set(Counter(each.group for each in chosen).values()) == {20}
    assert chosen == code_teeth.drawn(every, 100, 7) != code_teeth.drawn(every, 100, 8)


def test_an_explanation_holds_for_its_name_or_all_names_that_start_so() -> None:
    explained = explained_mutants.Explained({"a.py: f: x => y": "one"}, {"a.py: g: ": "all"})
    names = ("a.py: f: x => y", "a.py: f: x => y #2", "a.py: g: x", "b.py: g: x")
    assert [explained.reason(each) for each in names] == ["one", "", "all", ""]


def test_each_equivalent_fault_exists() -> None:
    assert explained_mutants.stale([each.name for each in every_fault()]) == []
    explained = explained_mutants.read_equivalent()
    assert all((*explained.by_name.values(), *explained.by_start.values()))


def test_the_suite_judges_the_changed_code() -> None:
    """A changed constant needs a new process, a changed function a fork."""
    command = [sys.executable, "-m", "benchmarks.teeth", "--code", "--json", "-j", "1"]
    chosen = ["py: _ReceivedCall", "RestoredCalls.close: statement: out.append(ArgumentsDelta"]
    scenario = ROOT / "scenarios/dashscope/split-chunks.yaml"
    ended = subprocess.run(
        [*command, "--only", *chosen, "--paths", scenario],
        capture_output=True,
        cwd=ROOT,
        check=True,
    )
    measured = json.loads(ended.stdout)
    prefix = "harness/normalizers/seed_systems.py: "
    (survivor,) = (each["name"] for each in measured["survivors"])
    # No call of the scenario follows complete arguments.
    assert survivor.startswith(f"{prefix}_ReceivedCall.is_complete: result: ")
    wrong = "dashscope/split-chunks dashscope-restore: MUST"
    assert measured["caught_by"] == {
        f"{prefix}RestoredCalls.close: statement: out.append(ArgumentsDelta(index, arguments)) "
        "=> pass": f"{wrong} CALL-ARGUMENTS-EXACT turns[0].calls[0].arguments",
        f"{prefix}_ReceivedCall: constant: '' => 'XX'": (
            f"{wrong} GOOD-CALL-NOT-REJECTED turns[0].parse_errors"
        ),
        f"{prefix}_ReceivedCall: constant: '' => 'XX' #2": (
            f"{wrong} CALL-NAME-EXACT turns[0].calls[0].name"
        ),
        f"{prefix}_ReceivedCall: constant: '' => 'XX' #3": (
            f"{wrong} GOOD-CALL-NOT-REJECTED turns[0].parse_errors"
        ),
    }


def test_lines_of_a_function_that_an_import_calls_are_known() -> None:
    file = "harness/conversation/prompts/__init__.py"
    (lines,) = lines_at_import([file]).values()
    source = (ROOT / file).read_text(encoding="utf-8").splitlines()

    def line_of(text: str) -> int:
        return next(at for at, each in enumerate(source, 1) if text in each)

    assert line_of("chinese = f") in lines
    assert line_of("base = base_system") not in lines
