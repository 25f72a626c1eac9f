// A small chat client without packages: POSTs to a base URL, and reads the stream into one message.

export class Interrupted extends Error {}

export async function chat(baseUrl, request) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...request, stream: true }),
  });
  const message = { text: "", calls: [], finish: null };
  for await (const data of events(response.body)) {
    if (data === "[DONE]") break;
    const choice = JSON.parse(data).choices[0];
    if (!choice) continue; // a chunk with the usage only
    message.finish = choice.finish_reason || message.finish;
    message.text += choice.delta.content ?? "";
    for (const piece of choice.delta.tool_calls ?? []) addPiece(message.calls, piece);
  }
  if (message.finish === null) throw new Interrupted("the response has no finish reason");
  return message;
}

function addPiece(calls, { index, id, function: { name, arguments: text } }) {
  const call = (calls[index] ??= { id: "", name: "", arguments: "" });
  call.id ||= id ?? ""; // some servers send id and name again later, or empty
  call.name ||= name ?? "";
  call.arguments += text ?? "";
}

// A read may end anywhere, also inside a character: TextDecoder keeps the rest.
async function* events(body) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const read of body) {
    const lines = (rest + decoder.decode(read, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
  }
}
