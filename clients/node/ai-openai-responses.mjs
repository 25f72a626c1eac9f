// The AI SDK with @ai-sdk/openai: its model for Responses.

import { createOpenAI } from "@ai-sdk/openai";
import { runProvider } from "./ai-sdk.mjs";

const hello = {
  name: "ai-sdk-openai-responses",
  dialects: ["openai-responses"],
  hides: ["finish_raw"], // the SDK does not hand over the status of the response
};

await runProvider("@ai-sdk/openai", import.meta.url, hello, ({ base_url, api_key, model }) =>
  createOpenAI({ baseURL: base_url, apiKey: api_key }).responses(model),
);
