// The adapter for LangChain and LangGraph: the real ones, with a scripted model.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { AIMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { toolcellTools } from "toolcell/langchain";
import { openBox, replaceLater, run, schemaOf, timeAbort } from "./box.mjs";

let box;
before(async () => (box = await openBox()));
after(() => box.close());

const LATER = ["run_dynamic_tool", run("later", { ms: 1 })];
let calls = 0;

/** A message of a model that calls tools. */
const calling = (...script) => new AIMessage({ content: "", tool_calls: script.map(([name, args]) => ({ id: `call_${calls++}`, name, args, type: "tool_call" })) });

/** A graph that calls the tools of a message. */
function graphOf(tools, checkpointer) {
  const graph = new StateGraph(MessagesAnnotation).addNode("tools", new ToolNode(tools)).addEdge("__start__", "tools").addEdge("tools", "__end__");
  return graph.compile({ checkpointer });
}

/** Asks about a call of `later`, changes the world, answers, and returns what the model reads. */
async function askAndAnswer(tools, answer, { between = () => {}, resumeWith = tools } = {}) {
  const checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: "1" } };
  const asked = await graphOf(tools, checkpointer).invoke({ messages: [calling(LATER)] }, config);
  const [{ value }] = asked.__interrupt__;
  await between();
  // What a store of checkpoints keeps is JSON.
  const resume = answer(JSON.parse(JSON.stringify(value)));
  const { messages } = await graphOf(resumeWith, checkpointer).invoke(new Command({ resume }), config);
  return { value, read: messages.at(-1) };
}
const yes = ({ questions }) => ({ approved: questions });

test("the model is offered the operations and the approved tools, with their schemas", async () => {
  const tools = await toolcellTools(box);
  assert.ok(["create_tool", "run_dynamic_tool", "run_code", "toolcell__twice"].every((name) => tools.some((tool) => tool.name === name)));
  const offered = convertToOpenAITool(tools.find((tool) => tool.name === "toolcell__twice"));
  assert.deepEqual(offered.function.parameters, await schemaOf(box, "toolcell__twice"));
  assert.match(offered.function.description, /^Doubles a number/);
});

test("a run succeeds, and one that throws is an error for the model", async () => {
  const message = calling(["toolcell__twice", { n: 21 }], ["run_dynamic_tool", run("fails")], ["run_dynamic_tool", run("picture")]);
  const { messages } = await graphOf(await toolcellTools(box)).invoke({ messages: [message] });
  const [, twice, fails, picture] = messages;
  assert.deepEqual([twice.content, twice.status, twice.artifact], ["42", "success", { value: 42 }]);
  assert.deepEqual([fails.status, /RangeError: out of tea/.test(fails.content)], ["error", true]);
  assert.deepEqual(picture.content.map((block) => block.type), ["text", "image_url"]);
});

test("a tool that is called without a graph returns its text, and an approval is refused", async () => {
  const tools = await toolcellTools(box);
  const [twice, runTool] = ["toolcell__twice", "run_dynamic_tool"].map((name) => tools.find((tool) => tool.name === name));
  assert.equal(await twice.invoke({ n: 21 }), "42");
  assert.match(await runTool.invoke(run("fails")), /RangeError: out of tea/);
  assert.match(await runTool.invoke(LATER[1]), /is not approved/);
  const { messages } = await graphOf(tools).invoke({ messages: [calling(LATER)] });
  assert.deepEqual([messages.at(-1).status, /is not approved/.test(messages.at(-1).content)], ["error", true]);
  await assert.rejects(twice.invoke({ n: "x" }), /did not match expected schema/);
});

test("partial results go to the custom stream", async () => {
  const input = { messages: [calling(["run_dynamic_tool", run("steps", { n: 3 })])] };
  const updates = [];
  for await (const { update } of await graphOf(await toolcellTools(box)).stream(input, { streamMode: "custom" })) updates.push(update);
  assert.deepEqual(updates, [0, 1, 2]);
});

test("a run that needs an approval interrupts the graph, and runs when it is granted, by any process", async () => {
  const { value, read } = await askAndAnswer(await toolcellTools(box), yes, { resumeWith: await toolcellTools(box) });
  assert.deepEqual([value.name, value.args], LATER);
  assert.match(value.text, /`later`[^]*timers[^]*setTimeout/);
  assert.deepEqual([read.content, read.status], ["late", "success"]);
});

test("a refused run does not take place", async () => {
  const tools = await toolcellTools(box);
  for (const [answer, text] of [[false, "a person refused the call"], [{ refuse: "ask Ann" }, "a person refused the call: ask Ann"]]) {
    const { read } = await askAndAnswer(tools, () => answer);
    assert.deepEqual([read.content, read.status], [text, "error"]);
  }
});

test("a yes is for what was shown: a tool that was replaced in between is refused", async () => {
  const box = await openBox();
  const { read } = await askAndAnswer(await toolcellTools(box), yes, { between: () => replaceLater(box) });
  assert.equal(read.status, "error");
  assert.match(read.content, /approved something else/);
  await box.close();
});

test("a yes that does not say to what is none", async () => {
  const tools = await toolcellTools(box);
  for (const answer of [true, "yes", { approved: true }]) {
    const { read } = await askAndAnswer(tools, () => answer);
    assert.equal(read.status, "error");
    assert.match(read.content, /resumed with \{ approved: interrupt\.value\.questions \}/);
  }
});

test("the calls of one message are asked about in their order", async () => {
  const graph = graphOf(await toolcellTools(box), new MemorySaver());
  for (let round = 0; round < 10; round++) {
    const config = { configurable: { thread_id: `${round}` } };
    const message = calling(...[1, 2, 3].map((ms) => ["run_dynamic_tool", run("later", { ms })]));
    let state = await graph.invoke({ messages: [message] }, config);
    for (const ms of [1, 2, 3]) {
      const [{ value }] = state.__interrupt__;
      assert.equal(value.args.parameters.ms, ms);
      state = await graph.invoke(new Command({ resume: yes(value) }), config);
    }
    assert.deepEqual(state.messages.slice(1).map((message) => message.content), ["late", "late", "late"]);
  }
});

test("an abort ends an endless loop", async (context) => {
  const graph = graphOf(await toolcellTools(box, { limits: { timeoutMs: 20_000 } }));
  const input = { messages: [calling(["run_dynamic_tool", run("spin", { n: 1 })])] };
  const { ended, free } = await timeAbort(box, (signal) => graph.invoke(input, { signal }));
  context.diagnostic(`after the abort: the call ended in ${ended.toFixed(0)} ms, its slot was free in ${free.toFixed(0)} ms`);
  assert.ok(free < 500);
});

test("an application of CommonJS may use the tools", async () => {
  const require = createRequire(import.meta.url);
  const { Command, MemorySaver, MessagesAnnotation, StateGraph } = require("@langchain/langgraph");
  const { ToolNode } = require("@langchain/langgraph/prebuilt");
  const { AIMessage } = require("@langchain/core/messages");
  const tools = await require("toolcell/langchain").toolcellTools(box);
  const graph = new StateGraph(MessagesAnnotation).addNode("tools", new ToolNode(tools)).addEdge("__start__", "tools").compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "1" } };
  const message = new AIMessage({ content: "", tool_calls: [{ id: "call", name: LATER[0], args: LATER[1], type: "tool_call" }] });
  const asked = await graph.invoke({ messages: [message] }, config);
  const { messages } = await graph.invoke(new Command({ resume: yes(asked.__interrupt__[0].value) }), config);
  assert.equal(messages.at(-1).content, "late");
});
