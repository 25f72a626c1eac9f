// Puts client.mjs under test: one line of JSON for each line from the harness.

import { createInterface } from "node:readline";
import { chat, Interrupted } from "./client.mjs";

const answer = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { type, id, base_url, model, request } = JSON.parse(line);
  if (type === "stop") break;
  if (type === "hello") {
    answer({ type, protocol: 1, name: "node-client", kind: "gateway", dialects: ["openai-chat"], hides: ["usage"] });
    continue;
  }
  try {
    const turn = await chat(base_url, { model, messages: request?.messages ?? [] });
    // Agent code cannot execute a call without a name.
    for (const call of turn.calls) if (!call.name) call.error = "the call has no name";
    answer({ type: "turn", id, ...turn });
  } catch (error) {
    const documented = error instanceof Interrupted;
    answer({ type: "turn", id, error: { type: error.name, documented, message: error.message } });
  }
}
