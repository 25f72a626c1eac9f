// The npm package ollama: chat or generate with `stream: true`. Calls come complete in a part of the stream.

import { Ollama } from "ollama";

export const hello = {
  packages: ["ollama"],
  dialects: ["ollama"],
  // The type of a call has no id: results are matched by the name of the tool.
  hides: ["ids"],
};

/** Write what agent code gets to `turn`. */
export async function drive({ base_url, model, request }, turn) {
  const client = new Ollama({ host: base_url });
  Object.assign(turn, { text: "", reasoning: "", calls: [] });
  // The API has two endpoints, and the recorded request shows which one the response belongs to.
  const parts = await (request.messages === undefined && request.prompt !== undefined
    ? client.generate({ model, prompt: "any", stream: true })
    : client.chat({ model, messages: [{ role: "user", content: "any" }], stream: true }));
  for await (const part of parts) {
    const { message } = part;
    turn.text += (message ? message.content : part.response) ?? "";
    turn.reasoning += (message ?? part).thinking ?? "";
    for (const { function: call } of message?.tool_calls ?? []) {
      turn.calls.push({ name: call.name, value: call.arguments });
    }
    if (part.done) {
      turn.finish = part.done_reason || "stop"; // servers of 2024 had none
      turn.usage = { input_tokens: part.prompt_eval_count, output_tokens: part.eval_count };
    }
  }
}

// The package documents `Error` and throws it, or its own subclass, on purpose. It exports no class.
export const isDocumented = (error) => error?.name === "ResponseError" || error?.constructor === Error;
