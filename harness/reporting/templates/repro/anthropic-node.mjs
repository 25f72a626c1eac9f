// The npm package @anthropic-ai/sdk: `messages.stream` and its final message.

import Anthropic from "@anthropic-ai/sdk";

const FINISH = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

const isDocumented = (error) => error instanceof Anthropic.AnthropicError;

/** Return the turn as agent code gets it. */
async function drive(baseUrl) {
  const client = new Anthropic({ baseURL: baseUrl, apiKey: "none", maxRetries: 0 });
  const stream = client.messages.stream({ model: "any", max_tokens: 1, messages: [] });
  let text = "";
  stream.on("text", (delta) => (text += delta));
  const { content, stop_reason } = await stream.finalMessage();
  const blocks = content.filter(({ type }) => type === "tool_use");
  // The tool runner of this package executes no call of a message that was truncated.
  const isComplete = ["tool_use", "end_turn", "stop_sequence"].includes(stop_reason);
  return {
    text,
    calls: isComplete ? blocks.map(({ id, name, input }) => [id, name, input]) : [],
    rejected: isComplete ? [] : blocks.map(({ name }) => name),
    finish: stop_reason,
  };
}
