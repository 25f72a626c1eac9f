// The npm package @google/genai: the parts of `models.generateContentStream`.

import { ApiError, GoogleGenAI } from "@google/genai";

const FINISH = { STOP: "stop", MAX_TOKENS: "length", SAFETY: "content_filter" };
const FAILED = ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"];

const isDocumented = (error) => error instanceof ApiError;

/** Return the turn as agent code gets it. */
async function drive(baseUrl) {
  const client = new GoogleGenAI({ apiKey: "none", vertexai: false, httpOptions: { baseUrl } });
  const turn = { text: "", calls: [], finish: null };
  for await (const chunk of await client.models.generateContentStream({ model: "any", contents: "any" })) {
    const candidate = chunk.candidates?.[0];
    for (const { text, thought, functionCall } of candidate?.content?.parts ?? []) {
      if (text && !thought) turn.text += text;
      if (functionCall) turn.calls.push([functionCall.id, functionCall.name, functionCall.args]);
    }
    turn.finish = candidate?.finishReason ?? chunk.promptFeedback?.blockReason ?? turn.finish;
  }
  return { ...turn, failed: turn.finish === null || FAILED.includes(turn.finish) };
}
