// The AI SDK with @ai-sdk/anthropic.

import { createAnthropic } from "@ai-sdk/anthropic";
import { runProvider } from "./ai-sdk.mjs";

const hello = { dialects: ["anthropic"] };

await runProvider("@ai-sdk/anthropic", import.meta.url, hello, ({ base_url, api_key, model }) =>
  createAnthropic({ baseURL: base_url, apiKey: api_key })(model),
);
