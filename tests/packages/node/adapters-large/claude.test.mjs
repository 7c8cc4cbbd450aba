// The adapter for the Claude Agent SDK: the real Claude Code, with a scripted model on the loopback address.

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test as nodeTest } from "node:test";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { toolcellTools } from "toolcell/claude";
import { openBox, replaceLater, run, schemaOf, timeAbort } from "../adapters/box.mjs";

const test = (name, act) => nodeTest(name, { timeout: 180_000 }, act);
const RUN = "mcp__toolcell__run_dynamic_tool";
const TWICE = "mcp__toolcell__toolcell__twice";
const OFFERED = ["mcp__toolcell__create_tool", RUN, "mcp__toolcell__run_code", TWICE];
const LATER = [RUN, run("later", { ms: 1 })];

const requests = [];
let script = [];

/** A model that calls tools, step by step, and then says "done": Anthropic messages, streamed. */
const model = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  if (!request.url.split("?")[0].endsWith("/v1/messages")) return response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens": 1}');
  const body = JSON.parse(text);
  // Requests without tools are side errands, such as titles.
  if (body.tools?.length) requests.push(body);
  const step = body.tools?.length ? script.shift() : undefined;
  const calls = step?.map(([name, input], index) => ({ type: "tool_use", id: `toolu_${requests.length}_${index}`, name, input }));
  const blocks = calls ?? [{ type: "text", text: "done" }];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg", type: "message", role: "assistant", model: body.model, content: [], stop_reason: null, stop_sequence: null, usage };
  const stop_reason = step ? "tool_use" : "end_turn";
  if (!body.stream) return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...message, content: blocks, stop_reason }));
  response.writeHead(200, { "content-type": "text/event-stream" });
  send("message_start", { message });
  for (const [index, block] of blocks.entries()) {
    const delta = step ? { type: "input_json_delta", partial_json: JSON.stringify(block.input) } : { type: "text_delta", text: block.text };
    send("content_block_start", { index, content_block: step ? { ...block, input: {} } : { ...block, text: "" } });
    send("content_block_delta", { index, delta });
    send("content_block_stop", { index });
  }
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
  send("message_stop", {});
  response.end();
});

