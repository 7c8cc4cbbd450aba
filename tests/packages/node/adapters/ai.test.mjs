// The adapter for the AI SDK: the real SDK, with a scripted model.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { toolcellApproval, toolcellTools } from "toolcell/ai";
import { openBox, replaceLater, run, schemaOf, timeAbort } from "./box.mjs";

let box;
before(async () => (box = await openBox()));
after(() => box.close());

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const LATER = [["run_dynamic_tool", run("later", { ms: 1 })]];
let calls = 0;

/** A model that calls tools, step by step, and then says "done". */
function scriptedModel(...script) {
  const next = () => {
    const step = script.shift() ?? [];
    const content = step.map(([toolName, input]) => ({ type: "tool-call", toolCallId: `call_${calls++}`, toolName, input: JSON.stringify(input) }));
    return { content, finishReason: { unified: content.length > 0 ? "tool-calls" : "stop", raw: undefined }, usage };
  };
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const { content, ...end } = next();
      return { content: content.length > 0 ? content : [{ type: "text", text: "done" }], ...end, warnings: [] };
    },
    doStream: async () => {
      const { content, ...end } = next();
      return { stream: simulateReadableStream({ chunks: [{ type: "stream-start", warnings: [] }, ...content, { type: "finish", ...end }] }) };
    },
  });
}

/** What the model read in its last request of the tools. */
const readBy = (model) =>
  model.doGenerateCalls.at(-1).prompt.filter((message) => message.role === "tool").flatMap((message) => message.content.map((part) => part.output));

const generate = (model, tools, more) => generateText({ model, tools, prompt: "go", stopWhen: isStepCount(5), ...more });

/** Asks about a call of `later`, changes the world, answers, and returns what the model reads. */
async function askAndAnswer(tools, approved, { between = () => {}, resumeWith = tools, ...more } = {}) {
  const model = scriptedModel(LATER);
  const asked = await generate(model, tools, more);
  const request = asked.content.find((part) => part.type === "tool-approval-request");
  await between(request);
  const answer = { type: "tool-approval-response", approvalId: request.approvalId, approved, reason: approved ? undefined : "ask Ann" };
  const messages = [{ role: "user", content: "go" }, ...asked.response.messages, { role: "tool", content: [answer] }];
  await generate(model, resumeWith, { ...more, prompt: undefined, messages });
  return { request, read: readBy(model).at(-1) };
}

test("the model is offered the operations and the approved tools, with their schemas", async () => {
  const model = scriptedModel();
  await generate(model, await toolcellTools(box));
  const offered = model.doGenerateCalls[0].tools;
  assert.ok(["create_tool", "run_dynamic_tool", "run_code", "toolcell__twice"].every((name) => offered.some((tool) => tool.name === name)));
  const twice = offered.find((tool) => tool.name === "toolcell__twice");
  assert.deepEqual(twice.inputSchema, await schemaOf(box, "toolcell__twice"));
  assert.match(twice.description, /^Doubles a number/);
  assert.deepEqual(Object.keys(await toolcellTools(box, { operations: ["run_code"], published: 0 })), ["run_code"]);
  await assert.rejects(toolcellTools(box, { publish: 1 }), /no option `publish`/);
});

test("a run succeeds, and one that throws is an error for the model", async () => {
  const model = scriptedModel([["toolcell__twice", { n: 21 }], ["run_dynamic_tool", run("fails")], ["run_dynamic_tool", run("picture")]]);
  const result = await generate(model, await toolcellTools(box));
  const [twice, fails, picture] = readBy(model);
  assert.deepEqual(twice, { type: "text", value: "42" });
  assert.equal(fails.type, "error-text");
  assert.match(fails.value, /RangeError: out of tea/);
  assert.deepEqual(picture.value.map((part) => [part.type, part.mediaType]), [["text", undefined], ["file", "image/png"]]);
  const outputs = result.steps[0].content.filter((part) => part.type === "tool-result").map((part) => part.output);
  assert.deepEqual(outputs.map((output) => output.isError), [false, true, false]);
  assert.deepEqual(outputs[0].structured, { value: 42 });
});

