// The npm package ollama: the parts of `chat`, or of `generate`, with `stream: true`.

import { Ollama } from "ollama";

// The package documents `Error` and throws it, or its own subclass, on purpose.
const isDocumented = (error) => error?.name === "ResponseError" || error?.constructor === Error;

/** Return the turn as agent code gets it. */
async function drive(baseUrl) {
  const client = new Ollama({ host: baseUrl });
  const messages = [{ role: "user", content: "any" }];
  const parts = await ("prompt" in REQUEST
    ? client.generate({ model: "any", prompt: "any", stream: true })
    : client.chat({ model: "any", messages, stream: true }));
  const turn = { text: "", calls: [] };
  for await (const { message, response, done, done_reason } of parts) {
    turn.text += (message ? message.content : response) ?? "";
    for (const { function: call } of message?.tool_calls ?? []) {
      turn.calls.push(["", call.name, call.arguments]);
    }
    if (done) turn.finish = done_reason || "stop";
  }
  return turn;
}
