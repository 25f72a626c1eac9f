// The AI SDK with @ai-sdk/openai-compatible.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { runProvider } from "./ai-sdk.mjs";

const hello = { dialects: ["openai-chat"], capabilities: ["calls-without-index"] };

await runProvider("@ai-sdk/openai-compatible", import.meta.url, hello, ({ base_url, api_key, model }) =>
  createOpenAICompatible({ name: "replay", baseURL: base_url, apiKey: api_key })(model),
);
