"""One question or conversation -> one cassette, through the recording transport of the suite."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import httpx
import msgspec

from harness.conversation.discovery import load_agent
from harness.conversation.history.jsonl import ConversationLabels, LoggedConversation, encode
from harness.conversation.prompts import system_text
from harness.conversation.replies import next_request
from harness.conversation.task import Limits, Reply, Send, Task
from harness.conversation.wording import Language
from harness.providers import Capabilities
from harness.recording.recorder import Recorder
from harness.recording.recorder.options import RecordingLabels
from harness.turns.messages import Message, system, user
from harness.turns.turn import Tool
from harness.wire.interaction import Due, Request
from scripts.local_models.asked import Toolbox, asked
from scripts.local_models.servers import Server
from scripts.local_models.ways import CHAT, Api, Way

_ROUNDS: Final = 3
_PATIENCE: Final = 300.0


class Job(msgspec.Struct, frozen=True):
    """One cassette to be made; `name` is a task's or a conversation's."""

    name: str
    way: Way
    language: Language
    temperature: float
    talk: bool = False
    api: Api = CHAT

    @property
    def file(self) -> str:
        """The name of its file."""
        temperature = f"t{round(10 * self.temperature):02}"
        api = f"{self.api.name}-" if self.api.name else ""
        return f"{api}{self.way.name(self.language)}-{self.name}-{temperature}.yaml"

    @property
    def seed(self) -> int:
        """What the server's sampling starts from; the same for every model."""
        return crc32(f"{self.name} {self.temperature}".encode()) % 100_000

    @property
    def toolbox(self) -> Toolbox:
        """The tools that are offered."""
        said = asked()
        rows = said.conversations if self.talk else said.tasks
        return said.toolboxes[rows[self.name].toolbox]

    @property
    def due(self) -> Due:
        """What the question needs; a conversation has several, and says nothing."""
        return "" if self.talk else asked().tasks[self.name].due


def record(server: Server, job: Job, path: Path) -> None:
    """Ask `server` and write the cassette."""
    tools = job.toolbox.offered(job.language)
    with (
        Recorder(path, mode="all", labels=_about(server, job, tools)) as recorder,
        httpx.Client(transport=recorder.transport(httpx), timeout=_PATIENCE) as client,
    ):
        if job.talk:
            path.with_suffix(".jsonl").write_bytes(_talk(server, job, tools, client))
        else:
            _ask(server, job, tools, client)


def _about(server: Server, job: Job, tools: tuple[Tool, ...]) -> RecordingLabels:
    told = tuple(
        {"name": it.name, "description": it.description, "parameters": it.parameters}
        for it in tools
    )
    asking = f"prompts.yaml {job.name}, seed {job.seed}, temperature {job.temperature}"
    return RecordingLabels(
        provider=server.provider,
        model=server.model,
        prompt=_prompt_id(server, job),
        dialect=job.api.dialect,
        source=f"{server.stack}; {asking}",
        tools=told if job.way.prompt(job.language).describes_tools else (),
        due=job.due,
    )


def _prompt_id(server: Server, job: Job) -> str:
    added = ("talk" if job.talk else "", job.api.name, "thinking" if server.thinks else "")
    return job.way.prompt_id(job.language) + "".join(f"+{it}" for it in added if it)


def _ask(server: Server, job: Job, tools: tuple[Tool, ...], client: httpx.Client) -> None:
    prompt = job.way.prompt(job.language)
    question = asked().tasks[job.name].ask[job.language]
    messages = [system(system_text(prompt, tools)), user(question)]
    messages = _with_examples(messages, job)
    task = _task(server, job, tools, _sender(server, job, client))
    offered = () if prompt.describes_tools else tools
    reply = task.send(next_request(task, messages, offered, job.way.options(tools)))
    for _ in reply.reads:
        pass


def _talk(server: Server, job: Job, tools: tuple[Tool, ...], client: httpx.Client) -> bytes:
    """Run a conversation and return its log, because a replay of it cannot show retries."""
    questions = asked().conversations[job.name].ask[job.language]
    task = _task(server, job, tools, _sender(server, job, client))
    agent = load_agent(job.way.agent)
    conversation = agent.converse(msgspec.structs.replace(task, questions=questions))
    labels = ConversationLabels(agent.name, server.provider, server.model, _prompt_id(server, job))
    return encode(LoggedConversation(labels, conversation))


def _task(server: Server, job: Job, tools: tuple[Tool, ...], send: Send) -> Task:
    returns = asked().returns
    return Task(
        questions=(),
        tools=tools,
        send=send,
        call_tool=lambda name, _: returns[name],
        model=server.model,
        provider=server.provider,
        uri=server.base + job.api.path,
        dialect=job.api.dialect,
        prompt=job.way.prompt(job.language).id,
        capabilities=Capabilities(supports_tool_use=True, json_stability="low"),
        limits=Limits(rounds=_ROUNDS),
    )


def _sender(server: Server, job: Job, client: httpx.Client) -> Send:
    """Return what asks the server, and adds the sampling to each request.

    An agent writes the requests of a conversation, so the examples are added to them here.
    """

    def send(request: Request) -> Reply:
        body = {**json.loads(request.body), **_sampling(server, job)}
        if "tools" not in body:
            body.pop("parallel_tool_calls", None)
        if job.talk:
            body["messages"] = _with_examples(body["messages"], job)
        if not server.takes_null:
            body["messages"] = [{**it, "content": it["content"] or ""} for it in body["messages"]]
        content = json.dumps(body, ensure_ascii=False).encode()
        built = client.build_request(
            "POST", request.uri, content=content, headers=list(request.headers)
        )
        response = client.send(built, stream=True)
        headers = tuple(response.headers.multi_items())
        return Reply(response.status_code, headers, _reads(response))

    return send


def _sampling(server: Server, job: Job) -> dict[str, Any]:
    return {
        "temperature": job.temperature,
        "seed": job.seed,
        **job.api.options,
        **server.options,
    }


def _with_examples(messages: list[Message], job: Job) -> list[Message]:
    first, *rest = messages
    return [first, *job.way.examples(job.toolbox, job.language), *rest]


def _reads(response: httpx.Response) -> Iterator[bytes]:
    try:
        yield from response.iter_raw()
    finally:
        response.close()
