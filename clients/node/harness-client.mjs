// The client protocol of harness, version 1: put any JavaScript library under test.
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
 * @param hello name, version, dialects, and optionally capabilities and policies.
 * @param readTurn async (test) => turn; test has base_url, api_key, model, dialect, request.
 * @param isDocumented (error) => whether the library documents this exception for a failed turn.
 */
export async function runClient(hello, readTurn, isDocumented = () => false) {
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.type === "hello") {
      send({ type: "hello", protocol: 1, language: "javascript", ...hello });
    } else if (message.type === "case") {
      send({ type: "turn", id: message.id, ...(await readOrFail(message, readTurn, isDocumented)) });
    } else if (message.type === "stop") {
      break;
    }
  }
  process.exit(0); // connections that a library keeps open would keep the process alive
}

async function readOrFail(test, readTurn, isDocumented) {
  const partial = {};
  try {
    return await readTurn(test, partial);
  } catch (error) {
    const { name = "Error", message = String(error), code } = error ?? {};
    const failure = { type: error?.constructor?.name ?? name, documented: isDocumented(error), message };
    return { ...partial, error: { ...failure, code: code == null ? "" : String(code) } };
  }
}

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
