// The npm package @google/genai: models.generateContentStream and the parts of its chunks.

import { ApiError, GoogleGenAI } from "@google/genai";
import { runClient, versionOf } from "./harness-client.mjs";

const hello = {
  name: "google-genai-node",
  version: versionOf("@google/genai", import.meta.url),
  dialects: ["gemini"],
};

async function readTurn({ base_url, api_key, model, request }, turn) {
  const client = new GoogleGenAI({ apiKey: api_key, vertexai: false, httpOptions: { baseUrl: base_url } });
  const contents = request.contents ?? "replay";
  const received = { finish: null, blocked: null };
  Object.assign(turn, { text: "", reasoning: "", calls: [] });
  for await (const chunk of await client.models.generateContentStream({ model, contents })) {
    takeChunk(chunk, turn, received);
  }
  turn.finish = received.finish ?? received.blocked;
  if (turn.finish === null) {
    turn.error = { type: "", documented: true, code: "interrupted", message: "no chunk has a finish reason" };
  }
  return turn;
}

function takeChunk({ candidates, promptFeedback, usageMetadata }, turn, received) {
  if (usageMetadata) {
    const { promptTokenCount, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usageMetadata;
    turn.usage = { input_tokens: promptTokenCount, output_tokens: candidatesTokenCount + thoughtsTokenCount };
  }
  received.blocked = promptFeedback?.blockReason ?? received.blocked;
  const candidate = candidates?.[0];
  for (const { text, thought, functionCall } of candidate?.content?.parts ?? []) {
    if (text) turn[thought ? "reasoning" : "text"] += text;
    if (functionCall) {
      turn.calls.push({ id: functionCall.id, name: functionCall.name, arguments: functionCall.args ?? {} });
    }
  }
  received.finish = candidate?.finishReason ?? received.finish;
}

await runClient(hello, readTurn, (error) => error instanceof ApiError);
