// The npm package openai: responses.stream and its final response.

import OpenAI from "openai";

export const hello = {
  packages: ["openai"],
  dialects: ["openai-responses"],
  capabilities: ["custom-tools", "client-actions"],
};

const REASONING = ["response.reasoning_text.delta", "response.reasoning_summary_text.delta"];

/** Write what agent code gets to `turn`. */
export async function drive({ base_url, api_key, model }, turn) {
  const client = new OpenAI({ baseURL: base_url, apiKey: api_key, maxRetries: 0 });
  const stream = client.responses.stream({ model, input: [] });
  turn.text = "";
  turn.reasoning = "";
  stream.on("response.output_text.delta", ({ delta }) => (turn.text += delta));
  for (const type of REASONING) stream.on(type, ({ delta }) => (turn.reasoning += delta));
  // Calls that began, for an answer that fails.
  const begun = new Map();
  stream.on("response.output_item.added", ({ item, output_index }) => {
    if (isForAgent(item, null)) begun.set(output_index, callOf(item));
    turn.calls = [...begun.values()];
  });
  stream.on("response.function_call_arguments.delta", ({ output_index, snapshot }) => {
    if (begun.has(output_index)) begun.get(output_index).arguments = snapshot;
  });
  const response = await stream.finalResponse();
  if (response.output_text?.startsWith(turn.text)) turn.text = response.output_text;
  const { usage } = response;
  if (usage) turn.usage = { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens };
  turn.calls = callsOf(response);
  if (response.status === "failed") {
    turn.failure = response.error;
  } else if (response.status === "incomplete") {
    turn.finish = response.incomplete_details?.reason ?? "incomplete";
  } else if (response.status === "completed") {
    turn.finish = response.status;
  } else {
    // The package returns the response as it was when the stream ended, and agent code checks its status.
    const message = `the status of the response is ${response.status}`;
    turn.failure = { code: "interrupted", message };
  }
  const parts = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
  turn.refusal = parts.map((part) => (part.type === "refusal" ? part.refusal : "")).join("");
}

// The items that ask agent code for a call or an action, and the members with what the model wrote.
const CALLS = {
  function_call: ["function", ["arguments"]],
  custom_tool_call: ["custom", ["input"]],
  apply_patch_call: ["action", ["operation"]],
  computer_call: ["action", ["actions", "action"]],
  local_shell_call: ["action", ["action"]],
  mcp_approval_request: ["action", ["arguments"]],
  shell_call: ["action", ["action"]],
  tool_search_call: ["action", ["arguments"]],
};

function callsOf({ output, tools }) {
  // The API repeats the tools of the request. A custom call of another name is to a tool of the provider.
  const custom = tools ? tools.filter((it) => it.type === "custom").map((it) => it.name) : null;
  return output.filter((item) => isForAgent(item, custom)).map(callOf);
}

function isForAgent(item, custom) {
  if (item.type === "custom_tool_call") return custom === null || custom.includes(item.name);
  if (item.type === "shell_call") return (item.environment?.type ?? "local") === "local";
  if (item.type === "tool_search_call") return item.execution === "client";
  return item.type in CALLS;
}

function callOf(item) {
  const [kind, members] = CALLS[item.type];
  const found = members.find((member) => item[member] != null) ?? members[0];
  const action = kind === "action" ? item.type.replace(/_call$/, "") : "";
  return {
    id: item.call_id ?? (kind === "action" ? item.id : ""),
    name: item.name || action,
    arguments: item[found],
    kind,
    error: item.status === "incomplete" ? "agent code executes no call that is not completed" : "",
  };
}

// The helper rejects with the event `error` itself if the stream contains one.
export const isDocumented = (error) => error instanceof OpenAI.OpenAIError || error?.type === "error";
