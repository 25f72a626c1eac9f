// The npm package @langchain/openai: the sum of the chunks of `ChatOpenAI.stream`.

import { ChatOpenAI } from "@langchain/openai";

/** Return whether it is an exception of the package openai, which LangChain lets through. */
function isDocumented(error) {
  for (let it = error?.constructor; it; it = Object.getPrototypeOf(it)) {
    if (it.name === "OpenAIError") return true;
  }
  return false;
}

/** Return the turn as agent code gets it. */
async function drive(baseUrl) {
  const model = new ChatOpenAI({
    model: "any",
    apiKey: "none",
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: baseUrl },
  });
  let text = "";
  let sum;
  for await (const chunk of await model.stream([["user", "any"]])) {
    sum = sum === undefined ? chunk : sum.concat(chunk);
    text += typeof chunk.content === "string" ? chunk.content : "";
  }
  if (sum === undefined) return { calls: [], failed: true };
  const calls = (sum.tool_calls ?? []).map(({ id, name, args }) => [id, name, args]);
  const older = sum.additional_kwargs.function_call;
  if (older && calls.length === 0) calls.push(["function_call", older.name, older.arguments]);
  return {
    text,
    calls,
    rejected: (sum.invalid_tool_calls ?? []).map(({ name }) => name),
    finish: sum.response_metadata.finish_reason,
    failed: Boolean(sum.additional_kwargs.refusal),
  };
}
