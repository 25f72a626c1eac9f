"""Load the recipes in scenario files, and report errors in them."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from harness.conversation.prompts import PROMPTS
from harness.conversation.tool_file import load_tool
from harness.dialects.table import DIALECTS
from harness.emulation.recipe import (
    ByHand,
    EmulateKey,
    Recipe,
    RecipeEntry,
    ResponseEntry,
    TextFormEntry,
    TextFormKey,
)
from harness.emulation.text_form import recipe_in_text
from harness.errors import UnreadableError
from harness.files import yaml_text
from harness.files.load import read_file
from harness.files.typed import convert
from harness.wording import did_you_mean

# Provider, model and name: the parts of a cassette's id.
_ID_PARTS: Final = 3
# Tools that a request declares in addition to those that its responses call.
_OFFERED: Final = ("get_time", "list_files", "get_weather")


def load_recipe(path: Path, root: Path) -> Recipe | ByHand | None:
    """Return the recipe in the scenario file at `path`; None if it has no key `emulate`.

    Args:
        path: a scenario file.
        root: the scenarios folder, which contains the folder `tools/`.

    Raises:
        UnreadableError: the file or the recipe is not usable.
    """
    where = str(path)
    data = read_file(path)
    if b"emulate" not in data:
        return None
    document = yaml_text.load_yaml(data, where)
    if not isinstance(document, dict) or "emulate" not in document:
        return None
    cassette, other = document.get("cassette"), document.get("conversation")
    if not isinstance(cassette, str) or len(list(filter(None, cassette.split("/")))) != _ID_PARTS:
        raise UnreadableError(
            f"cassette: expected PROVIDER/MODEL/NAME, found {cassette!r}",
            where=where,
            hint="An emulated cassette takes its provider and its model from its id.",
        )
    if isinstance(other, str):
        file: RecipeEntry | str = _recipe_in_text(
            document["emulate"], root / f"{other}.yaml", where
        )
    else:
        file = convert({"emulate": document["emulate"]}, EmulateKey, where).emulate
    if isinstance(file, str):
        return ByHand(cassette, where)
    for problem, hint in _problems(file):
        raise UnreadableError(f"emulate.{problem}", where=where, hint=hint)
    names = file.tools
    if "conversation" not in document:  # its agent writes the requests, with the tools of its task
        names += _uncalled(file, root)
    tools = tuple(load_tool(root, name, where) for name in names)
    return Recipe(cassette, where, file, tools, DIALECTS[file.dialect].request_forms[file.variant])


def _uncalled(file: RecipeEntry, root: Path) -> tuple[str, ...]:
    """Return one more tool for the request if the responses name all of its tools.

    A user's request rarely declares only what the model calls. A client that executes the only tool
    of its request, whatever the name in the call is, would pass otherwise.
    """
    responses = msgspec.json.encode(file.responses).decode()
    if not file.tools or any(name not in responses for name in file.tools):
        return ()
    others = (name for name in _OFFERED if name not in responses and name not in file.tools)
    known = (name for name in others if (root / "tools" / f"{name}.yaml").is_file())
    return tuple(itertools.islice(known, 1))


def _recipe_in_text(value: object, other: Path, where: str) -> RecipeEntry:
    """Return the recipe of the scenario file `other`, with text calls as `value` describes."""
    form = convert({"emulate": value}, TextFormKey, where).emulate
    for problem, hint in _problems_of_form(form):
        raise UnreadableError(f"emulate.{problem}", where=where, hint=hint)
    document = yaml_text.load_yaml(read_file(other), str(other))
    found = document.get("emulate") if isinstance(document, dict) else None
    if not isinstance(found, dict):
        what = f"conversation: there is no recipe in {other}"
        raise UnreadableError(what, where=where, hint="Choose a scenario with a recipe.")
    base = convert(found, RecipeEntry, str(other))
    return recipe_in_text(form, base, where)


def _problems_of_form(form: TextFormEntry) -> Iterator[tuple[str, str]]:
    """Yield each reason why the other scenario's calls cannot become text calls, with a hint."""
    known = tuple(prompt.id for prompt in PROMPTS.values() if prompt.describes_tools)
    if form.prompt not in known:
        what = f"prompt: no prompt {form.prompt!r} describes tools in text"
        yield what, did_you_mean(form.prompt, known)


def _problems(file: RecipeEntry) -> Iterator[tuple[str, str]]:
    """Yield each error of a recipe that the types of its keys do not exclude, with a hint."""
    if file.dialect not in DIALECTS:
        yield f"dialect: unknown dialect {file.dialect!r}", did_you_mean(file.dialect, (*DIALECTS,))
    elif file.variant not in (variants := DIALECTS[file.dialect].request_forms):
        known = tuple(filter(None, variants))
        hint = did_you_mean(file.variant, known) or "remove the key: this dialect has no variants"
        yield f"variant: {file.dialect} has no variant {file.variant!r}", hint
    if file.prompt not in PROMPTS:
        yield f"prompt: unknown prompt {file.prompt!r}", did_you_mean(file.prompt, (*PROMPTS,))
    for at, response in enumerate(file.responses):
        for problem, hint in _problems_of(response):
            yield f"responses[{at}]{problem}", hint
    if file.responses[-1].next is not None:
        yield (
            f"responses[{len(file.responses) - 1}].next: no response follows",
            "add the next response, or remove the key",
        )


def _problems_of(response: ResponseEntry) -> Iterator[tuple[str, str]]:
    if (response.deltas is None) == (response.raw is None):
        found = "neither" if response.raw is None else "both"
        yield (
            f": expected either `deltas` or `raw`, found {found}",
            "`deltas` are written by the dialect's writer, `raw` is the body's text",
        )
    if response.raw is not None and response.writer:
        yield ".writer: `raw` events are not written by a writer", "remove the key"
    sent = response.next
    if sent is not None and bool(sent.messages) == bool(sent.tool_results or sent.user):
        yield (
            ".next: expected either `messages`, or `tool_results` and `user`",
            "`messages` are in the API's own form, the others in the form of no API",
        )
