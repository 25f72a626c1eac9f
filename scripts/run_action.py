"""Run the shell steps of `action.yml` as GitHub does, in an empty repository.

    python -m scripts.run_action FOLDER WHEEL

FOLDER must not exist. The step that sets Python up is replaced by an environment.
"""

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

ACTION: Final = Path(__file__).parents[1] / "action.yml"
_EXPRESSION: Final = re.compile(r"\$\{\{\s*inputs\.([\w-]+)(?:\s*\|\|\s*[\w.]+)?\s*\}\}")


def load_action() -> dict[str, Any]:
    """Return the content of `action.yml`."""
    found: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return found


def shell_steps(inputs: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the script and the environment of each shell step, with `inputs` or the defaults."""
    action = load_action()
    values = {name: str(each["default"]) for name, each in action["inputs"].items()}
    values.update(inputs)
    for step in action["runs"]["steps"]:
        if "run" in step:
            env = step.get("env", {})
            yield (
                step["run"],
                {key: _EXPRESSION.sub(lambda it: values[it[1]], text) for key, text in env.items()},
            )


def main(folder: Path, wheel: Path) -> None:
    """Run the steps in the new folder `folder`, with `wheel` as the package."""
    repository, environment = folder / "repository", folder / "environment"
    repository.mkdir(parents=True)
    subprocess.run(("git", "init", "--quiet", str(repository)), check=True)  # noqa: S607 - that of the PATH
    venv.create(environment, with_pip=True)
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    inputs = {"package": str(wheel.resolve()), "cuts": "whole", "set": "2026.12"}
    inputs |= {"normalizer": "reference", "select": "dialect:openai-chat area:*"}
    for script, env in shell_steps(inputs):
        subprocess.run(
            ("bash", "-e", "-o", "pipefail", "-c", script),  # noqa: S607 - that of the PATH
            cwd=repository,
            env={**os.environ, **env, "PATH": path},
            check=True,
        )
    if not (repository / "reports" / "index.html").is_file():
        raise SystemExit("expected reports/index.html, found none")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
