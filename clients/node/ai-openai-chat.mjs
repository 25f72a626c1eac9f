// The AI SDK with @ai-sdk/openai: its model for Chat Completions.

import { createOpenAI } from "@ai-sdk/openai";
import { runProvider } from "./ai-sdk.mjs";

const hello = { dialects: ["openai-chat"], capabilities: ["calls-without-index"] };

await runProvider("@ai-sdk/openai", import.meta.url, hello, ({ base_url, api_key, model }) =>
  createOpenAI({ baseURL: base_url, apiKey: api_key }).chat(model),
);
