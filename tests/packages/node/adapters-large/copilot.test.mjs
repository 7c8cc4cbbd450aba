// The adapter for the Copilot SDK: the real runtime, with a scripted model behind the request handler of the SDK.

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test as nodeTest } from "node:test";
import { approveAll, CopilotClient, CopilotRequestHandler } from "@github/copilot-sdk";
import { toolcellPermissions, toolcellTools } from "toolcell/copilot";
import { openBox, replaceLater, run, schemaOf, timeAbort } from "../adapters/box.mjs";

const test = (name, act) => nodeTest(name, { timeout: 120_000 }, act);
const LATER = ["run_dynamic_tool", run("later", { ms: 1 })];

/** A model that calls tools, step by step, and then says "done". Nothing leaves the process. */
class ScriptedModel extends CopilotRequestHandler {
  requests = [];
  script = [];

  async sendRequest(request) {
    if (!new URL(request.url).pathname.endsWith("chat/completions")) return new Response("{}", { status: 404 });
    const body = await request.json();
    this.requests.push(body);
    const step = this.script.shift();
    const tool_calls = step?.map(([name, args], index) => ({
      index,
      id: `call_${String(this.requests.length).padStart(3, "0")}_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    const message = { role: "assistant", content: step ? null : "done", ...(step && { tool_calls }) };
    const choices = [{ index: 0, message, finish_reason: step ? "tool_calls" : "stop" }];
    return Response.json({ id: "x", object: "chat.completion", created: 1, model: body.model, choices, usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } });
  }
}

let box;
let client;
const model = new ScriptedModel();
before(async () => {
  box = await openBox();
  const folder = mkdtempSync(join(tmpdir(), "toolcell-"));
  const { PATH, LANG } = process.env;
  client = new CopilotClient({ requestHandler: model, logLevel: "error", workingDirectory: folder, env: { PATH, LANG, HOME: folder, TMPDIR: tmpdir() } });
  await client.start();
});
after(async () => {
  await client.stop();
  await box.close();
});

/** Starts a session with these tools. */
const createSession = (tools, onPermissionRequest = toolcellPermissions(tools, () => ({ kind: "reject" }))) =>
  client.createSession({ model: "scripted", provider: { type: "openai", baseUrl: "http://127.0.0.1:9/v1", apiKey: "none" }, tools, onPermissionRequest });

/** Runs a session, and returns what the model reads of its tools, and how their calls ended. */
async function runSession(tools, script, onPermissionRequest) {
  model.script = script;
  const session = await createSession(tools, onPermissionRequest);
  const ends = [];
  session.on((event) => event.type === "tool.execution_complete" && ends.push(event.data));
  await session.sendAndWait({ prompt: "go" }, 60_000);
  await session.disconnect();
  // The calls of a step end in any order.
  const byCall = (one, other) => one.toolCallId.localeCompare(other.toolCallId);
  const messages = model.requests.at(-1).messages.filter((message) => message.role === "tool");
  const read = messages.map((message) => ({ toolCallId: message.tool_call_id, ...message })).sort(byCall);
  return { read: read.map((message) => message.content), ends: ends.sort(byCall) };
}

test("the model is offered the operations and the approved tools, with their schemas", async () => {
  const tools = await toolcellTools(box);
  await runSession(tools, []);
  const offered = model.requests.at(-1).tools.map((tool) => tool.function);
  assert.ok(["create_tool", "run_dynamic_tool", "run_code", "toolcell__twice"].every((name) => offered.some((tool) => tool.name === name)));
  const schema = await schemaOf(box, "toolcell__twice");
  assert.deepEqual(tools.find((tool) => tool.name === "toolcell__twice").parameters, schema);
  // The runtime puts into the description what the interface of the model does not have.
  const { minimum, ...n } = schema.properties.n;
  n.description += `\n\n{minimum: ${minimum}}`;
  assert.deepEqual(offered.find((tool) => tool.name === "toolcell__twice").parameters, { ...schema, properties: { n } });
});

test("a run succeeds, and one that throws is an error for the model", async () => {
  const script = [[["toolcell__twice", { n: 21 }], ["run_dynamic_tool", run("fails")], ["run_dynamic_tool", run("picture")]]];
  const { read, ends } = await runSession(await toolcellTools(box), script);
  assert.equal(read[0], "42");
  assert.match(read[1], /RangeError: out of tea/);
  assert.deepEqual(ends.map((end) => end.success), [true, false, true]);
  assert.equal(ends[1].error.message, "tool-failed");
  assert.deepEqual(ends[2].result.binaryResultsForLlm.map((image) => image.mimeType), ["image/png"]);
});

test("a run that needs an approval is a permission request, and runs when it is granted", async () => {
  for (const kind of ["approve-once", "approve-for-session"]) {
    const asked = [];
    const tools = await toolcellTools(box);
    const permissions = toolcellPermissions(tools, (...given) => (asked.push(given), { kind }));
    const { read } = await runSession(tools, [[LATER], [LATER], [["toolcell__twice", { n: 1 }]]], permissions);
    assert.deepEqual(read, ["late", "late", "2"]);
    assert.equal(asked.length, 2);
    const [request, , approval] = asked[0];
    assert.deepEqual([request.kind, request.toolName, request.args], ["custom-tool", ...LATER]);
    assert.match(approval.text, /`later`[^]*timers[^]*setTimeout/);
  }
});

test("a refused run does not take place", async () => {
  const tools = await toolcellTools(box);
  const { read } = await runSession(tools, [[LATER]], toolcellPermissions(tools, () => ({ kind: "reject", feedback: "ask Ann" })));
  assert.match(read[0], /ask Ann/);
});

test("other permission requests are those of the handler", async () => {
  const asked = [];
  const permissions = toolcellPermissions(await toolcellTools(box), (request, invocation, approval) => (asked.push([request.kind, approval]), { kind: "reject" }));
  await runSession(await toolcellTools(box), [[["bash", { command: "touch made", description: "x" }]]], permissions);
  assert.deepEqual(asked, [["shell", undefined]]);
});

test("a policy that demands a person is the handler's", async () => {
  const request = { kind: "custom-tool", toolName: "toolcell__twice", args: { n: 1 }, toolCallId: "1" };
  const permissions = toolcellPermissions(await toolcellTools(box), () => ({ kind: "reject" }));
  assert.deepEqual(await permissions(request, {}), { kind: "approve-once" });
  assert.deepEqual(await permissions({ ...request, managedApprovalRequired: true }, {}), { kind: "reject" });
});

test("a yes is for what was shown: a tool that was replaced in between is refused", async () => {
  const box = await openBox();
  const tools = await toolcellTools(box);
  const permissions = toolcellPermissions(tools, async () => (await replaceLater(box), { kind: "approve-once" }));
  const { read } = await runSession(tools, [[LATER]], permissions);
  assert.match(read[0], /approved something else/);
  await box.close();
});

test("a yes without the questions is none", async () => {
  const { read } = await runSession(await toolcellTools(box), [[LATER]], approveAll);
  assert.match(read[0], /is not approved/);
});

test("an abort ends an endless loop", async (context) => {
  const tools = await toolcellTools(box, { limits: { timeoutMs: 20_000 } });
  model.script = [[["run_dynamic_tool", run("spin", { n: 1 })]]];
  const session = await createSession(tools);
  const times = await timeAbort(box, (signal) => {
    signal.addEventListener("abort", () => session.abort());
    return session.sendAndWait({ prompt: "go" }, 60_000);
  });
  context.diagnostic(`after the abort: the session ended in ${times.ended.toFixed(0)} ms, the slot was free in ${times.free.toFixed(0)} ms`);
  assert.ok(times.free < 1000);
  await session.disconnect();
});
