"""Write the cassettes that ship: each recipe becomes one file under `cassettes/`.

    python -m scripts.emulated_cassettes [FOLDER]

The same recipes give the same bytes, so a test can hold the committed files to them. What
must come out of them is not written here: the scenarios say it, by hand.
"""

import itertools
import sys
from pathlib import Path

from harness.wire import cassette_file
from harness.wire.cassette import Cassette
from scripts.recipes import (
    anthropic,
    arguments,
    ark,
    bedrock_converse,
    bedrock_invoke,
    bedrock_llama,
    calls,
    cohere,
    conversations,
    conversations_dialects,
    conversations_gateway,
    conversations_loops,
    conversations_taught,
    dashscope,
    dashscope_native,
    errors,
    finish,
    framing,
    gemini,
    google_interactions,
    mistral,
    ollama,
    openai_completions,
    openai_responses,
    text,
    tgi,
)
from scripts.recipes.kit import Recipe, cassette
from scripts.recipes.text_calls import (
    action_protocol,
    bare_json,
    discernment,
    examples,
    fenced_json,
    gemma,
    glm,
    harmony,
    invoke,
    leaked_markup,
    pythonic,
    qwen_xml,
    react,
    special_tokens,
    tag_protocol,
    tagged_json,
)

_AREAS = (
    anthropic,
    dashscope,
    dashscope_native,
    ark,
    calls,
    arguments,
    finish,
    errors,
    framing,
    text,
    openai_completions,
    openai_responses,
    mistral,
    gemini,
    google_interactions,
    cohere,
    ollama,
    bedrock_converse,
    bedrock_invoke,
    bedrock_llama,
    tgi,
    action_protocol,
    tag_protocol,
    tagged_json,
    discernment,
    examples,
    bare_json,
    fenced_json,
    qwen_xml,
    glm,
    invoke,
    special_tokens,
    leaked_markup,
    pythonic,
    gemma,
    react,
    harmony,
    conversations,
    conversations_dialects,
    conversations_gateway,
    conversations_loops,
    conversations_taught,
)
RECIPES: tuple[Recipe, ...] = tuple(itertools.chain.from_iterable(area.RECIPES for area in _AREAS))


def cassettes() -> dict[str, Cassette]:
    """Return all emulated cassettes by id.

    Raises:
        ValueError: two recipes share an id.
    """
    made = {recipe.cassette: cassette(recipe) for recipe in RECIPES}
    if len(made) != len(RECIPES):
        raise ValueError("two recipes share an id")
    return made


def main(folder: Path) -> None:
    """Write all cassettes below `folder`."""
    for name, made in cassettes().items():
        cassette_file.save(made, folder / f"{name}.yaml")
    print(f"{len(RECIPES)} cassettes in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "cassettes"))
