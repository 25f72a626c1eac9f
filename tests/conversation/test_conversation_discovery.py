"""Agents are found by name, by module, or not at all, and then the user is told why."""

import sys
from pathlib import Path

import pytest

from harness.conversation.agent import Agent
from harness.conversation.discovery import (
    default_agent_names,
    installed_agent_names,
    load_agent,
)
from harness.conversation.mutants import MUTANTS
from harness.errors import AgentLoadError, UsageError
from harness.runs import declared

SHIPPED = {
    "action-loop",
    "dashscope-loop",
    "direct-loop",
    "gateway",
    "grouped-loop",
    "plain-loop",
    "tag-loop",
}


def test_what_ships_is_installed_and_meant_to_pass() -> None:
    assert set(installed_agent_names()) >= SHIPPED
    assert set(default_agent_names()) >= SHIPPED
    assert {agent.name for agent in declared.available_agents()} >= SHIPPED | MUTANTS.keys()


def test_an_agent_without_its_package_is_told_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "from harness.conversation.agent import Agent\n"
        "mine = Agent('mine', lambda task: None, needs=('no_such_package',), extra='such')\n"
    )
    (tmp_path / "agent_in_need.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AgentLoadError, match="no_such_package") as told:
        load_agent("agent_in_need:mine")
    assert "toolcall-harness[such]" in str(told.value.hint)


@pytest.mark.parametrize("name", [*sorted(SHIPPED), *sorted(MUTANTS)])
def test_an_agent_is_called_what_it_was_named_by(name: str) -> None:
    assert load_agent(name).name == name


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("harness.conversation.plain_loop:plain", Agent),
        ("harness.conversation.gateway:converse", Agent),
    ],
)
def test_a_module_names_an_agent_or_a_function(spec: str, kind: type) -> None:
    agent = load_agent(spec)
    assert isinstance(agent, kind)
    assert agent.name == spec


def test_a_name_that_nobody_has_is_told_with_those_that_exist() -> None:
    with pytest.raises(UsageError) as caught:
        load_agent("nobody")
    assert "gateway" in str(caught.value)


@pytest.mark.parametrize(
    "spec", ["no.such.module:converse", "harness.conversation.plain_loop:nothing", "sys:maxsize"]
)
def test_what_cannot_be_loaded_is_told_with_its_name(spec: str) -> None:
    with pytest.raises(AgentLoadError) as caught:
        load_agent(spec)
    assert spec in str(caught.value)


def test_a_module_may_lie_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_agent_module.py").write_text("def converse(task):\n    return task\n")
    assert load_agent("my_agent_module:converse").summary == "given as module:callable"
