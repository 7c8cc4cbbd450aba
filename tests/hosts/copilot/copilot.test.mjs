// Toolcell in GitHub Copilot: the hook and the server that `toolcell adapter copilot` writes, in the real runtime, with a scripted
// model.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test as nodeTest } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Home } from "../home.mjs";

const require = createRequire(join(process.env.HOST_PACKAGES, "package.json"));
const { CopilotClient, CopilotRequestHandler, RuntimeConnection } = await import(pathToFileURL(require.resolve("@github/copilot-sdk")));

/** The command line, which starts extensions; the runtime of the SDK does not. */
const cli = ["linux-x64/copilot", "linux-x64/index.js", "npm-loader.js"].map((path) => join(process.env.HOST_PACKAGES, "node_modules/@github", path.startsWith("linux") ? `copilot-${path}` : `copilot/${path}`)).find(existsSync);
const test = (name, act) => nodeTest(name, { timeout: 120_000, skip: cli && "this is tested in the runtime of the SDK" }, act);
const testCli = (name, act) => nodeTest(name, { timeout: 120_000, skip: !cli && "this version has no command line" }, act);
const bash = (command) => ({ calls: [["bash", { command, description: "x" }]] });

/** The model behind the request handler of the SDK: nothing leaves the process. */
class ScriptedModel extends CopilotRequestHandler {
  requests = [];

  constructor(script) {
    super();
    this.script = script;
  }

