// The AI SDK with @ai-sdk/anthropic.

import { createAnthropic } from "@ai-sdk/anthropic";
import { isDocumented, readParts } from "./shared/ai-sdk.mjs";

const drive = (baseUrl) =>
  readParts(createAnthropic({ baseURL: baseUrl, apiKey: "none" })("any"));
