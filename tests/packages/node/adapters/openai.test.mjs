// The adapter for the OpenAI Agents SDK: the real SDK, with a scripted model.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { Agent, Runner, RunState } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { toolcellTools } from "toolcell/openai";
import { openBox, replaceLater, run, schemaOf, timeAbort } from "./box.mjs";

let box;
before(async () => (box = await openBox()));
after(() => box.close());

const runner = new Runner({ tracingDisabled: true });
const LATER = ["run_dynamic_tool", run("later", { ms: 1 })];
let calls = 0;

/** A model that calls tools, step by step, and then says "done". */
function scriptedModel(...script) {
  const steps = script.map((step) => step.map(([name, args]) => functionCall(name, args, { callId: `call_${calls++}` })));
  return new ScriptedModel([...steps, [assistantMessage("done")]]);
}

/** What the model read in its last request of the tools. */
const readBy = (model) => model.lastCall.request.input.filter((item) => item.type === "function_call_result").map((item) => item.output);

/** Asks about a call of `later`, changes the world, answers, and returns what the model reads. */
async function askAndAnswer(tools, answer, { between = () => {}, resumeWith } = {}) {
  const model = scriptedModel([LATER]);
  let agent = new Agent({ name: "agent", model, tools });
  let { state, interruptions: [interruption] } = await runner.run(agent, "go");
  await between(interruption);
  if (resumeWith !== undefined) {
    agent = new Agent({ name: "agent", model, tools: resumeWith });
    state = await RunState.fromString(agent, state.toString());
  }
  answer(state, state.getInterruptions()[0]);
  await runner.run(agent, state);
  return { interruption, read: readBy(model).at(-1) };
}
const yes = (state, interruption) => state.approve(interruption);

test("the model is offered the operations and the approved tools, with their schemas", async () => {
  const model = scriptedModel();
  await runner.run(new Agent({ name: "agent", model, tools: await toolcellTools(box) }), "go");
  const offered = model.firstCall.request.tools;
  assert.ok(["create_tool", "run_dynamic_tool", "run_code", "toolcell__twice"].every((name) => offered.some((tool) => tool.name === name)));
  const twice = offered.find((tool) => tool.name === "toolcell__twice");
  assert.deepEqual(twice.parameters, await schemaOf(box, "toolcell__twice"));
  assert.equal(twice.strict, false);
});

test("a run succeeds, and one that throws is an error for the model", async () => {
  const model = scriptedModel([["toolcell__twice", { n: 21 }], ["run_dynamic_tool", run("fails")], ["run_dynamic_tool", run("picture")]]);
  await runner.run(new Agent({ name: "agent", model, tools: await toolcellTools(box) }), "go");
  const [twice, fails, picture] = readBy(model);
  assert.equal(twice.text, "42");
  assert.match(fails.text, /RangeError: out of tea/);
  assert.deepEqual(picture.map((part) => part.type), ["input_text", "input_image"]);
});

test("a run that needs an approval is an interruption, and runs when it is granted", async () => {
  const pending = new Map();
  const between = ({ rawItem }) => assert.match(pending.get(rawItem.callId).text, /`later`[^]*timers[^]*setTimeout/);
  const { interruption, read } = await askAndAnswer(await toolcellTools(box, { pending }), yes, { between });
  assert.deepEqual([interruption.name, JSON.parse(interruption.arguments)], LATER);
  assert.equal(read.text, "late");
  assert.equal(pending.size, 0);
});

test("a refused run does not take place", async () => {
  const no = (state, interruption) => state.reject(interruption, { message: "ask Ann" });
  assert.equal((await askAndAnswer(await toolcellTools(box), no)).read.text, "ask Ann");
});

test("a yes is for what was shown: a tool that was replaced in between is refused", async () => {
  const box = await openBox();
  const { read } = await askAndAnswer(await toolcellTools(box), yes, { between: () => replaceLater(box) });
  assert.match(read.text, /approved something else/);
  await box.close();
});

test("tools that are made anew for each request know what is waited for", async () => {
  const { read } = await askAndAnswer(await toolcellTools(box), yes, { resumeWith: await toolcellTools(box) });
  assert.equal(read.text, "late");
});

test("another process refuses what it has not shown, and runs it with the same pending approvals", async () => {
  const { read } = await askAndAnswer(await toolcellTools(box), yes, { resumeWith: await toolcellTools(box, { pending: new Map() }) });
  assert.match(read.text, /is not approved/);
  const [pending, stored] = [new Map(), new Map()];
  const between = () => pending.forEach((request, callId) => stored.set(callId, JSON.parse(JSON.stringify(request))));
  const resumeWith = await toolcellTools(box, { pending: stored });
  assert.equal((await askAndAnswer(await toolcellTools(box, { pending }), yes, { between, resumeWith })).read.text, "late");
});

test("a yes for always is for one call", async () => {
  const model = scriptedModel([LATER], [LATER]);
  const agent = new Agent({ name: "agent", model, tools: await toolcellTools(box) });
  const { state, interruptions } = await runner.run(agent, "go");
  state.approve(interruptions[0], { alwaysApprove: true });
  const { interruptions: none } = await runner.run(agent, state);
  // The SDK does not ask about the second call, so it has not been shown.
  assert.deepEqual(none, []);
  const [first, second] = readBy(model);
  assert.equal(first.text, "late");
  assert.match(second.text, /is not approved/);
});

test("an abort ends an endless loop", async (context) => {
  const tools = await toolcellTools(box, { limits: { timeoutMs: 20_000 } });
  const agent = new Agent({ name: "agent", model: scriptedModel([["run_dynamic_tool", run("spin", { n: 1 })]]), tools });
  const { ended, free } = await timeAbort(box, (signal) => runner.run(agent, "go", { signal }));
  context.diagnostic(`after the abort: the call ended in ${ended.toFixed(0)} ms, its slot was free in ${free.toFixed(0)} ms`);
  assert.ok(free < 500);
});

test("an application of CommonJS may use the tools", async () => {
  const require = createRequire(import.meta.url);
  const { Agent, Runner } = require("@openai/agents");
  const tools = await require("toolcell/openai").toolcellTools(box);
  const model = scriptedModel([["toolcell__twice", { n: 21 }], LATER]);
  const agent = new Agent({ name: "agent", model, tools });
  const { state, interruptions } = await new Runner({ tracingDisabled: true }).run(agent, "go");
  assert.equal(interruptions.length, 1);
  state.approve(interruptions[0]);
  await new Runner({ tracingDisabled: true }).run(agent, state);
  assert.deepEqual(readBy(model).map((output) => output.text), ["42", "late"]);
});
