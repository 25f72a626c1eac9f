"""The import contracts of the dialects name every module that they must name."""

import pkgutil
import tomllib
from pathlib import Path

from harness.dialects import kit
from harness.dialects.table import DIALECTS

_PROJECT = Path(__file__).parents[2] / "pyproject.toml"
_ORACLE = "The oracle shares no code with the reader"


def test_contract_of_the_oracle_names_the_rest_of_the_kit() -> None:
    contracts = tomllib.loads(_PROJECT.read_text())["tool"]["importlinter"]["contracts"]
    contract = next(each for each in contracts if each["name"] == _ORACLE)
    modules = {f"{kit.__name__}.{module.name}" for module in pkgutil.iter_modules(kit.__path__)}
    assert modules - {f"{kit.__name__}.oracle"} <= set(contract["forbidden_modules"])


def test_each_oracle_is_in_the_module_that_the_contract_names() -> None:
    for name, row in DIALECTS.items():
        package = f"harness.dialects.{name.replace('-', '_')}"
        assert row.oracle.__module__ in {f"{package}.oracle", f"{package}.oracle.body"}
