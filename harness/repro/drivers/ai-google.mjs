// The AI SDK with @ai-sdk/google.

import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { readParts } from "./shared/ai-sdk.mjs";

export const hello = {
  name: "ai-sdk-google",
  packages: ["@ai-sdk/google", "ai"],
  dialects: ["gemini"],
};

export const isDocumented = () => false; // errors are parts of the stream

/** Write what agent code gets to `turn`. */
export const drive = ({ base_url, api_key, model }, turn) =>
  readParts(createGoogleGenerativeAI({ baseURL: base_url, apiKey: api_key })(model), turn);
