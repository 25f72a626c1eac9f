// The AI SDK with @ai-sdk/openai: its model for Chat Completions.

import { createOpenAI } from "@ai-sdk/openai";
import { readParts, timed } from "./shared/ai-sdk.mjs";

export const hello = {
  name: "ai-sdk-openai",
  packages: ["@ai-sdk/openai", "ai"],
  dialects: ["openai-chat"],
  capabilities: ["calls-without-index"],
  ...timed,
};

export const isDocumented = () => false; // errors are parts of the stream

/** Write what agent code gets to `turn`. */
export const drive = ({ base_url, api_key, model, ...times }, turn) =>
  readParts(createOpenAI({ baseURL: base_url, apiKey: api_key }).chat(model), turn, times);
