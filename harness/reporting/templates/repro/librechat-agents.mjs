// The npm package @librechat/agents: one turn of `Run.processStream`, whose agent loop gives calls
// to its host.

import { HumanMessage } from "@librechat/agents/langchain/messages";
import { createContentAggregator, GraphEvents, HookRegistry, Providers, Run } from "@librechat/agents";

/** Return whether it is an exception of the package openai, which LibreChat lets through. */
function isDocumented(error) {
  for (let it = error?.constructor; it; it = Object.getPrototypeOf(it)) {
    if (it.name === "OpenAIError") return true;
  }
  return false;
}

const CONTENT_EVENTS = ["RUN_STEP", "RUN_STEP_DELTA", "RUN_STEP_COMPLETED", "MESSAGE_DELTA", "REASONING_DELTA"];
const toolDefinitions = [{ name: "any", description: "any", parameters: { type: "object", properties: {} } }];

/** Return the turn as the host of the agent loop gets it. */
async function drive(baseUrl) {
  const { contentParts, aggregateContent } = createContentAggregator();
  const handle = (event, data) => aggregateContent({ event, data });
  const given = [];
  let message;
  let markRead;
  const messageRead = new Promise((resolve) => (markRead = resolve));
  const customHandlers = {
    ...Object.fromEntries(CONTENT_EVENTS.map((name) => [GraphEvents[`ON_${name}`], { handle }])),
    [GraphEvents.CHAT_MODEL_END]: {
      handle: (_, { output }) => markRead((message = output)),
    },
    [GraphEvents.ON_TOOL_EXECUTE]: {
      handle(_, { toolCalls, resolve }) {
        given.push(...toolCalls);
        resolve(toolCalls.map(({ id }) => ({ toolCallId: id, status: "success", content: "" })));
      },
    },
  };
  const hooks = new HookRegistry();
  // The run ends after the calls of one turn.
  const stop = () => messageRead.then(() => ({ preventContinuation: true }));
  hooks.register("PostToolBatch", { hooks: [stop] });
  const configuration = { baseURL: baseUrl };
  const clientOptions = { model: "any", apiKey: "none", maxRetries: 0, streaming: true, configuration };
  const agent = { agentId: "any", provider: Providers.OPENAI, clientOptions, toolDefinitions };
  const graphConfig = { type: "standard", agents: [agent] };
  const run = await Run.create({ runId: "any", graphConfig, customHandlers, hooks });
  const options = { configurable: { thread_id: "any" }, streamMode: "values", version: "v2" };
  await run.processStream({ messages: [new HumanMessage("any")] }, options);
  const isGiven = ({ id, name }) => given.some((call) => call.id === id && call.name === name);
  const rejected = (message.tool_calls ?? []).filter((call) => !isGiven(call));
  return {
    text: contentParts.map((part) => part?.text ?? "").join(""),
    calls: given.map(({ id, name, args }) => [id, name, args]),
    rejected: [...rejected, ...(message.invalid_tool_calls ?? [])].map(({ name }) => name),
    finish: message.response_metadata.finish_reason,
    failed: Boolean(message.additional_kwargs.refusal),
  };
}
