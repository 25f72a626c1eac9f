// The AI SDK: `streamText` and the parts of its `fullStream`.

import { jsonSchema, streamText, tool } from "ai";

const WORDS = { "tool-calls": "tool_calls", "content-filter": "content_filter" };
const anyTool = tool({ inputSchema: jsonSchema({ type: "object" }) });
// The agent has every tool: whether a tool exists is not the question here.
const tools = new Proxy({}, { get: (_, name) => (typeof name === "string" ? anyTool : undefined) });

const isDocumented = () => false; // errors are parts of the stream

/** Return the turn as agent code gets it from a model of the SDK. */
async function readParts(model) {
  const { fullStream } = streamText({ model, prompt: "any", tools, maxRetries: 0, onError() {} });
  const received = new Map(); // id of a call that began -> its name, and the text so far
  const turn = { text: "", calls: [] };
  let hasError = false;
  for await (const part of fullStream) {
    if (part.providerExecuted) continue;
    if (part.type === "text-delta") turn.text += part.text;
    else if (part.type === "tool-input-start") received.set(part.id, { name: part.toolName, text: "" });
    else if (part.type === "tool-input-delta" && received.has(part.id)) {
      received.get(part.id).text += part.delta;
    } else if (part.type === "tool-call") turn.calls.push(part);
    else if (part.type === "error") hasError = true;
    else if (part.type === "finish-step") {
      turn.finish = part.rawFinishReason ?? null;
      turn.reason = WORDS[part.finishReason] ?? part.finishReason;
    }
  }
  const isOpen = !["stop", "tool_calls", "length", "content_filter"].includes(turn.reason);
  turn.failed = isOpen && (hasError || turn.reason === "error" || turn.finish == null);
  // The SDK executes no call after another word. For no text it hands over {}: after the limit,
  // that is a call whose arguments did not begin.
  const isCut = ({ toolCallId, input }) =>
    isOpen ||
    (turn.reason === "length" &&
      received.get(toolCallId)?.text === "" &&
      Object.keys(input ?? {}).length === 0);
  const usable = turn.calls.filter((call) => !call.invalid && !isCut(call));
  const rejected = turn.calls.filter((call) => !usable.includes(call));
  for (const { toolCallId } of turn.calls) received.delete(toolCallId);
  // A call that began and was not handed over is not executed either.
  turn.rejected = [...rejected.map(({ toolName }) => toolName), ...[...received.values()].map(({ name }) => name)];
  turn.calls = usable.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input]);
  return turn;
}
