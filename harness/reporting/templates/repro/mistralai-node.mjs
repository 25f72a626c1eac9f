// The npm package @mistralai/mistralai: the chunks of `chat.stream`.

import { Mistral } from "@mistralai/mistralai";
import * as errors from "@mistralai/mistralai/models/errors";

const FINISH = { model_length: "length" };

const isDocumented = (error) =>
  error instanceof errors.MistralError || error instanceof errors.HTTPClientError;

/** Return the turn as agent code gets it. */
async function drive(baseUrl) {
  const client = new Mistral({ serverURL: baseUrl, apiKey: "none", retryConfig: { strategy: "none" } });
  const messages = [{ role: "user", content: "any" }];
  const turn = { text: "", calls: [], finish: null };
  const byIndex = new Map();
  for await (const { data } of await client.chat.stream({ model: "any", messages })) {
    for (const { delta, finishReason } of data.choices.filter(({ index }) => index === 0)) {
      const parts = typeof delta.content === "string" ? [{ type: "text", text: delta.content }] : delta.content ?? [];
      for (const { type, text } of parts) if (type === "text") turn.text += text;
      addCalls(delta.toolCalls ?? [], turn.calls, byIndex);
      turn.finish = finishReason ?? turn.finish;
    }
  }
  return { ...turn, failed: [null, "error"].includes(turn.finish) };
}

/** Add the fragments of one chunk: another id, or a second entry, begins another call. */
function addCalls(entries, calls, byIndex) {
  const inChunk = new Set();
  for (const { id: given, index, function: { name, arguments: fragment } } of entries) {
    const id = given === "null" ? "" : given ?? ""; // what the package gives for no id
    const known = byIndex.get(index);
    const isOther = id ? known && !["", id].includes(known[0]) : inChunk.has(index);
    inChunk.add(index);
    if (!known || isOther) {
      byIndex.set(index, ["", "", ""]);
      calls.push(byIndex.get(index));
    }
    const call = byIndex.get(index);
    call[0] ||= id;
    if (name !== call[1]) call[1] += name; // some servers repeat it
    call[2] += typeof fragment === "string" ? fragment : JSON.stringify(fragment);
  }
}