let box;
let env;
let cwd;
before(async () => {
  box = await openBox();
  await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));
  cwd = mkdtempSync(join(tmpdir(), "toolcell-"));
  const { PATH, LANG } = process.env;
  const settings = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1" };
  env = { PATH, LANG, HOME: cwd, TMPDIR: tmpdir(), ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.address().port}`, ANTHROPIC_API_KEY: "none", ...settings };
});
after(async () => {
  model.close();
  await box.close();
});

/** Runs a query, and returns the results of its tools. */
async function runQuery(toolcell, steps, more) {
  script = steps;
  const results = [];
  const options = { model: "scripted", settingSources: [], strictMcpConfig: true, env, cwd, maxTurns: 20, ...toolcell, ...more };
  for await (const message of query({ prompt: "go", options })) {
    if (message.type !== "user" || !Array.isArray(message.message.content)) continue;
    for (const { type, is_error, content } of message.message.content) if (type === "tool_result") results.push({ isError: is_error ?? false, content });
  }
  return results;
}

const textOf = ({ content }) => (typeof content === "string" ? content : content.filter((block) => block.type === "text").map((block) => block.text).join(""));

test("the model is offered the operations and the approved tools, with their schemas", async () => {
  await runQuery(await toolcellTools(box), [], { env: { ...env, ENABLE_TOOL_SEARCH: "false" } });
  const offered = requests.at(-1).tools;
  assert.ok(OFFERED.every((name) => offered.some((tool) => tool.name === name)), offered.map((tool) => tool.name).join(" "));
  assert.deepEqual(offered.find((tool) => tool.name === TWICE).input_schema, await schemaOf(box, "toolcell__twice"));
});

test("the operations are offered from the start, and the approved tools are found by the search for tools", async () => {
  await runQuery(await toolcellTools(box), []);
  const offered = requests.at(-1).tools.map((tool) => tool.name);
  assert.deepEqual(OFFERED.filter((name) => !offered.includes(name)), [TWICE]);
});

test("a run succeeds, and one that throws is an error for the model", async () => {
  const step = [[TWICE, { n: 21 }], [RUN, run("fails")], [RUN, run("picture")]];
  const results = await runQuery(await toolcellTools(box), step.map((call) => [call]));
  assert.deepEqual(results.map((result) => result.isError), [false, true, false]);
  assert.equal(textOf(results[0]), "42");
  assert.match(textOf(results[1]), /RangeError: out of tea/);
  assert.deepEqual(results[2].content.slice(0, 2).map((block) => block.type), ["text", "image"]);
});

test("a run that needs an approval is asked about by canUseTool, and runs when it is granted", async () => {
  const asked = [];
  const canUseTool = async (name, input, options, approval) => (asked.push([name, input, options.decisionReason, approval]), { behavior: "allow", updatedInput: input });
  const toolcell = await toolcellTools(box, { canUseTool });
  const results = await runQuery(toolcell, [[LATER], [LATER], [[TWICE, { n: 1 }]]]);
  assert.deepEqual(results.map(textOf), ["late", "late", "2"]);
  assert.equal(asked.length, 2);
  const [name, input, reason, approval] = asked[0];
  assert.deepEqual([name, input], LATER);
  assert.match(reason, /`later`[^]*timers[^]*setTimeout/);
  assert.equal(approval.text, reason);
});

test("a refused run does not take place", async () => {
  const canUseTool = async () => ({ behavior: "deny", message: "ask Ann" });
  const [result] = await runQuery(await toolcellTools(box, { canUseTool }), [[LATER]]);
  assert.ok(result.isError);
  assert.match(textOf(result), /ask Ann/);
});

test("the tools of others are those of the host", async () => {
  const asked = [];
  const canUseTool = async (name, input, options, approval) => (asked.push([name, approval]), { behavior: "deny", message: "no" });
  await runQuery(await toolcellTools(box, { canUseTool }), [[["Bash", { command: "touch made", description: "x" }]]]);
  assert.deepEqual(asked, [["Bash", undefined]]);
});

test("a rule that demands a person, and a server of another source, are the host's", async () => {
  const no = { behavior: "deny", message: "no" };
  const { canUseTool } = await toolcellTools(box, { canUseTool: async () => no });
  const ask = (more) => canUseTool(TWICE, { n: 1 }, { toolUseID: "1", ...more });
  assert.equal((await ask({ mcpServer: { name: "toolcell", source: "sdk" } })).behavior, "allow");
  assert.deepEqual(await ask({ matchedAskRule: { source: "userSettings", toolName: TWICE } }), no);
  assert.deepEqual(await ask({ mcpServer: { name: "toolcell", source: "project" } }), no);
});

test("a yes is for what was shown: a tool that was replaced in between is refused", async () => {
  const box = await openBox();
  const canUseTool = async (name, input) => (await replaceLater(box), { behavior: "allow", updatedInput: input });
  const [result] = await runQuery(await toolcellTools(box, { canUseTool }), [[LATER]]);
  assert.ok(result.isError);
  assert.match(textOf(result), /approved something else/);
  await box.close();
});

test("a yes without the questions is none", async () => {
  const canUseTool = async (name, input) => ({ behavior: "allow", updatedInput: input });
  const results = [
    await runQuery(await toolcellTools(box), [[LATER]]),
    await runQuery(await toolcellTools(box), [[LATER]], { allowedTools: [], canUseTool }),
    await runQuery(await toolcellTools(box, { canUseTool }), [[LATER]], { allowedTools: [RUN] }),
  ].flat();
  assert.ok(results.every((result) => result.isError && /is not approved/.test(textOf(result))), JSON.stringify(results));
});

test("an abort ends an endless loop", async (context) => {
  for (const isShared of [true, false]) {
    const abortController = new AbortController();
    const toolcell = await toolcellTools(box, { limits: { timeoutMs: 20_000 }, ...(isShared && { abortController }) });
    const times = await timeAbort(box, (signal) => {
      signal.addEventListener("abort", () => abortController.abort());
      return runQuery(toolcell, [[[RUN, run("spin", { n: 1 })]]], { abortController });
    });
    const which = isShared ? "the controller of the query" : "the end of the connection";
    context.diagnostic(`${which}: the query ended in ${times.ended.toFixed(0)} ms, the slot was free in ${times.free.toFixed(0)} ms`);
    assert.ok(times.free < (isShared ? 500 : 5000));
  }
});
