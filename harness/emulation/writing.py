"""Write the emulated cassettes of scenarios to disk, and find those that are out of date."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.emulation.cassette import emulate
from harness.emulation.recipe import ByHand, Recipe
from harness.emulation.recipe_file import load_recipe
from harness.errors import HarnessError, UnreadableError
from harness.wire import cassette_file, cassette_text


def load_recipes(scenarios: Iterable[Path], root: Path) -> tuple[Recipe | ByHand, ...]:
    """Return the recipes of the scenario files that have the key `emulate`.

    Args:
        scenarios: scenario files.
        root: the scenarios folder.

    Raises:
        UnreadableError: a recipe cannot be used, or two scenarios emulate one cassette.
    """
    found: dict[str, Recipe | ByHand] = {}
    for path in scenarios:
        _load(path, root, found)
    return tuple(found.values())


def _load(path: Path, root: Path, found: dict[str, Recipe | ByHand]) -> Recipe | ByHand | None:
    """Return the recipe in the file at `path`, and add it to `found`; None if it has no recipe."""
    recipe = load_recipe(path, root)
    if recipe is not None and found.setdefault(recipe.cassette, recipe) is not recipe:
        raise UnreadableError(
            f"emulate: the cassette {recipe.cassette} is emulated twice",
            where=recipe.where,
            hint=f"remove the key here or in {found[recipe.cassette].where}",
        )
    return recipe


def cassette_path(recipe: Recipe | ByHand, folder: Path) -> Path:
    """Return the path of the cassette file in `folder`, the folder of cassettes."""
    return folder / f"{recipe.cassette}.yaml"


def is_stale(recipe: Recipe | ByHand, folder: Path) -> bool:
    """Return whether the cassette file is missing, or differs from what the recipe gives.

    Raises:
        UnreadableError: the recipe is not usable.
    """
    path = cassette_path(recipe, folder)
    if isinstance(recipe, ByHand):
        return not path.is_file()
    text = cassette_text.format_cassette(emulate(recipe)).encode()
    return not path.is_file() or path.read_bytes() != text


def write_cassette(recipe: Recipe, folder: Path) -> None:
    """Write the cassette of `recipe` to its file in `folder`, the folder of cassettes.

    Raises:
        UnreadableError: the recipe is not usable.
    """
    cassette_file.save_cassette(emulate(recipe), cassette_path(recipe, folder))


def iter_problems(scenarios: Iterable[Path], root: Path, folder: Path) -> Iterator[str]:
    """Yield a line for each error in a recipe, and for each cassette that differs from its recipe.

    Args:
        scenarios: all scenario files below `root`.
        root: the scenarios folder.
        folder: the folder of cassettes.
    """
    found: dict[str, Recipe | ByHand] = {}
    for path in scenarios:
        try:
            recipe = _load(path, root, found)
            if recipe is not None and is_stale(recipe, folder):
                yield f"{recipe.cassette}: stale or missing; write it with `harness cassettes`"
        except HarnessError as error:
            yield str(error)
    for path in sorted(folder.rglob("*.yaml")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name not in found and _is_emulated(path):
            yield f"{name}: no scenario emulates it; add the key `emulate` to one of its scenarios"


def _is_emulated(path: Path) -> bool:
    try:
        return cassette_file.load_cassette(path).origin.kind == "emulated"
    except HarnessError:  # another check reports files that cannot be read
        return False
