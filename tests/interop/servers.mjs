// Servers that are started for a check, each with a home of its own, and other programs that end by themselves.
//
// Invariant: what is started here is stopped by its process id, also where this process is told to end.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long a server may take to start, or to stop when it is asked to, in milliseconds. */
const PATIENCE = 20_000;
/** How long another program may take, in milliseconds. */
const LONGEST = 180_000;

/** Everything has to be approved, and what asks for timers gets them. */
const POLICY = `
[approval]
mode = "ask"

[grants.default]
timers = true
`;

const running = new Set();
const homes = new Set();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

/** A home with a policy and an empty store: where it is, and the environment that leads there. */
export function newHome(policy = POLICY) {
  const home = mkdtempSync(join(tmpdir(), "toolcell-peers-"));
  homes.add(home);
  const config = join(home, "config");
  mkdirSync(join(config, "toolcell"), { recursive: true });
  const env = {
    HOME: home,
    PATH: process.env.PATH,
    TOOLCELL_DIR: join(home, "store"),
    TOOLCELL_LANG: "en",
    XDG_CONFIG_HOME: config,
  };
  setPolicy({ env }, policy);
  return { home, env };
}

/** Replaces the policy of a home. */
export function setPolicy({ env }, policy) {
  writeFileSync(join(env.XDG_CONFIG_HOME, "toolcell", "toolcell.toml"), policy);
}

/** Starts a server that says on standard error where it listens: `{ url, stop }`. */
export async function startHttp(command, args, { home, env }) {
  const child = begin(command, args, { cwd: home, env, stdio: ["ignore", "inherit", "pipe"] });
  const ended = over(child);
  let said = "";
  child.stderr.setEncoding("utf8");
  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${command} does not say where it listens: ${said}`)), PATIENCE);
    child.stderr.on("data", (text) => {
      said += text;
      const found = /listening on (http:\/\/\S+)\s*\n/.exec(said);
      if (found) {
        clearTimeout(late);
        resolve(found[1]);
      }
    });
    ended.then(() => reject(new Error(`${command} ended: ${said}`)));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const forced = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    const { status, signal } = await ended;
    clearTimeout(forced);
    return { status, signal, said };
  };
  return { url, stop };
}

/** Runs a program to its end: `{ status, signal, output, errors }`. `line` hears each line of the output. */
export async function run(command, args, { home, env, line }) {
  const child = begin(command, args, { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = over(child);
  let [output, errors, rest] = ["", "", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const whole of lines) line?.(whole);
  });
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  const late = setTimeout(() => child.kill("SIGKILL"), LONGEST);
  const { status, signal } = await ended;
  clearTimeout(late);
  return { status, signal, output, errors };
}

function begin(command, args, options) {
  const child = spawn(command, args, options);
  running.add(child);
  return child;
}

function over(child) {
  return new Promise((resolve) => {
    const end = (status, signal) => {
      running.delete(child);
      resolve({ status, signal });
    };
    child.once("close", end);
    child.once("error", (error) => end(-1, error.message));
  });
}
