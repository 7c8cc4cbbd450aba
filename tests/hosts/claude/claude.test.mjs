// Toolcell in Claude Code: the hook and the server that `toolcell adapter claude` writes, in the real program, with a scripted model.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test as nodeTest } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Home } from "../home.mjs";
import { startModel } from "./model.mjs";

const require = createRequire(join(process.env.HOST_PACKAGES, "package.json"));
const { query } = await import(pathToFileURL(require.resolve("@anthropic-ai/claude-agent-sdk")));

const test = (name, act) => nodeTest(name, { timeout: 180_000 }, act);
const bash = (command) => ({ calls: [["Bash", { command, description: "x" }]] });

/** Runs a session in a project, and returns the results of its tools: whether they failed, and the text. */
async function runClaude(place, script, canUseTool) {
  const model = await startModel(script);
  const env = {
    ...place.env,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
  };
  const { mcpServers } = JSON.parse(readFileSync(place.path(".mcp.json"), "utf8"));
  const options = { model: "scripted", settingSources: ["project"], env, cwd: place.folder, maxTurns: 20, mcpServers, strictMcpConfig: true, canUseTool };
  const results = [];
  for await (const message of query({ prompt: "go", options })) {
    if (message.type !== "user" || !Array.isArray(message.message.content)) continue;
    for (const block of message.message.content) {
      if (block.type !== "tool_result") continue;
      const text = typeof block.content === "string" ? block.content : (block.content ?? []).map((one) => one.text ?? `[${one.type} ${one.source?.media_type}]`).join("");
      results.push(`${block.is_error ? "failed" : "done"}: ${text}`);
    }
  }
  model.close();
  return results;
}

const RULES = `
[external_tools]
[[external_tools.rules]]
tools = ["mcp__toolcell__*"]
decision = "allow"
[[external_tools.rules]]
tools = ["bash"]
args = { command = ["rm *"] }
decision = "deny"
reason = "use the trash"
[[external_tools.rules]]
tools = ["bash"]
args = { command = ["echo *"] }
decision = "allow"
[[hooks]]
name = "house"
tool = "house"
tools = ["bash"]
`;
const HOUSE = `const execute = ({ toolArgs }) => {
  if (toolArgs.command === "echo hello") return { modifiedArgs: { ...toolArgs, command: "echo changed" } };
  if (toolArgs.command === "echo throw") throw new Error("house on fire");
};`;

test("the hook decides about the tools of Claude Code, and the server has Toolcell's", async (context) => {
  const place = new Home(context, { policy: RULES, adapter: ["claude", "--gate"] });
  place.create("house", HOUSE);
  place.run("approvals", "grant", "house", "--yes");
  place.create("words", "const execute = ({ text }) => text.split(' ').length;");
  const run = { calls: [["mcp__toolcell__run_dynamic_tool", { tool_name: "words", parameters: { text: "a b c" } }]] };
  const results = await runClaude(place, [...["echo hello", "rm -r .", "echo throw"].map(bash), run]);
  assert.match(results[0], /^done: changed/);
  assert.match(results[1], /^failed: .*use the trash/s);
  assert.match(results[2], /^failed: .*the hook `house` failed: Error: house on fire/s);
  assert.match(results[3], /^done: .*3/s);
  const lines = place.audit("--action", "decide");
  assert.deepEqual(lines.map((line) => line.details.outcome), ["allow", "deny", "deny", "allow"]);
  assert.ok(lines.every((line) => /^claude session=\S+ call=\S+/.test(line.details.caller)), JSON.stringify(lines[0]));
});

test("an image of a custom tool is one for the model", async (context) => {
  const place = new Home(context, { policy: RULES, adapter: ["claude"] });
  place.run("adopt", fileURLToPath(new URL("../../../fixtures/custom_tools/picture.ts", import.meta.url)));
  const run = { calls: [["mcp__toolcell__run_dynamic_tool", { tool_name: "picture", parameters: {} }]] };
  const [result] = await runClaude(place, [run], async (_, input) => ({ behavior: "allow", updatedInput: input }));
  assert.match(result, /^done: .*\[image image\/gif\]/s);
});

test("the hook denies what it cannot decide about", async (context) => {
  const place = new Home(context, { policy: "[external_tool]\n", adapter: ["claude", "--gate"] });
  const [result] = await runClaude(place, [bash("echo hello")]);
  assert.match(result, /^failed: .*Toolcell cannot decide: .*external_tools/s);
});

test("a hook that cannot be started denies", async (context) => {
  const place = new Home(context, { policy: RULES, adapter: ["claude", "--gate"] });
  const settings = place.path(".claude/settings.json");
  writeFileSync(settings, readFileSync(settings, "utf8").replace(/"command": "\S+ decide/, '"command": "/no/such/toolcell decide'));
  const [result] = await runClaude(place, [bash("echo hello")]);
  assert.match(result, /^failed: .*no\/such\/toolcell/s);
});