test("partial results are preliminary results", async () => {
  const stream = streamText({ model: scriptedModel([["run_dynamic_tool", run("steps", { n: 3 })]]), tools: await toolcellTools(box), prompt: "go" });
  const results = [];
  for await (const part of stream.fullStream) if (part.type === "tool-result") results.push(part);
  assert.deepEqual(results.filter((part) => part.preliminary).map((part) => part.output.update).slice(0, 3), [0, 1, 2]);
  assert.equal(results.at(-1).output.text, "3");
  assert.ok(!results.at(-1).preliminary);
});

test("a run that needs an approval is an approval request, and runs when it is granted", async () => {
  const tools = await toolcellTools(box);
  const { request, read } = await askAndAnswer(tools, true);
  assert.deepEqual(request.toolCall.input, run("later", { ms: 1 }));
  assert.deepEqual(read, { type: "text", value: "late" });
});

test("the reason of the request is what a person is to be shown", async () => {
  const own = tool({ inputSchema: jsonSchema({ type: "object", properties: {} }), execute: () => "mine" });
  const tools = { ...(await toolcellTools(box)), own };
  const { request, read } = await askAndAnswer(tools, true, { toolApproval: toolcellApproval(tools) });
  assert.match(request.reason, /`later`[^]*timers[^]*setTimeout/);
  assert.equal(read.value, "late");
});

test("a refused run does not take place", async () => {
  const { read } = await askAndAnswer(await toolcellTools(box), false);
  assert.deepEqual(read, { type: "execution-denied", reason: "ask Ann" });
});

test("a yes is for what was shown: a tool that was replaced in between is refused", async () => {
  const box = await openBox();
  for (const toApproval of [() => undefined, toolcellApproval]) {
    const tools = await toolcellTools(box);
    const { read } = await askAndAnswer(tools, true, { between: () => replaceLater(box), toolApproval: toApproval(tools) });
    assert.equal(read.type, "error-text");
    assert.match(read.value, /approved something else/);
  }
  await box.close();
});

test("tools that are made anew for each request know what is waited for", async () => {
  const { read } = await askAndAnswer(await toolcellTools(box), true, { resumeWith: await toolcellTools(box) });
  assert.equal(read.value, "late");
});

test("another process refuses what it has not shown, and runs it with the same pending approvals", async () => {
  const { read } = await askAndAnswer(await toolcellTools(box), true, { resumeWith: await toolcellTools(box, { pending: new Map() }) });
  assert.equal(read.type, "error-text");
  assert.match(read.value, /not approved/);
  const pending = new Map();
  const stored = new Map();
  const between = () => pending.forEach((request, callId) => stored.set(callId, JSON.parse(JSON.stringify(request))));
  const more = { between, resumeWith: await toolcellTools(box, { pending: stored }) };
  assert.equal((await askAndAnswer(await toolcellTools(box, { pending }), true, more)).read.value, "late");
  assert.equal(stored.size, 0);
});

test("a yes without the questions is none", async () => {
  const model = scriptedModel(LATER);
  await generate(model, await toolcellTools(box), { toolApproval: () => "approved" });
  assert.match(readBy(model)[0].value, /is not approved/);
});

test("a yes is for one call", async () => {
  const tools = await toolcellTools(box);
  const model = scriptedModel(LATER);
  const { content, response } = await generate(model, tools);
  const { approvalId } = content.find((part) => part.type === "tool-approval-request");
  const answer = { type: "tool-approval-response", approvalId, approved: true };
  const messages = [{ role: "user", content: "go" }, ...response.messages, { role: "tool", content: [answer] }];
  for (const says of [/^late$/, /is not approved/]) {
    await generate(model, tools, { prompt: undefined, messages });
    assert.match(readBy(model).at(-1).value, says);
  }
});

test("what is asked in one conversation is not approved in another", async () => {
  const tools = await toolcellTools(box);
  await generate(scriptedModel(LATER), tools);
  calls--;
  const model = scriptedModel(LATER);
  await generate(model, tools, { toolApproval: () => "approved" });
  assert.match(readBy(model)[0].value, /is not approved/);
});

test("an abort ends an endless loop", async (context) => {
  const tools = await toolcellTools(box, { limits: { timeoutMs: 20_000 } });
  const start = (abortSignal) => generate(scriptedModel([["run_dynamic_tool", run("spin", { n: 1 })]]), tools, { abortSignal });
  const { ended, free } = await timeAbort(box, start);
  context.diagnostic(`after the abort: the call ended in ${ended.toFixed(0)} ms, its slot was free in ${free.toFixed(0)} ms`);
  assert.ok(free < 500);
});
