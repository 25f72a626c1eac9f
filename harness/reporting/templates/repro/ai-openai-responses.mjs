// The AI SDK with @ai-sdk/openai: its model for Responses.

import { createOpenAI } from "@ai-sdk/openai";
import { isDocumented, readParts } from "./shared/ai-sdk.mjs";

const drive = (baseUrl) =>
  readParts(createOpenAI({ baseURL: baseUrl, apiKey: "none" }).responses("any"));
