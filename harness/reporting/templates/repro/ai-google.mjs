// The AI SDK with @ai-sdk/google.

import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { isDocumented, readParts } from "./shared/ai-sdk.mjs";

const drive = (baseUrl) =>
  readParts(createGoogleGenerativeAI({ baseURL: baseUrl, apiKey: "none" })("any"));
