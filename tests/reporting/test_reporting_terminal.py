"""The tables of a terminal: aligned, honest without colour, deaf to hostile names."""

import click
import msgspec
import pytest

from harness.reporting.text.terminal import MAX_WIDTH, tables
from harness.results.run import Run
from harness.verdicts.gate import summarize


def test_the_ranking_of_normalizers(sample: Run) -> None:
    title, head, first, *_ = tables(summarize(sample), colour=False).splitlines()
    assert title == "Normalizers by conformance"
    assert head.split()[:5] == ["rank", "name", "k/n", "rate", "95"]
    assert first.startswith("  1-2   reference          74/74  100.0 %  95.1 % to 100.0 %")
    assert "6 model, 4 provider" in tables(summarize(sample), "markdown")


def test_no_line_has_over_100_columns_and_missing_columns_are_named(sample: Run) -> None:
    name = "a-client-with-a-very-long-name-" * 4
    results = tuple(
        msgspec.structs.replace(each, normalizer=name, cell=f"{each.scenario}/{name}")
        for each in sample.results
        if each.normalizer == "reference"
    )
    for run in (sample, msgspec.structs.replace(sample, results=results)):
        text = tables(summarize(run), colour=False)
        tables_only = [line for line in text.splitlines() if "in the report also" not in line]
        assert max(map(len, tables_only)) <= MAX_WIDTH
        assert "in the report also: " in text


def test_the_parse_error_rate_of_models_is_ranked(sample: Run) -> None:
    text = tables(summarize(sample), colour=False)
    _, _, after = text.partition("Models by turn success\n")
    head, *rows = after.split("\n\n")[0].splitlines()
    assert "with parse_error" in head
    (qwen,) = (row for row in rows if "qwen-plus" in row)
    assert "10/63" in qwen
    assert "| 10/63 | 15.9 % | 8.9 % to 26.8 % | not distinguishable |" in tables(
        summarize(sample), "markdown"
    )


def test_long_rankings_are_left_to_the_report(sample: Run) -> None:
    template = sample.results[0]
    many = tuple(
        msgspec.structs.replace(
            template, cell=f"s/{n}", cassette=f"c/{n}", model=f"m{n}", origin="imported"
        )
        for n in range(40)
    )
    text = tables(summarize(msgspec.structs.replace(sample, results=many)), colour=False)
    assert "and 25 more in the report" in text


def test_few_outcomes_and_blame_are_words(sample: Run) -> None:
    text = tables(summarize(sample), colour=False)
    assert "61.0 % to 100.0 %, few" in text
    assert "silent_wrong" in text
    assert "\x1b" not in text


def test_without_measured_turns_it_says_so(sample: Run) -> None:
    emulated = tuple(each for each in sample.results if each.origin == "emulated")
    text = tables(summarize(msgspec.structs.replace(sample, results=emulated)), colour=False)
    assert text.count("emulated cassettes do not measure models") == 1
    assert "Prompts by turn success" not in text


def test_no_color_is_honoured(sample: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in tables(summarize(sample))
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[31m" in tables(summarize(sample))


def test_hostile_names_reach_neither_terminal_nor_markdown(sample: Run) -> None:
    results = tuple(
        msgspec.structs.replace(each, model="\x1b[2J|<b>evil\n") for each in sample.results
    )
    summary = summarize(msgspec.structs.replace(sample, results=results))
    assert "\x1b" not in tables(summary, colour=False)
    assert "\\\\x1B\\[2J\\|&lt;b&gt;evil\\\\x0A" in tables(summary, "markdown")


def test_markdown_rows_have_as_many_cells_as_their_head(sample: Run) -> None:
    for table in tables(summarize(sample), "markdown").split("### ")[1:]:
        rows = [line for line in table.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in rows}) <= 1  # an empty table has no rows


def test_text_dialects_are_a_table_of_their_own(sample: Run) -> None:
    text = tables(summarize(sample), colour=False)
    _, _, after = text.partition("Text dialects by conformance\n")
    head, row, *_ = after.splitlines()
    assert head.split() == ["text", "dialect", "dashscope-restore", "naive", "reference"]
    assert row.split() == ["tagged-json", "1/1", "0/1", "1/1"]
    plain = tuple(msgspec.structs.replace(each, text_dialect="") for each in sample.results)
    text = tables(summarize(msgspec.structs.replace(sample, results=plain)), colour=False)
    assert "Text dialects" not in text


def test_no_line_ends_in_blanks(sample: Run) -> None:
    lines = tables(summarize(sample), colour=True).splitlines()
    plain = [click.unstyle(line) for line in lines]
    assert plain == [line.rstrip() for line in plain]
