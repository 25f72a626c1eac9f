// The npm package openai: chat.completions.stream and its final completion.

import OpenAI from "openai";
import { runClient, versionOf } from "./harness-client.mjs";

const hello = {
  name: "openai-node",
  version: versionOf("openai", import.meta.url),
  dialects: ["openai-chat"],
  policies: { names: "append", arguments: "append" },
};

async function readTurn({ base_url, api_key, model, request }, turn) {
  const client = new OpenAI({ baseURL: base_url, apiKey: api_key, maxRetries: 0 });
  const stream = client.chat.completions.stream({ model, messages: request.messages ?? [] });
  turn.text = "";
  stream.on("content", (delta) => (turn.text += delta));
  const completion = await stream.finalChatCompletion();
  const { message, finish_reason } = completion.choices[0];
  turn.calls = (message.tool_calls ?? []).map(callOf);
  turn.finish = finish_reason;
  turn.refusal = message.refusal ?? "";
  if (completion.usage) {
    turn.usage = {
      input_tokens: completion.usage.prompt_tokens,
      output_tokens: completion.usage.completion_tokens,
    };
  }
  return turn;
}

const callOf = (call) =>
  call.type === "custom"
    ? { id: call.id, name: call.custom.name, arguments: call.custom.input, kind: "custom" }
    : { id: call.id, name: call.function.name, arguments: call.function.arguments };

await runClient(hello, readTurn, (error) => error instanceof OpenAI.OpenAIError);
