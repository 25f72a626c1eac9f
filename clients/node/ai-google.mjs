// The AI SDK with @ai-sdk/google.

import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { runProvider } from "./ai-sdk.mjs";

const hello = { dialects: ["gemini"] };

await runProvider("@ai-sdk/google", import.meta.url, hello, ({ base_url, api_key, model }) =>
  createGoogleGenerativeAI({ baseURL: base_url, apiKey: api_key })(model),
);
