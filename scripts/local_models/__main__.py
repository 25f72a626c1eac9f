"""Record the local models: everything that is asked, of the servers that are named.

    python -m scripts.local_models [--target NAME ...] [--to FOLDER] [--again] [--first N]

A cassette that is there is kept unless `--again` is given, so a run that was stopped goes on.
Nothing is chosen by what came out: all that was asked is kept.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Final

import msgspec

from harness.conversation.wording import Language
from scripts.local_models.asked import LANGUAGES, asked
from scripts.local_models.recorded import Job, record
from scripts.local_models.servers import (
    GEMMA3,
    SMOLLM2,
    SMOLLM2_THINKING,
    Server,
    Start,
    litellm,
    llama_cpp,
    llama_cpp_python,
    vllm,
)
from scripts.local_models.ways import CHAT, MESSAGES, RESPONSES, WAYS, Api

_TEMPERATURES: Final = (0.2, 0.8)
_TALKS: Final = ("native", "fenced", "tag", "action")
# The prompts alone, so that the ranking shows what the worked examples change.
_ALONE: Final = ("fenced-alone", "tag-alone", "action-alone")
_MORE_TALKS: Final = ("fenced-alone", "fenced")


class Target(msgspec.Struct, frozen=True):
    """A server with a model, and what it is asked.

    Fields:
        talks: ways of whole conversations.
        alone: ways without examples, in English and at the lower temperature.
        more_talks: ways of whole conversations in English, at each temperature.
        apis: of the server, each of which gets the questions of `ways`.
    """

    start: Start
    ways: tuple[str, ...] = ("native", "grammar", "tag", "action")
    languages: tuple[Language, ...] = LANGUAGES
    talks: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    more_talks: tuple[str, ...] = ()
    apis: tuple[Api, ...] = (CHAT,)

    def jobs(self) -> Iterator[Job]:
        """Yield what is asked: one toolbox after the other, since servers keep what is alike."""
        for language in self.languages:
            for api, way, name, temperature in product(
                self.apis, self.ways, asked().tasks, _TEMPERATURES
            ):
                yield Job(name, WAYS[way], language, temperature, api=api)
            for way, name in product(self.talks, asked().conversations):
                yield Job(name, WAYS[way], language, _TEMPERATURES[0], talk=True)
        for name, way in product(asked().tasks, self.alone):
            yield Job(name, WAYS[way], "en", _TEMPERATURES[0])
        for way, name, warm in product(self.more_talks, asked().conversations, _TEMPERATURES):
            yield Job(name, WAYS[way], "en", warm, talk=True)


TARGETS: Final = {
    "smollm2": Target(partial(llama_cpp, SMOLLM2), talks=_TALKS),
    "smollm2-alone": Target(partial(llama_cpp, SMOLLM2), (), alone=_ALONE, more_talks=_MORE_TALKS),
    "gemma3": Target(partial(llama_cpp, GEMMA3, 8184), talks=_TALKS),
    "gemma3-alone": Target(
        partial(llama_cpp, GEMMA3, 8184), (), alone=_ALONE, more_talks=_MORE_TALKS
    ),
    "smollm2-apis": Target(
        partial(llama_cpp, SMOLLM2), ("native",), ("en",), apis=(RESPONSES, MESSAGES)
    ),
    "smollm2-thinking": Target(
        partial(llama_cpp, SMOLLM2_THINKING),
        ("native",),
        ("en",),
        apis=(CHAT, RESPONSES, MESSAGES),
    ),
    "llama-cpp-python": Target(partial(llama_cpp_python, SMOLLM2), ("native",), ("en",)),
    "vllm": Target(partial(vllm, SMOLLM2), ("native",), ("en",), apis=(CHAT, RESPONSES, MESSAGES)),
    "litellm": Target(partial(litellm, SMOLLM2), ("native", "tag"), ("en",)),
}
# What the extra `record-models` installs; the other servers are packages of their own.
_USUAL: Final = ("smollm2", "gemma3")


def main() -> None:
    """Record what the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m scripts.local_models")
    parser.add_argument(
        "--target", action="append", choices=TARGETS, help=f"default: {', '.join(_USUAL)}"
    )
    parser.add_argument("--to", type=Path, default=Path("cassettes"))
    parser.add_argument("--again", action="store_true", help="replace what is there")
    parser.add_argument("--first", type=int, default=None, help="only so many of each target")
    options = parser.parse_args()
    for name in options.target or _USUAL:
        _record_all(name, options.to, options.first, again=options.again)


def _record_all(name: str, folder: Path, first: int | None, *, again: bool) -> None:
    with TARGETS[name].start() as server:
        began = time.monotonic()
        jobs = list(islice(TARGETS[name].jobs(), first))
        done = sum(_recorded(server, job, folder, again=again) for job in jobs)
        seconds = time.monotonic() - began
        print(f"{name}: {done} recorded, {len(jobs) - done} kept, {seconds:.0f} s", file=sys.stderr)


def _recorded(server: Server, job: Job, folder: Path, *, again: bool) -> bool:
    path = folder / server.provider / server.model / job.file
    if path.exists() and not again:
        return False
    record(server, job, path)
    return True


if __name__ == "__main__":
    main()
