"""`harness prompt`: the text of a prompt, with the tools of a file."""

from pathlib import Path

from tests.cli.conftest import Harness

TOOLS = "- {name: get_time, description: Tell the time., parameters: {}}\n"


def test_prompt_prints_the_system_text(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text(TOOLS)
    tools = str(tmp_path / "tools.yaml")
    left = harness("prompt", "tag-tools/v1", "--tools", tools, "--system", "Be brief.")
    assert (left.code, left.err) == (0, "")
    assert left.out.startswith("Be brief.\n\n# Tools\n")
    assert "### get_time\nTell the time.\nParameters: none\n" in left.out


def test_prompt_without_tools_describes_none(harness: Harness) -> None:
    assert harness("prompt", "tag-tools/v1").out == "You are a helpful assistant.\n"


def test_prompt_rejects_unknown_ids_and_unreadable_files(harness: Harness, tmp_path: Path) -> None:
    left = harness("prompt", "tag-tools/v0")
    assert left.code == 2
    assert "tag-tools/v1" in left.err
    left = harness("prompt", "tag-tools/v1", "--tools", str(tmp_path / "none.yaml"))
    assert left.code == 2
    assert "cannot be read" in left.err
    (tmp_path / "bad.yaml").write_text("- {nome: get_time}\n")
    left = harness("prompt", "tag-tools/v1", "--tools", str(tmp_path / "bad.yaml"))
    assert left.code == 2
    assert "nome" in left.err
