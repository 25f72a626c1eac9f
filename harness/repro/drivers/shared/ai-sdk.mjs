// The AI SDK (npm package ai): streamText and the parts of its fullStream.

import { jsonSchema, streamText, tool } from "ai";

// The SDK's words for a finish. After any other one, its own tool loop executes no call.
const MEANINGS = { stop: "stop", "tool-calls": "tool_calls", length: "length", "content-filter": "content_filter" };

const isPlainObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const anyTool = tool({
  inputSchema: jsonSchema(
    { type: "object" },
    {
      validate: (value) =>
        isPlainObject(value) ? { success: true, value } : { success: false, error: new Error("not an object") },
    },
  ),
});
// The agent has every tool, with any object as its input: whether a tool exists is not judged here. Version 6 gets
// a tool by its name, version 7 only if the name is an own property.
const toolOf = (_, name) => (typeof name === "string" ? anyTool : undefined);
const describe = (_, name) => toolOf(_, name) && { value: anyTool, writable: true, enumerable: true, configurable: true };
const tools = new Proxy({}, { get: toolOf, getOwnPropertyDescriptor: describe });

// What a timing scenario may tell the SDK. Its timeout counts the parts of the stream, which comments do not make.
export const timed = {
  times: ["idle_timeout", "max_retries", "cancel_after"],
  policies: { "keep-alive": "ignored" },
};

/** Write what agent code gets from a model of the SDK to `turn`. */
export async function readParts(model, turn, { idle_timeout, max_retries = 0, signal, took }) {
  const parts = new Parts(turn);
  // Errors are parts of the stream, as documented. The default of onError prints them.
  const { fullStream } = streamText({
    model,
    prompt: "any",
    tools,
    maxRetries: max_retries,
    abortSignal: signal,
    timeout: idle_timeout && { chunkMs: idle_timeout * 1000 },
    onError() {},
  });
  for await (const part of fullStream) {
    if (!part.providerExecuted) parts.take(part);
    if (part.type === "text-delta") took?.();
  }
  parts.end();
}

/** Writes the parts of one stream into a turn. */
class Parts {
  #turn;
  #begun = new Map(); // id -> a call that the SDK began and did not hand over yet
  #received = new Map(); // call -> the text of its arguments so far
  #summaries = new Set(); // ids of texts that summarize the request, which are not the answer
  #failure;
  #reason;

  constructor(turn) {
    this.#turn = Object.assign(turn, { text: "", reasoning: "", calls: [] });
  }

  take(part) {
    const turn = this.#turn;
    if (part.type === "text-start") this.#note(part);
    else if (part.type === "text-delta") turn.text += this.#summaries.has(part.id) ? "" : part.text;
    else if (part.type === "reasoning-delta") turn.reasoning += part.text;
    else if (part.type === "tool-input-start") this.#begin(part.id, part.toolName);
    else if (part.type === "tool-input-delta") this.#extend(part.id, part.delta);
    else if (part.type === "tool-call") this.#handOver(part);
    else if (part.type === "error") this.#failure ??= part.error;
    else if (part.type === "abort") this.#failure ??= new Error(`the stream was aborted: ${part.reason ?? ""}`);
    else if (part.type === "finish-step") {
      this.#reason = part.finishReason;
      turn.finish = part.rawFinishReason;
      turn.usage = { input_tokens: part.usage.inputTokens, output_tokens: part.usage.outputTokens };
    }
  }

  /** The documented way to detect Anthropic's summary of the earlier context in a stream. */
  #note({ id, providerMetadata }) {
    if (providerMetadata?.anthropic?.type === "compaction") this.#summaries.add(id);
    else this.#summaries.delete(id);
  }

  #begin(id, name) {
    const call = { id, name, arguments: "", error: "the SDK began this call and did not hand it over" };
    this.#turn.calls.push(call);
    this.#begun.set(id, call);
    this.#received.set(call, "");
    return call;
  }

  #extend(id, fragment) {
    const call = this.#begun.get(id);
    if (call === undefined) return;
    call.arguments += fragment;
    this.#received.set(call, call.arguments);
  }

  #handOver({ toolCallId, toolName, input, invalid, error }) {
    const call = this.#begun.get(toolCallId) ?? this.#begin(toolCallId, toolName);
    this.#begun.delete(toolCallId);
    const why = invalid ? String(error?.message ?? error) : "";
    Object.assign(call, { name: toolName, arguments: input, value: input, error: why });
  }

  end() {
    const turn = this.#turn;
    turn.reason = MEANINGS[this.#reason] ?? "other";
    for (const call of turn.calls) call.error ||= this.#whyNotExecuted(call);
    // After an event that it cannot read, the SDK goes on: a turn with a finish did not fail, unless
    // all of its calls are broken. Then the error tells what became of them.
    const isLost = this.#failure !== undefined && turn.calls.length > 0 && turn.calls.every((call) => call.error);
    if (turn.reason !== "other" && !isLost) return;
    turn.failure = this.#failure;
    if (this.#reason === "error") {
      turn.failure ??= { code: turn.finish ?? "error", message: "the finish reason of the SDK is error" };
    }
  }

  #whyNotExecuted(call) {
    if (this.#turn.reason === "other") return `the SDK executes no call after the finish reason ${this.#reason}`;
    // The SDK hands over {} for no text, which agent code cannot tell from a call without arguments.
    const isCut = this.#turn.reason === "length" && this.#received.get(call) === "";
    return isCut && isPlainObject(call.arguments) && Object.keys(call.arguments).length === 0
      ? "the answer ended before the arguments began"
      : "";
  }
}
