// node run-driver.mjs NAME: put the driver NAME.mjs beside this file under test.

import { failureOf, leaving, runClient, versionOf } from "./harness-client.mjs";

const name = process.argv[2];
const { hello, drive, isDocumented } = await import(`./${name}.mjs`);
const { packages, ...declared } = hello;
const [version, ...others] = packages.map((it) => versionOf(it, import.meta.url));
const rest = others.map((other, at) => ` (${packages[at + 1]} ${other})`).join("");

/** Read one turn; `failure` is what the library reported in place of an exception. */
async function readTurn(test, turn) {
  try {
    await drive({ ...test, ...(test.type === "timed_case" && leaving(test)) }, turn);
  } finally {
    if (turn.failure !== undefined) turn.error = failureOf(turn.failure, true);
    delete turn.failure;
  }
  return turn;
}

await runClient({ name, version: version + rest, ...declared }, readTurn, isDocumented);
