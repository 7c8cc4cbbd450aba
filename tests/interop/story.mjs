// The whole story of an agent and its tools, told by a client: reflect, create, approve, run, watch, cancel, list, delete.
// `story.py` tells the same one.
//
// Invariant: each step looks at what came out, not only that something did. A result that the client takes has passed the
// output schema of its operation: the clients check that by themselves.

import assert from "node:assert/strict";
import { check } from "./checks.mjs";
import { run } from "./servers.mjs";
import TOOLS from "./tools.json" with { type: "json" };

/** The five operations, in the order of the list. */
export const OPERATIONS = ["create_tool", "run_dynamic_tool", "list_dynamic_tools", "delete_dynamic_tool", "tool_reflection", "verify_dynamic_tool", "run_code"];

/** How long a run may take to end that nobody waits for any more, in milliseconds. */
const PATIENCE = 10_000;

/** Tells the story to one server through one kind of client. */
export async function tell(title, { connect, revision }, way, toolcell, home) {
  const asked = [];
  let decision = "approve";
  let client;
  const step = (name, work) => check(`${title}: ${name}`, work);
  const connected = await step("connects", async () => {
    client = await connect(way, async (question) => {
      asked.push(question);
      if (decision === "decline") return { action: "decline" };
      return { action: "accept", content: { decision } };
    });
    assert.equal(client.revision, revision);
    assert.equal(client.server.name, "toolcell");
  });
  if (!connected) return;
  try {
    await story(client, step, asked, (said) => (decision = said));
    await step("what was cancelled is recorded as cancelled", () => cancelledInTheLog(toolcell, home));
    await step("nothing but the protocol came", () => assert.deepEqual(client.errors.map(String), []));
  } finally {
    await step("closes", () => client.close());
  }
}

// Whether the server said it, and not the client about a question that it puts.
const isOurs = ({ message }) => !message?.startsWith("Fulfilling input required");

