// The npm package openai: `chat.completions.stream` and its final completion.

import OpenAI from "openai";

const isDocumented = (error) => error instanceof OpenAI.OpenAIError;

/** Return the turn as agent code gets it. */
async function drive(baseUrl) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: "none", maxRetries: 0 });
  const stream = client.chat.completions.stream({ model: "any", messages: [] });
  let text = "";
  stream.on("content", (delta) => (text += delta));
  const { choices } = await stream.finalChatCompletion();
  if (choices.length === 0) return { calls: [], failed: true };
  const { message, finish_reason } = choices[0];
  const calls = (message.tool_calls ?? []).map(({ id, function: it }) => [id, it?.name, it?.arguments]);
  const older = message.function_call;
  if (older && calls.length === 0) calls.push(["function_call", older.name, older.arguments]);
  return { text, calls, finish: finish_reason, failed: Boolean(message.refusal) };
}
