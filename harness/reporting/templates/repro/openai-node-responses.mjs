// The npm package openai: `responses.stream` and its final response.

import OpenAI from "openai";

const FINISH = { completed: "stop", max_output_tokens: "length", incomplete: "length" };

// The helper rejects with the event `error` itself if the stream contains one.
const isDocumented = (error) => error instanceof OpenAI.OpenAIError || error?.type === "error";

/** Return the turn as agent code gets it. */
async function drive(baseUrl) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: "none", maxRetries: 0 });
  const stream = client.responses.stream({ model: "any", input: [] });
  let text = "";
  stream.on("response.output_text.delta", ({ delta }) => (text += delta));
  const response = await stream.finalResponse();
  const items = response.output.filter(({ type }) => type === "function_call");
  const isComplete = ({ status }) => status !== "incomplete";
  const parts = response.output.flatMap(({ content }) => content ?? []);
  return {
    text: response.output_text?.startsWith(text) ? response.output_text : text,
    calls: items.filter(isComplete).map((it) => [it.call_id, it.name, it.arguments]),
    rejected: items.filter((it) => !isComplete(it)).map(({ name }) => name),
    finish: response.incomplete_details?.reason ?? response.status,
    failed:
      !["completed", "incomplete"].includes(response.status) || parts.some(({ type }) => type === "refusal"),
  };
}
