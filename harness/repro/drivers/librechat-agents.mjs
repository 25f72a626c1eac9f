// The npm package @librechat/agents: one turn of Run.processStream, whose agent loop gives calls to its host.

import { HumanMessage } from "@librechat/agents/langchain/messages";
import { createContentAggregator, GraphEvents, HookRegistry, Providers, Run } from "@librechat/agents";

export const hello = {
  packages: ["@librechat/agents"],
  dialects: ["openai-chat"],
  capabilities: ["calls-without-index"],
  policies: { arguments: "append" },
};

const PARTS_OF_CONTENT = [
  GraphEvents.ON_RUN_STEP,
  GraphEvents.ON_RUN_STEP_DELTA,
  GraphEvents.ON_RUN_STEP_COMPLETED,
  GraphEvents.ON_MESSAGE_DELTA,
  GraphEvents.ON_REASONING_DELTA,
];
// The loop gives calls to its host only if there is a definition of a tool; it gives those of any name.
const toolDefinitions = [{ name: "any", description: "any", parameters: { type: "object", properties: {} } }];

/** Write what agent code gets to `turn`. */
export async function drive(test, turn) {
  const { contentParts, aggregateContent } = createContentAggregator();
  const given = [];
  let message;
  let markRead;
  const messageRead = new Promise((resolve) => (markRead = resolve));
  const takePart = (event, data) => aggregateContent({ event, data });
  const customHandlers = {
    ...Object.fromEntries(PARTS_OF_CONTENT.map((event) => [event, { handle: takePart }])),
    [GraphEvents.CHAT_MODEL_END]: {
      handle(_, { output }) {
        message = output;
        markRead();
      },
    },
    [GraphEvents.ON_TOOL_EXECUTE]: {
      handle(_, { toolCalls, resolve }) {
        given.push(...toolCalls);
        resolve(toolCalls.map(({ id }) => ({ toolCallId: id, status: "success", content: "" })));
      },
    },
  };
  const run = await Run.create({
    runId: "any",
    graphConfig: { type: "standard", agents: [agentOf(test)] },
    customHandlers,
    hooks: stopAfterTools(messageRead),
  });
  const options = { configurable: { thread_id: "any" }, streamMode: "values", version: "v2" };
  try {
    await run.processStream({ messages: [new HumanMessage("any")] }, options);
  } finally {
    turn.text = contentParts.map((part) => textOf(part?.text)).join("");
    turn.reasoning = contentParts.map((part) => textOf(part?.think)).join("");
  }
  turn.calls = callsOf(message, given);
  turn.finish = message.response_metadata.finish_reason;
  turn.refusal = textOf(message.additional_kwargs.refusal);
  const usage = message.usage_metadata;
  if (usage) turn.usage = { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens };
}

const agentOf = ({ base_url, api_key, model }) => ({
  agentId: "any",
  provider: Providers.OPENAI,
  clientOptions: { model, apiKey: api_key, maxRetries: 0, streaming: true, configuration: { baseURL: base_url } },
  toolDefinitions,
});

/** Return hooks that end the run after the calls of one turn, once its message was read too. */
function stopAfterTools(messageRead) {
  const hooks = new HookRegistry();
  const stop = async () => {
    await messageRead;
    return { preventContinuation: true };
  };
  hooks.register("PostToolBatch", { hooks: [stop] });
  return hooks;
}

/** Return the calls of a message: those that the host executes, and the others with the reason. */
function callsOf({ tool_calls, invalid_tool_calls }, given) {
  const rest = [...given];
  const calls = (tool_calls ?? []).map(({ id, name, args }) => {
    const position = rest.findIndex((call) => call.id === id && call.name === name);
    if (position < 0) return { id, name, arguments: args, error: "the loop of LibreChat did not execute the call" };
    return { id, name, arguments: rest.splice(position, 1)[0].args };
  });
  const invalid = (invalid_tool_calls ?? []).map(({ id, name, args, error }) => ({
    id,
    name,
    arguments: args ?? "",
    error: error || "LangChain could not parse the arguments",
  }));
  return [...calls, ...invalid];
}

/** Return whether it is an exception of the package openai, which LibreChat lets through. */
export function isDocumented(error) {
  for (let it = error?.constructor; it; it = Object.getPrototypeOf(it)) {
    if (it.name === "OpenAIError") return true;
  }
  return false;
}

const textOf = (value) => (typeof value === "string" ? value : "");
