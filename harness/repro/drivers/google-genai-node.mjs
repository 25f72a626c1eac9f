// The npm package @google/genai: models.generateContentStream and the parts of its chunks.

import { ApiError, GoogleGenAI } from "@google/genai";

export const hello = {
  packages: ["@google/genai"],
  dialects: ["gemini"],
};

/** Write what agent code gets to `turn`. */
export async function drive({ base_url, api_key, model, request }, turn) {
  const client = new GoogleGenAI({ apiKey: api_key, vertexai: false, httpOptions: { baseUrl: base_url } });
  const contents = request.contents ?? "any";
  const received = { finish: null, blocked: null };
  Object.assign(turn, { text: "", reasoning: "", calls: [] });
  for await (const chunk of await client.models.generateContentStream({ model, contents })) {
    takeChunk(chunk, turn, received);
  }
  turn.finish = received.finish ?? received.blocked;
  if (turn.finish === null) {
    turn.failure = { code: "interrupted", message: "no chunk has a finish reason" };
  }
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
      turn.calls.push({ id: functionCall.id, name: functionCall.name, value: functionCall.args });
    }
  }
  received.finish = candidate?.finishReason ?? received.finish;
}

export const isDocumented = (error) => error instanceof ApiError;