  async sendRequest(request) {
    if (!new URL(request.url).pathname.endsWith("chat/completions")) return new Response("{}", { status: 404 });
    const body = await request.json();
    this.requests.push(body);
    const { text = null, calls } = this.script.shift() ?? { text: "done" };
    const tool_calls = calls?.map(([name, args], index) => ({
      index,
      id: `call_${this.requests.length}_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    const message = { role: "assistant", content: text, ...(tool_calls && { tool_calls }) };
    return Response.json({
      id: "x",
      object: "chat.completion",
      created: 1,
      model: body.model,
      choices: [{ index: 0, message, finish_reason: tool_calls ? "tool_calls" : "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  }
}

async function waitFor(condition) {
  for (let tries = 0; !condition() && tries < 200; tries++) await new Promise((resolve) => setTimeout(resolve, 100));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}

/** Runs a session in a project, and returns what the model read of its tools, and the permissions that were asked for. */
async function runCopilot(place, script, { answer = { kind: "approve-once" }, connection, extension, onStart, onEvent, more = {} } = {}) {
  const model = new ScriptedModel(script);
  const client = new CopilotClient({ requestHandler: model, logLevel: "error", env: place.env, ...(connection && { connection }) });
  await client.start();
  const asked = [];
  const session = await client.createSession({
    model: "scripted",
    provider: { type: "openai", baseUrl: "http://127.0.0.1:9/v1", apiKey: "none" },
    workingDirectory: place.folder,
    enableFileHooks: true,
    onPermissionRequest: (request) => (asked.push(request), answer),
    ...more,
  });
  // The model is asked when the extension has joined.
  if (extension) await waitFor(() => place.servers().length > 0);
  session.on((event) => event.type === "tool.execution_start" && onStart?.(session));
  session.on((event) => onEvent?.(event));
  await session.sendAndWait({ prompt: "go" }, 60_000);
  await client.stop();
  const read = model.requests.at(-1).messages.filter((message) => message.role === "tool").map((message) => message.content);
  const offered = (model.requests[0].tools ?? []).map((tool) => tool.function.name);
  return { read, asked, offered };
}

const RULES = `
[external_tools]
[[external_tools.rules]]
tools = ["bash"]
args = { command = ["rm *"] }
decision = "deny"
reason = "use the trash"
[[external_tools.rules]]
tools = ["bash"]
args = { command = ["git push*"] }
decision = "ask"
reason = "a person pushes"
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
  if (toolArgs.command === "echo hello") return { modifiedArgs: { ...toolArgs, command: "echo changed" }, additionalContext: "it was changed" };
  if (toolArgs.command === "echo throw") throw new Error("house on fire");
};`;

test("the hook decides about the shell of Copilot", async (context) => {
  const place = new Home(context, { policy: RULES, adapter: ["copilot", "--gate"] });
  place.create("house", HOUSE);
  place.run("approvals", "grant", "house", "--yes");
  const script = ["echo hello", "rm -r .", "git push", "echo throw"].map(bash);
  const { read, asked } = await runCopilot(place, script, { answer: { kind: "reject", feedback: "not now" } });
  assert.match(read[0], /changed/);
  assert.match(read[1], /use the trash/);
  assert.match(read[2], /not now/);
  assert.match(read[3], /the hook `house` failed: Error: house on fire/);
  assert.deepEqual(asked.map((request) => request.kind), ["hook"]);
  assert.match(JSON.stringify(asked[0]), /a person pushes/);
  const lines = place.audit("--action", "decide");
  assert.deepEqual(lines.map((line) => line.details.outcome), ["allow", "deny", "ask", "deny"]);
  assert.ok(lines.every((line) => /^copilot session=\S+/.test(line.details.caller)), JSON.stringify(lines[0]));
  assert.deepEqual(place.processes(), []);
});

test("the hook denies what it cannot decide about", async (context) => {
  const place = new Home(context, { policy: "[external_tool]\n", adapter: ["copilot", "--gate"] });
  const { read, asked } = await runCopilot(place, [bash("echo hello")]);
  assert.match(read[0], /Toolcell cannot decide: .*external_tools/);
  assert.deepEqual(asked, []);
});

test("twenty calls at once get twenty decisions", async (context) => {
  const slow = "[[hooks]]\nname = \"slow\"\ncommand = [\"sh\", \"-c\", \"sleep 0.2; echo not now >&2; exit 2\"]\nprotocol = \"copilot\"\n";
  const place = new Home(context, { policy: slow, adapter: ["copilot", "--gate"] });
  const calls = Array.from({ length: 20 }, (_, index) => ["bash", { command: `echo ${index}`, description: "x" }]);
  const { read } = await runCopilot(place, [{ calls }]);
  assert.equal(read.length, 20);
  assert.ok(read.every((text) => text.includes("not now")), read.find((text) => !text.includes("not now")));
  assert.equal(place.audit("--action", "decide").length, 20);
});

test("the server of the adapter has the tools", async (context) => {
  const place = new Home(context, { adapter: ["copilot"] });
  place.create("words", "const execute = ({ text }) => text.split(' ').length;");
  const { mcpServers } = JSON.parse(readFileSync(place.path(".github/mcp.json"), "utf8"));
  const { read, offered } = await runCopilot(
    place,
    [{ calls: [["toolcell-run_dynamic_tool", { tool_name: "words", parameters: { text: "a b c" } }]] }],
    { more: { mcpServers: { toolcell: { type: "stdio", tools: ["*"], ...mcpServers.toolcell } } } },
  );
  assert.ok(offered.includes("toolcell-create_tool"), offered.join(" "));
  assert.match(read[0], /^3/);
});

test("an image of a custom tool is one for the model", async (context) => {
  const place = new Home(context, { adapter: ["copilot"] });
  place.run("adopt", fileURLToPath(new URL("../../../fixtures/custom_tools/picture.ts", import.meta.url)));
  const { mcpServers } = JSON.parse(readFileSync(place.path(".github/mcp.json"), "utf8"));
  const results = [];
  await runCopilot(place, [{ calls: [["toolcell-run_dynamic_tool", { tool_name: "picture", parameters: {} }]] }], {
    onEvent: (event) => event.type === "tool.execution_complete" && results.push(event.data),
    more: { mcpServers: { toolcell: { type: "stdio", tools: ["*"], ...mcpServers.toolcell } } },
  });
  const [{ type, data, mimeType }] = results[0].result.binaryResultsForLlm;
  assert.deepEqual([results.length, type, mimeType, Buffer.from(data, "base64").subarray(0, 4).toString()], [1, "image", "image/gif", "GIF8"]);
});

testCli("the extension has the tools, and asks for an approval in a dialogue", async (context) => {
  const policy = "[grants.default]\ntimers = true\n";
  const place = new Home(context, { policy, adapter: ["copilot-extension"] });
  place.create("words", "const execute = ({ text }) => text.split(' ').length;");
  place.create("waits", "const execute = ({ ms }) => { setTimeout(() => {}, ms); return 'approved'; };");
  place.create("twice", "const execute = ({ n }) => 2 * n;");
  place.run("approvals", "grant", "twice", "--yes");
  const asked = [];
  const run = (tool_name, parameters) => ({ calls: [["run_dynamic_tool", { tool_name, parameters }]] });
  const { read, offered } = await runCopilot(
    place,
    [run("words", { text: "a b c" }), { calls: [["toolcell__twice", { n: 21 }]] }, run("waits", { ms: 1 }), run("nothing", {})],
    {
      connection: RuntimeConnection.forStdio({ path: cli }),
      extension: "toolcell",
      more: {
        requestExtensions: true,
        enableConfigDiscovery: true,
        onElicitationRequest: (request) => (asked.push(request.message), { action: "accept", content: { decision: "approve" } }),
      },
    },
  );
  assert.ok(offered.includes("create_tool") && offered.includes("toolcell__twice"), offered.join(" "));
  assert.equal(read[0], "3");
  assert.match(read[1], /^42$/);
  assert.match(read[2], /approved$/);
  assert.match(read[3], /there is no tool `nothing`/);
  assert.equal(asked.length, 1);
  assert.match(asked[0], /waits[\s\S]*timers/);
  assert.ok(place.audit("--action", "run_dynamic_tool").every((line) => /^mcp client=copilot-extension session=\S+ call=\S+/.test(line.details.caller)));
  assert.deepEqual(place.servers(), []);
});

testCli("an abort of the session ends the run, and its record says so", async (context) => {
  const place = new Home(context, { adapter: ["copilot-extension"] });
  place.create("spin", "const execute = ({ n }) => { let i = n; while (i >= 0) i = (i + 1) % 7; return 'no spin'; };");
  let aborted;
  await runCopilot(place, [{ calls: [["run_dynamic_tool", { tool_name: "spin", parameters: { n: 1 }, timeout_ms: 20_000 }]] }], {
    connection: RuntimeConnection.forStdio({ path: cli }),
    extension: "toolcell",
    onStart: (session) => setTimeout(() => ((aborted = performance.now()), session.abort()), 300),
    more: { requestExtensions: true, enableConfigDiscovery: true },
  });
  context.diagnostic(`the session ended ${(performance.now() - aborted).toFixed(0)} ms after the abort`);
  const [line] = place.audit("--action", "run_dynamic_tool");
  assert.equal(line.error, "cancelled");
  assert.deepEqual(place.servers(), []);
});
