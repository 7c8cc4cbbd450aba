// A recorder between a client and a server over standard streams: `node recorder.mjs LOG COMMAND ARGUMENT...`. It starts the
// server, passes on what both say, and appends a line of JSON to the log for each message, and for its process ids.
//
// Invariant: what passes is not changed, and a message is in the log before it is passed on.

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

/** The time that a server has to end after its input, in milliseconds. */
const GRACE = 2_000;

const [log, command, ...args] = process.argv.slice(2);
const note = (entry) => appendFileSync(log, `${JSON.stringify(entry)}\n`);

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
note({ pids: [process.pid, child.pid] });
pass("sent", process.stdin, child.stdin);
pass("received", child.stdout, process.stdout);
// A server that does not end with its input is ended: the client may be gone.
process.stdin.once("end", () => setTimeout(() => child.kill("SIGKILL"), GRACE).unref());
child.once("error", (error) => fail(error.message));
child.once("close", (status) => process.exit(status ?? 1));

function pass(side, from, to) {
  let rest = "";
  from.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim()) note({ [side]: parsed(line) });
    to.write(text);
  });
  from.on("end", () => to.end());
  // The other side is gone: the end of the server, or a signal, ends this program.
  to.on("error", () => {});
}

/** A line that is no message is a fault of the server, and the log says so. */
function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { invalid: line };
  }
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
