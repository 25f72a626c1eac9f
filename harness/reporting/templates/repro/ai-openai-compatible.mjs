// The AI SDK with @ai-sdk/openai-compatible.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isDocumented, readParts } from "./shared/ai-sdk.mjs";

const drive = (baseUrl) =>
  readParts(createOpenAICompatible({ name: "any", baseURL: baseUrl, apiKey: "none" })("any"));