async function story(client, step, asked, decide) {
  const make = async (tool) => (await client.call("create_tool", tool)).structuredContent;
  const start = (name, parameters = {}, options) => client.call("run_dynamic_tool", { tool_name: name, parameters }, options);

  await step("lists the operations, always the same", async () => {
    const tools = await client.tools();
    assert.deepEqual(tools.map((tool) => tool.name), OPERATIONS);
    assert.deepEqual(await client.tools(), tools);
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      assert.ok(description && inputSchema.type === "object" && outputSchema.type === "object", name);
      assert.equal(annotations.destructiveHint, name === "delete_dynamic_tool", name);
      const writes = ["create_tool", "delete_dynamic_tool", "verify_dynamic_tool"];
      assert.equal(annotations.readOnlyHint, !writes.includes(name), name);
    }
  });

  await step("reflects", async () => {
    const task = "Convert these 40 CSV files to JSON";
    const result = await client.call("tool_reflection", { task_description: task, last_tool_result: "a.csv: 3 rows" });
    assert.equal(result.structuredContent.decision, "create");
    assert.equal(result._meta["toolcell/response"].trigger, "transformation");
    assert.match(textOf(result), /create_tool\(/);
    assert.match(result.structuredContent.proposal.name, /^[A-Za-z][\w-]{0,63}$/);
  });

  await step("creates a tool that has to be approved", async () => {
    const result = await client.call("create_tool", TOOLS.later);
    assert.match(result.structuredContent.id, /^dt_[0-9a-f]{12}$/);
    assert.equal(result.structuredContent.name, "later");
    assert.match(textOf(result), /later/);
    assert.equal(asked.length, 0);
  });

  await step("is asked, approves, and the tool runs", async () => {
    const result = await start("later", { ms: 5 });
    assert.equal(result.structuredContent.value, "after 5");
    assert.match(textOf(result), /after 5/);
    assert.equal(asked.length, 1);
    assert.match(asked[0].message, /later/);
    assert.match(asked[0].message, /timers/);
    assert.deepEqual(Object.keys(asked[0].requestedSchema.properties).sort(), ["decision", "reason"]);
  });

  await step("is not asked again", async () => {
    assert.equal((await start("later", { ms: 1 })).structuredContent.value, "after 1");
    assert.equal(asked.length, 1);
  });

  await step("declines, and the tool does not run", async () => {
    await make(TOOLS.never);
    decide("decline");
    const result = await start("never");
    decide("approve");
    assert.equal(codeOf(result), "permission-denied");
    assert.doesNotMatch(textOf(result), /it ran/);
    assert.equal(asked.length, 2);
  });

  await step("watches a run", async () => {
    await make(TOOLS.steps);
    const notices = [];
    const result = await start("steps", { n: 5 }, { onprogress: (notice) => isOurs(notice) && notices.push(notice) });
    assert.equal(result.structuredContent.value, 5);
    const told = notices.filter(({ message }) => message?.includes("step"));
    assert.deepEqual(told.map(({ message }) => JSON.parse(message)), [1, 2, 3, 4, 5].map((n) => ({ step: n })));
    const progress = notices.map((notice) => notice.progress);
    assert.deepEqual(progress, [...new Set(progress)].sort((one, other) => one - other));
  });

  await step("cancels an endless run", async () => {
    await make(TOOLS.endless);
    const given = new AbortController();
    const began = Date.now();
    const run = start("endless", {}, { signal: given.signal, onprogress: (notice) => isOurs(notice) && given.abort("enough") });
    await assert.rejects(run, /enough|abort/i);
    assert.ok(Date.now() - began < PATIENCE, "it took too long");
    assert.ok((await client.tools()).length > 0);
  });

  await step("lists what there is", async () => {
    const { structuredContent: listed } = await client.call("list_dynamic_tools", {});
    assert.equal(listed.tools.length, 4);
    const { structuredContent: some } = await client.call("list_dynamic_tools", { name: "STE" });
    assert.equal(some.tools.length, 1);
    assert.equal(some.tools[0].name, "steps");
    assert.equal(some.tools[0].signature, "steps(n: number)");
  });

  await step("a tool that fails is an error with a code, and no value", async () => {
    await make(TOOLS.broken);
    const result = await start("broken");
    assert.equal(codeOf(result), "tool-failed");
    assert.match(textOf(result), /it is broken/);
  });

  await step("what is asked for wrongly is an error with a code", async () => {
    assert.equal(codeOf(await start("nobody")), "tool-not-found");
    assert.equal(codeOf(await start("later")), "parameters-missing");
    assert.equal(codeOf(await start("later", { ms: "soon" })), "parameters-invalid");
    assert.equal(codeOf(await client.call("create_tool", TOOLS.later)), "name-taken");
    assert.equal(codeOf(await client.call("create_tool", TOOLS.dangerous)), "critical-risk");
  });

  await step("reads the source of a tool, and the log", async () => {
    const resources = await client.resources();
    const source = resources.find((resource) => resource.name === "later");
    const [content] = await client.read(source.uri);
    assert.equal(content.text, TOOLS.later.code);
    const [log] = await client.read("toolcell://audit");
    const lines = log.text.trim().split("\n").map((line) => JSON.parse(line));
    assert.ok(lines.some((line) => line.toolName === "broken" && line.error === "tool-failed"));
    await assert.rejects(client.read("toolcell://tools/dt_00000000/source"));
  });

  await step("gets the prompt", async () => {
    const [prompt] = await client.prompts();
    const [message] = await client.prompt(prompt.name, { task: "Count words" });
    assert.equal(message.role, "user");
    assert.match(message.content.text, /create_tool/);
    assert.match(message.content.text, /Count words/);
  });

  await step("deletes nothing without a word, and with it the tool", async () => {
    assert.equal(codeOf(await client.call("delete_dynamic_tool", { tool_name: "steps" })), "confirm-required");
    assert.equal((await start("steps", { n: 1 })).structuredContent.value, 1);
    const result = await client.call("delete_dynamic_tool", { tool_name: "steps", confirm: true });
    assert.equal(result.structuredContent.name, "steps");
    assert.equal(codeOf(await start("steps", { n: 1 })), "tool-not-found");
  });
}

/** The code of a failure, which has no value beside it. */
function codeOf(result) {
  assert.equal(result.isError, true, `no failure: ${textOf(result)}`);
  assert.equal(result.structuredContent, undefined);
  return result._meta["toolcell/error"].code;
}

function textOf(result) {
  return result.content.map((block) => block.text).join("\n");
}

/** The end of a run that nobody waits for any more may be written a little later. */
async function cancelledInTheLog(toolcell, home) {
  const until = Date.now() + PATIENCE;
  let errors;
  do {
    const { output } = await run(toolcell, ["audit", "--json"], home);
    const lines = output.trim().split("\n").map((line) => JSON.parse(line));
    const runs = lines.filter(({ toolName, action }) => toolName === "endless" && action === "run_dynamic_tool");
    errors = runs.map(({ error }) => error);
  } while (!errors.includes("cancelled") && Date.now() < until);
  assert.ok(errors.includes("cancelled"), `the runs ended as ${errors}`);
}
