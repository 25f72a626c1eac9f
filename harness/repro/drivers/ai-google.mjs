// The AI SDK with @ai-sdk/google.

import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { readParts, timed } from "./shared/ai-sdk.mjs";

export const hello = {
  name: "ai-sdk-google",
  packages: ["@ai-sdk/google", "ai"],
  dialects: ["gemini"],
  ...timed,
};

export const isDocumented = () => false; // errors are parts of the stream

/** Write what agent code gets to `turn`. */
export const drive = ({ base_url, api_key, model, ...times }, turn) =>
  readParts(createGoogleGenerativeAI({ baseURL: base_url, apiKey: api_key })(model), turn, times);
