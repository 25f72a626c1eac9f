// The AI SDK with @ai-sdk/anthropic.

import { createAnthropic } from "@ai-sdk/anthropic";
import { readParts, timed } from "./shared/ai-sdk.mjs";

export const hello = {
  name: "ai-sdk-anthropic",
  packages: ["@ai-sdk/anthropic", "ai"],
  dialects: ["anthropic"],
  ...timed,
};

export const isDocumented = () => false; // errors are parts of the stream

/** Write what agent code gets to `turn`. */
export const drive = ({ base_url, api_key, model, ...times }, turn) =>
  readParts(createAnthropic({ baseURL: base_url, apiKey: api_key })(model), turn, times);
