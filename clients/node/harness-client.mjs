// The client protocol of harness, version 2: put any JavaScript library under test.
//
//     import { runClient } from "./harness-client.mjs";
//     await runClient({ name: "my-sdk", version: "1.0.0", dialects: ["openai-chat"] }, async (test) => {
//       ... send one streaming request to test.base_url, and return the turn that was read ...
//     });
//
// `harness schema client-protocol` prints all messages. Standard output belongs to the protocol, so
// console.log and its relatives write to standard error here.

import { Console } from "node:console";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

globalThis.console = new Console(process.stderr, process.stderr);

const send = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/**
 * Answer the messages of harness until it stops.
 *
 * @param hello name, version, dialects, and optionally capabilities, policies and times.
 * @param readTurn async (test) => turn; test has base_url, api_key, model, dialect, request, and in a timing scenario
 *   idle_timeout (seconds), max_retries and cancel_after.
 * @param isDocumented (error) => whether the library documents this exception for a failed turn.
 */
export async function runClient(hello, readTurn, isDocumented = () => false) {
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.type === "hello") {
      send({ type: "hello", protocol: 2, language: "javascript", ...hello });
    } else if (message.type === "case" || message.type === "timed_case") {
      const turn = await readOrFail(message, readTurn, isDocumented);
      send({ type: "turn", id: message.id, ...asMessage(turn) });
    } else if (message.type === "stop") {
      break;
    }
  }
  process.exit(0); // connections that a library keeps open would keep the process alive
}

/**
 * Return a signal and a function `took` that counts a piece of content.
 *
 * The signal aborts after as many pieces as the case says, as agent code does whose user leaves.
 */
export function leaving({ cancel_after }) {
  const controller = new AbortController();
  let pieces = 0;
  const took = () => {
    pieces += 1;
    if (pieces === cancel_after) controller.abort();
  };
  return { signal: controller.signal, took };
}

async function readOrFail(test, readTurn, isDocumented) {
  const partial = {};
  try {
    return await readTurn(test, partial);
  } catch (error) {
    return { ...partial, error: failureOf(error, isDocumented(error)) };
  }
}

/**
 * Return the `error` of a turn for what a library threw or reported.
 *
 * Its code is the provider's, or else the HTTP status as in `http_429`.
 */
export function failureOf(error, documented) {
  const { message, code, type, status } = error ?? {};
  const codes = [code, type].filter((it) => it != null && it !== "");
  return {
    type: textOf(error?.constructor?.name) || "Error",
    documented,
    message: textOf(message) || String(error),
    code: String(codes[0] ?? (status ? `http_${status}` : "")),
  };
}

/** Return a value that should be text; a value that is not text becomes "". */
export const textOf = (value) => (typeof value === "string" ? value : "");

/**
 * Return a value that a library parsed as JSON text.
 *
 * Numbers that JSON does not have are written by their names, because JSON.stringify makes null of them.
 */
export function valueText(value) {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) return String(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(",")}]`;
  if (typeof value !== "object" || value === null || typeof value.toJSON === "function") {
    return JSON.stringify(value) ?? "null";
  }
  const members = Object.entries(value).filter(([, it]) => it !== undefined);
  return `{${members.map(([key, it]) => `${JSON.stringify(key)}:${valueText(it)}`).join(",")}}`;
}

/** Return a call in the form of the protocol: `value`, or `arguments` that is not text, is what the library parsed. */
function callMessage(call) {
  const isText = typeof call.arguments === "string" || !("arguments" in call);
  const given = "value" in call ? call.value : call.arguments;
  const value = isText && !("value" in call) ? {} : { value: valueText(given) };
  return { ...call, id: textOf(call.id), name: textOf(call.name), arguments: textOf(call.arguments), ...value };
}

/** Return the turn in the form of the protocol: a library hands over values that a provider made up. */
function asMessage(turn) {
  const calls = (turn.calls ?? []).map(callMessage);
  const { input_tokens, output_tokens } = turn.usage ?? {};
  const usage = turn.usage && { input_tokens: countOf(input_tokens), output_tokens: countOf(output_tokens) };
  return { ...turn, calls, usage, finish: turn.finish == null ? null : String(turn.finish) };
}

const countOf = (value) => (Number.isInteger(value) && value >= 0 ? value : null);

/** Return the installed version of a package, found from the file `from` (import.meta.url). */
export function versionOf(name, from) {
  let folder = dirname(createRequire(from).resolve(name));
  for (;;) {
    try {
      const found = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (found.name === name && found.version) return found.version;
    } catch {
      // no package.json in this folder
    }
    if (folder === dirname(folder)) return "";
    folder = dirname(folder);
  }
}
