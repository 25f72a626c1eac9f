// The npm package @mistralai/mistralai: chat.stream. It hands over chunks, so this driver joins the calls.

import { Mistral } from "@mistralai/mistralai";
import * as errors from "@mistralai/mistralai/models/errors";

export const hello = {
  packages: ["@mistralai/mistralai"],
  dialects: ["mistral"],
  capabilities: ["calls-without-index"],
};

// The package gives an id that did not arrive as this text.
const NO_ID = ["", "null", undefined, null];

/** Write what agent code gets to `turn`. */
export async function drive({ base_url, api_key, model, request }, turn) {
  const client = new Mistral({ serverURL: base_url, apiKey: api_key, retryConfig: { strategy: "none" } });
  const stream = await client.chat.stream({ model, messages: [{ role: "user", content: "any" }] });
  Object.assign(turn, { text: "", reasoning: "", calls: [] });
  const byIndex = new Map();
  for await (const { data } of stream) {
    if (data.usage) {
      turn.usage = { input_tokens: data.usage.promptTokens, output_tokens: data.usage.completionTokens };
    }
    for (const choice of data.choices.filter(({ index }) => index === 0)) {
      takeContent(choice.delta.content, turn);
      joinCalls(choice.delta.toolCalls ?? [], turn.calls, byIndex);
      turn.finish = choice.finishReason ?? turn.finish;
    }
  }
  endTurn(turn);
}

/** Content is text, or a list of chunks, or absent. */
function takeContent(content, turn) {
  if (typeof content === "string") turn.text += content;
  else for (const chunk of content ?? []) {
    if (chunk.type === "text") turn.text += chunk.text;
    else if (chunk.type === "thinking") {
      turn.reasoning += chunk.thinking.map((part) => (part.type === "text" ? part.text : "")).join("");
    }
  }
}

/** Join the fragments of one chunk. In this API another id, or a second entry, begins another call. */
function joinCalls(entries, calls, byIndex) {
  const inChunk = new Set();
  for (const { id, index, function: { name, arguments: fragment } } of entries) {
    const known = byIndex.get(index);
    const isOther = NO_ID.includes(id) ? inChunk.has(index) : known && !["", id].includes(known.id);
    inChunk.add(index);
    if (!known || isOther) {
      byIndex.set(index, { id: "", name: "", arguments: "" });
      calls.push(byIndex.get(index));
    }
    const call = byIndex.get(index);
    call.id ||= NO_ID.includes(id) ? "" : id;
    if (name !== call.name) call.name += name; // some servers repeat it
    call.arguments += typeof fragment === "string" ? fragment : JSON.stringify(fragment);
  }
}

/** Careful agent code executes only complete calls of a finished answer. */
function endTurn(turn) {
  if (turn.finish === undefined) {
    turn.failure = { code: "interrupted", message: "no chunk has a finish reason" };
  } else if (["length", "model_length"].includes(turn.finish)) {
    for (const call of turn.calls.filter((it) => !isComplete(it))) call.error = "the answer reached its limit";
  }
}

function isComplete(call) {
  try {
    return Boolean(JSON.parse(call.arguments));
  } catch {
    return false;
  }
}

export const isDocumented = (error) =>
  error instanceof errors.MistralError || error instanceof errors.HTTPClientError;
