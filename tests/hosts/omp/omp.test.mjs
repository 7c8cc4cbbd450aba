// Toolcell in oh-my-pi, and tools of oh-my-pi in Toolcell: the same calls in both.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test as nodeTest } from "node:test";
import { fileURLToPath } from "node:url";
import { Home } from "../home.mjs";
import { runPi, toolEvents } from "../pi/session.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const fixtures = join(here, "../../../fixtures/custom_tools");
const packages = process.env.HOST_PACKAGES;
const host = join(packages, "node_modules/@oh-my-pi/pi-coding-agent");
const { version } = JSON.parse(readFileSync(join(host, "package.json"), "utf8"));
/** The older version stands for its forks, of which only the loader of custom tools is tested. */
const isNew = Number(version.split(".")[0]) >= 18;
const test = (name, act) => nodeTest(name, { timeout: 180_000 }, act);
const testNew = (name, act) => nodeTest(name, { timeout: 180_000, skip: !isNew && "only the loader is tested in this version" }, act);

const run = (tool_name, parameters) => ["run_dynamic_tool", { tool_name, parameters }];
const STEPS = readFileSync(join(fixtures, "progress.ts"), "utf8");
const SPIN = "const execute = ({ n }) => { let i = n; while (i >= 0) i = (i + 1) % 7; return 'no spin'; };";

/** Loads the tools of a home, and runs calls. Returns what was loaded, and the results. */
function load(home, request) {
  const bun = join(packages, "node_modules/@oven/bun-linux-x64/bin/bun");
  const env = { ...home.env, HOST_PACKAGES: packages };
  const done = spawnSync(bun, [join(here, "load.ts")], { cwd: home.folder, env, input: JSON.stringify(request), encoding: "utf8" });
  const lines = done.stdout.split("\n").filter((line) => line.startsWith("{"));
  if (lines.length === 0) throw new Error(`${done.status}: ${done.stdout}${done.stderr}`);
  const [loaded, ...results] = lines.map((line) => JSON.parse(line));
  return { loaded, results };
}

test("the folder of custom tools has the operations, whatever its neighbours are", (context) => {
  const home = new Home(context, { adapter: ["omp-tools"] });
  home.create("progress", STEPS);
  home.create("spin", SPIN);
  home.create("twice", "const execute = ({ n }) => 2 * n");
  home.run("approvals", "grant", "twice", "--yes");
  writeFileSync(home.path(".omp/tools/broken.ts"), "export default (pi) => {");
  const { loaded, results } = load(home, {
    builtIn: ["read", "bash"],
    calls: [
      run("progress", { n: 2 }),
      run("nothing", {}),
      ["toolcell__twice", { n: 21 }],
      ["create_tool", { name: "words", description: "Counts", code: "export const execute = ({ text }) => text.split(' ').length" }],
      run("words", { text: "to be or" }),
      run("twice", { n: 1 }),
      [...run("spin", { n: 1 }), 300],
    ],
  });
  assert.deepEqual(loaded.errors.map((error) => error.file), ["broken.ts"]);
  const names = loaded.tools.map((tool) => tool.name);
  for (const name of ["create_tool", "run_dynamic_tool", "list_dynamic_tools", "delete_dynamic_tool", "tool_reflection", "toolcell__twice"]) {
    assert.ok(names.includes(name), name);
  }
  const shown = results.map(({ name, isError, content }) => `${name} ${isError ? "failed" : "done"}: ${content[0].text.split("\n")[0]}`);
  assert.deepEqual(shown, [
    "run_dynamic_tool done: 2 steps, idle",
    "run_dynamic_tool failed: error: tool not found: there is no tool `nothing`",
    "toolcell__twice done: 42",
    "create_tool done: Created the tool `words`.",
    "run_dynamic_tool done: 3",
    "run_dynamic_tool done: 2",
    "run_dynamic_tool failed: the call was aborted",
  ]);
  assert.deepEqual(results[0].updates.map((update) => update.content[0].text), ["step 1", "step 2"]);
  context.diagnostic(`aborted after 300 ms, ended after ${results[6].ms.toFixed(0)} ms`);
  const runs = home.audit("--action", "run_dynamic_tool");
  // One of them named no tool.
  assert.deepEqual(runs.map((line) => line.error ?? "done"), ["done", "tool-not-found", "done", "done", "done", "cancelled"]);
  assert.ok(runs.every((line) => line.details.caller.startsWith("mcp client=omp-tools")), JSON.stringify(runs[0]));
  assert.deepEqual(home.processes(), []);
});

testNew("a session has the operations, partial results and failures of the extension", async (context) => {
  const home = new Home(context, { adapter: ["omp", "--user"] });
  home.create("progress", STEPS);
  const { events } = await runPi(home, [{ calls: [run("progress", { n: 2 })] }, { calls: [run("nothing", {})] }]);
  assert.deepEqual(toolEvents(events).map((line) => line.split("\n")[0]), [
    'START  run_dynamic_tool {"tool_name":"progress","parameters":{"n":2}}',
    "UPDATE run_dynamic_tool step 1",
    "UPDATE run_dynamic_tool step 2",
    "END    run_dynamic_tool isError=false 2 steps, idle",
    'START  run_dynamic_tool {"tool_name":"nothing","parameters":{}}',
    "END    run_dynamic_tool isError=true error: tool not found: there is no tool `nothing` | code: tool-not-found",
  ]);
  assert.ok(home.audit("--action", "run_dynamic_tool").every((line) => line.details.caller.startsWith("mcp client=omp ")));
  assert.deepEqual(home.processes(), []);
});

