// The AI SDK with @ai-sdk/openai-compatible.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { readParts, timed } from "./shared/ai-sdk.mjs";

export const hello = {
  name: "ai-sdk-openai-compatible",
  packages: ["@ai-sdk/openai-compatible", "ai"],
  dialects: ["openai-chat"],
  capabilities: ["calls-without-index"],
  ...timed,
};

export const isDocumented = () => false; // errors are parts of the stream

/** Write what agent code gets to `turn`. */
export const drive = ({ base_url, api_key, model, ...times }, turn) =>
  readParts(createOpenAICompatible({ name: "any", baseURL: base_url, apiKey: api_key })(model), turn, times);
