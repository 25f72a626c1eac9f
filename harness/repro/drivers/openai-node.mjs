// The npm package openai: chat.completions.stream and its final completion.

import OpenAI from "openai";

export const hello = {
  packages: ["openai"],
  dialects: ["openai-chat"],
  // The type of a chunk has no calls of custom tools, and the helper takes the name from one chunk.
  capabilities: ["calls-without-index", "legacy-functions"],
  policies: { arguments: "append" },
  times: ["max_retries", "cancel_after"],
  // Its timeout ends when the head of the response came.
  untold: { idle_timeout: "https://github.com/openai/openai-node#timeouts" },
};

/** Write what agent code gets to `turn`. */
export async function drive({ base_url, api_key, model, request, max_retries = 0, signal, took }, turn) {
  const client = new OpenAI({ baseURL: base_url, apiKey: api_key, maxRetries: max_retries });
  const stream = client.chat.completions.stream({ model, messages: request.messages ?? [] }, { signal });
  turn.text = "";
  turn.reasoning = "";
  // The event "content" comes only after a delta with a role, which some servers do not send.
  stream.on("chunk", ({ choices }, snapshot) => {
    const delta = choices?.[0]?.delta;
    turn.text += textOf(delta?.content);
    if (delta?.content) took?.();
    // The package keeps unknown fields, and users of reasoning models read these.
    turn.reasoning += textOf(delta?.reasoning_content) || textOf(delta?.reasoning);
    // Calls that began, for an answer that fails.
    turn.calls = callsOf(snapshot.choices[0]?.message);
  });
  const { choices, usage } = await stream.finalChatCompletion();
  if (usage) turn.usage = { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens };
  if (choices.length === 0) {
    turn.failure = { code: "interrupted", message: "the completion has no choice" };
    return;
  }
  const { message, finish_reason } = choices[0];
  turn.calls = callsOf(message);
  if (message.function_call && turn.calls.length === 0) {
    // It has no id in this API, because agent code needs none.
    const { name, arguments: text } = message.function_call;
    turn.calls = [{ id: "function_call", name, arguments: text }];
  }
  turn.finish = finish_reason;
  turn.refusal = message.refusal ?? "";
}

const callsOf = (message) =>
  (message?.tool_calls ?? []).map(({ id, function: call }) => ({ id, name: call?.name, arguments: call?.arguments }));

export const isDocumented = (error) => error instanceof OpenAI.OpenAIError;

const textOf = (value) => (typeof value === "string" ? value : "");