testNew("a person approves, and decides about each command of a tool", async (context) => {
  const policy = "[grants.tools.repository]\ntools = ['pi_exec']\n";
  for (const [approves, expected] of [
    [true, "END    run_dynamic_tool isError=false 2 files"],
    [false, "END    run_dynamic_tool isError=true The tool `repository` failed."],
  ]) {
    const home = new Home(context, { policy, adapter: ["omp", "--user"] });
    home.run("adopt", join(fixtures, "repository.ts"));
    home.run("approvals", "grant", "repository", "--yes");
    // oh-my-pi works in another folder where it is started in the home directory.
    const cwd = home.path("project");
    mkdirSync(cwd);
    for (const name of ["a.ts", "b.ts"]) writeFileSync(join(cwd, name), "");
    for (const words of [["init", "-q"], ["add", "."]]) spawnSync("git", words, { cwd });
    const asked = [];
    const dialogue = (event) => {
      if (event.method !== "confirm") return undefined;
      asked.push(event);
      return { confirmed: approves };
    };
    const { events } = await runPi(home, [{ calls: [run("repository", {})] }], { dialogue, cwd });
    assert.equal(toolEvents(events).at(-1).split("\n")[0], expected, toolEvents(events).join("\n"));
    assert.equal(asked.length, 1);
    assert.match(asked[0].message, /^git ls-files "\*\.ts"\nin \//);
    assert.deepEqual(home.processes(), []);
  }
});

/** What makes no difference to a model. */
function normalized(schema) {
  if (Array.isArray(schema)) return schema.map(normalized);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key]) => !["$schema", "additionalProperties", "title"].includes(key));
  return Object.fromEntries(kept.sort().map(([key, value]) => [key, key === "required" ? [...value].sort() : normalized(value)]));
}

/** The tools that the server offers, by name. */
async function offered(home) {
  const server = spawn(home.toolcell, ["mcp", "--publish", "32"], { cwd: home.folder, env: home.env, stdio: ["pipe", "pipe", "ignore"] });
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } });
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/list", params: {} });
  for await (const line of createInterface({ input: server.stdout })) {
    const message = JSON.parse(line);
    if (message.id !== 2) continue;
    server.stdin.end();
    return new Map(message.result.tools.map((tool) => [tool.name.replace("toolcell__", ""), tool]));
  }
}

testNew("a custom tool gives the same content, failure and schema in both", async (context) => {
  const home = new Home(context, { adapter: ["omp-tools"] });
  // The tools of the fixtures alone.
  home.run("adapter", "omp-tools", "--remove");
  const files = readdirSync(fixtures).filter((file) => file !== "repository.ts");
  for (const file of files) home.run("adopt", join(fixtures, file));
  const upstream = join(host, "examples/custom-tools/hello/index.ts");
  assert.ok(existsSync(upstream));
  home.run("adopt", upstream);
  mkdirSync(home.path(".omp/tools/hello"), { recursive: true });
  cpSync(upstream, home.path(".omp/tools/hello/index.ts"));
  // A tool that imports a builder finds it where its host is installed.
  for (const file of files) {
    const text = readFileSync(join(fixtures, file), "utf8");
    const zod = `${packages}/node_modules/@oh-my-pi/omptype/dist/js/zod.js`;
    const typebox = `${packages}/node_modules/@oh-my-pi/omptype/dist/js/typebox.js`;
    const target = file === "extension.ts" ? "extension.ts" : `.omp/tools/${file}`;
    writeFileSync(home.path(target), text.replace('from "zod"', `from "${zod}"`).replace('from "typebox"', `from "${typebox}"`));
  }
  const calls = [
    ["hello", { name: "Ada" }],
    ["zod_greeting", { name: "Ada" }],
    ["zod_greeting", { name: "Ada", style: "loud", times: 2 }],
    ["zod_import", { from: 1, to: 3 }],
    ["arktype_sum", { numbers: [1, 2] }],
    ["arktype_sum", { numbers: [], label: "none" }],
    ["typebox_area", { width: 2, height: 3 }],
    ["typebox_import", { text: "abc", upper: true }],
    ["json_schema", { words: ["a", "b"], separator: "-" }],
    ["twice", { n: 4 }],
    ["square", { n: 4 }],
    ["promised", {}],
    ["reports_error", { dividend: 4, divisor: 2 }],
    ["reports_error", { dividend: 4, divisor: 0 }],
    ["throws", { message: "oh" }],
    ["progress", { n: 2 }],
    ["picture", {}],
    ["extension", { text: "hi" }],
  ];
  const { loaded, results } = load(home, { extensions: [home.path("extension.ts")], calls });
  assert.deepEqual(loaded.errors, []);
  for (const { name } of loaded.tools) home.run("approvals", "grant", name, "--yes");
  const ours = await offered(home);
  assert.equal(loaded.tools.length, files.length + 2, "two tools in one file, and the upstream's example");
  for (const { name, description, schema } of loaded.tools) {
    assert.ok(ours.get(name).description.startsWith(`${description} (approved tool`), name);
    assert.deepEqual(normalized(ours.get(name).inputSchema), normalized(schema), name);
  }
  for (const [index, [name, args]] of calls.entries()) {
    const done = spawnSync(home.toolcell, ["run", name, JSON.stringify(args), "--json"], { cwd: home.folder, env: home.env, encoding: "utf8" });
    const ran = JSON.parse(done.stdout);
    const { content, isError, details } = results[index];
    assert.equal(ran.outcome !== "returned", isError, `${name} ${JSON.stringify(args)}: ${done.stdout}`);
    if (isError) assert.equal(ran.error.message, content[0].text, name);
    else assert.deepEqual([ran.value.content, ran.value.details], [content, details], name);
  }
  context.diagnostic(`${loaded.tools.length} tools, ${calls.length} calls`);
});
