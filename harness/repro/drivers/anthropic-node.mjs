// The npm package @anthropic-ai/sdk: messages.stream and its final message.

import Anthropic from "@anthropic-ai/sdk";

export const hello = {
  packages: ["@anthropic-ai/sdk"],
  dialects: ["anthropic"],
};

// The package's own tool runner executes no call of a message that stopped for another reason.
const ASKS_FOR_TOOLS = "tool_use";

/** Write what agent code gets to `turn`. */
export async function drive({ base_url, api_key, model, request }, turn) {
  const client = new Anthropic({ baseURL: base_url, apiKey: api_key, maxRetries: 0 });
  const stream = client.messages.stream({ model, max_tokens: 1024, messages: request.messages ?? [] });
  turn.text = "";
  turn.reasoning = "";
  stream.on("text", (delta) => (turn.text += delta));
  stream.on("thinking", (delta) => (turn.reasoning += delta));
  // Calls that began, for an answer that fails. Their input is left out, because reading it may raise.
  stream.on("streamEvent", (_, { content }) => {
    turn.calls = content.filter(isCall).map(({ id, name }) => ({ id, name }));
  });
  const { content, stop_reason, usage } = await stream.finalMessage();
  const error = stop_reason === ASKS_FOR_TOOLS ? "" : `the tool runner does not execute it: ${stop_reason}`;
  turn.calls = content.filter(isCall).map(({ id, name, input }) => ({ id, name, value: input, error }));
  turn.finish = stop_reason;
  if (usage) turn.usage = { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens };
}

const isCall = (block) => block.type === "tool_use";

export const isDocumented = (error) => error instanceof Anthropic.AnthropicError;
