// The npm package @langchain/openai: ChatOpenAI.stream and the sum of its chunks, as agents use it.

import { ChatOpenAI } from "@langchain/openai";

export const hello = {
  packages: ["@langchain/openai"],
  dialects: ["openai-chat"],
  capabilities: ["calls-without-index", "legacy-functions"],
  policies: { arguments: "append" },
};

/** Write what agent code gets to `turn`. */
export async function drive({ base_url, api_key, model }, turn) {
  const chat = new ChatOpenAI({
    model,
    apiKey: api_key,
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: base_url },
  });
  turn.text = "";
  turn.reasoning = "";
  let total;
  for await (const chunk of await chat.stream([["user", "any"]])) {
    total = total === undefined ? chunk : total.concat(chunk);
    turn.text += textOf(chunk.content);
    turn.reasoning += textOf(chunk.additional_kwargs.reasoning_content);
    // If an exception follows, agent code executes none of them.
    turn.calls = (total.tool_call_chunks ?? []).map(({ id, name, args }) => ({ id, name, arguments: args ?? "" }));
  }
  if (total === undefined) {
    turn.failure = { code: "empty_stream", message: "no chunk came" };
    return;
  }
  turn.calls = callsOf(total);
  turn.finish = total.response_metadata.finish_reason;
  turn.refusal = textOf(total.additional_kwargs.refusal);
  const usage = total.usage_metadata;
  if (usage) turn.usage = { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens };
}

function callsOf({ tool_calls, invalid_tool_calls, additional_kwargs }) {
  const handed = (tool_calls ?? []).map(({ id, name, args }) => ({
    id,
    name,
    arguments: args,
    error: name ? "" : "the tool node of LangChain executes no tool without a name",
  }));
  const invalid = (invalid_tool_calls ?? []).map(({ id, name, args, error }) => ({
    id,
    name,
    arguments: args ?? "",
    error: error || "LangChain could not parse the arguments",
  }));
  const older = additional_kwargs.function_call;
  if (older && handed.length === 0) {
    // It has no id in this API, because agent code needs none.
    handed.push({ id: "function_call", name: older.name, arguments: older.arguments });
  }
  return [...handed, ...invalid];
}

/** Return whether it is an exception of the package openai, which LangChain lets through. */
export function isDocumented(error) {
  for (let it = error?.constructor; it; it = Object.getPrototypeOf(it)) {
    if (it.name === "OpenAIError") return true;
  }
  return false;
}

const textOf = (value) => (typeof value === "string" ? value : "");
