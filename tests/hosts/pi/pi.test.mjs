// Toolcell in pi: the extension that `toolcell adapter pi` writes, in the real host, with a scripted model.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test as nodeTest } from "node:test";
import { Home } from "../home.mjs";
import { hasCodemode, runPi, toolEvents } from "./session.mjs";

/** One session at a time: the machines of CI have two cores. */
const test = (name, act) => nodeTest(name, { timeout: 120_000 }, act);
const home = (context, { policy, gate } = {}) => new Home(context, { policy, adapter: ["pi", "--user", ...(gate ? ["--gate"] : [])] });

const WORDS = "export function execute({ text }: { text: string }): number { return text.trim().split(/\\s+/).length; }";
const STEPS = `export default (pi) => ({
  name: "steps", label: "Steps", description: "Counts up", parameters: pi.typebox.Type.Object({ n: pi.typebox.Type.Number() }),
  async execute(id, { n }, onUpdate) {
    for (let i = 1; i <= n; i++) onUpdate({ content: [{ type: "text", text: "step " + i }], details: { i } });
    return { content: [{ type: "text", text: "all " + n + " steps" }], details: { n } };
  },
});`;
const SPIN = "const execute = ({ n }) => { let i = n; while (i >= 0) i = (i + 1) % 7; return 'no spin'; };";
const WAITS = "const execute = ({ ms }) => { setTimeout(() => {}, ms); return 'approved'; };";
const run = (tool_name, parameters) => ({ calls: [["run_dynamic_tool", { tool_name, parameters }]] });
const bash = (command) => ({ calls: [["bash", { command }]] });

/** Returns the ends of calls: name, whether it failed, and the first line. */
function ends(events) {
  const first = (event) => (event.result.content[0]?.text ?? "").split("\n")[0];
  const ended = events.filter((event) => event.type === "tool_execution_end");
  return ended.map((event) => `${event.toolName} ${event.isError ? "failed" : "done"}: ${first(event)}`);
}

test("operations, partial results and failures look like those of pi", async (context) => {
  const place = home(context);
  place.create("words", WORDS);
  place.create("steps", STEPS);
  const { events, requests, status } = await runPi(place, [
    run("words", { text: "to be or not to be" }),
    run("words", { text: 7 }),
    run("steps", { n: 2 }),
    run("nothing", {}),
    { calls: [["list_dynamic_tools", {}]] },
  ]);
  assert.equal(status, 0);
  assert.deepEqual(toolEvents(events).map((line) => line.split("\n")[0]), [
    'START  run_dynamic_tool {"tool_name":"words","parameters":{"text":"to be or not to be"}}',
    "END    run_dynamic_tool isError=false 6",
    'START  run_dynamic_tool {"tool_name":"words","parameters":{"text":7}}',
    "END    run_dynamic_tool isError=true The tool `words` failed.",
    'START  run_dynamic_tool {"tool_name":"steps","parameters":{"n":2}}',
    "UPDATE run_dynamic_tool step 1",
    "UPDATE run_dynamic_tool step 2",
    "END    run_dynamic_tool isError=false all 2 steps",
    'START  run_dynamic_tool {"tool_name":"nothing","parameters":{}}',
    "END    run_dynamic_tool isError=true error: tool not found: there is no tool `nothing` | code: tool-not-found",
    "START  list_dynamic_tools {}",
    "END    list_dynamic_tools isError=false # Registered dynamic tools (2)",
  ]);
  const offered = requests[0].tools.map((tool) => tool.function.name);
  for (const name of ["bash", "create_tool", "run_dynamic_tool", "run_code"]) assert.ok(offered.includes(name), name);
  // What the model reads of a failure names the place.
  const last = requests.at(-1).messages.filter((message) => message.role === "tool");
  assert.match(last[1].content, /words:1:\d+/);
  const lines = place.audit("--action", "run_dynamic_tool");
  assert.equal(lines.length, 4);
  assert.ok(lines.every((line) => /^mcp client=pi session=\S+ call=call_\S+$/.test(line.details.caller)), JSON.stringify(lines[0]));
  assert.deepEqual(place.processes(), []);
});

test("a person approves in the dialogue of pi, and the next call is not asked about", async (context) => {
  for (const [choice, expected] of [
    ["Approve", ["run_dynamic_tool done: approved", "run_dynamic_tool done: approved"]],
    ["Refuse", ["run_dynamic_tool failed: error: permission denied: a person refused the call", "run_dynamic_tool failed: error: permission denied: a person refused the call"]],
  ]) {
    const place = home(context, { policy: "[grants.default]\ntimers = true\n" });
    place.create("waits", WAITS);
    const asked = [];
    const dialogue = (event) => {
      if (event.method !== "select") return undefined;
      asked.push(event);
      return { value: event.options.find((option) => option === choice) };
    };
    const { events } = await runPi(place, [run("waits", { ms: 1 }), run("waits", { ms: 2 })], { dialogue });
    assert.deepEqual(ends(events), expected);
    assert.equal(asked.length, choice === "Approve" ? 1 : 2);
    assert.match(asked[0].title, /waits[\s\S]*timers/);
    assert.deepEqual(place.processes(), []);
  }
});

test("without a dialogue the error names the command that approves", async (context) => {
  const place = home(context, { policy: "[grants.default]\ntimers = true\n" });
  place.create("waits", WAITS);
  const { events, requests } = await runPi(place, [run("waits", { ms: 1 })]);
  assert.match(ends(events)[0], /^run_dynamic_tool failed: error: permission denied: `waits` \(dt_[0-9a-f]{12}\) is not approved/);
  // No text for a model tells it to approve.
  assert.doesNotMatch(JSON.stringify(requests.at(-1).messages), /approvals grant/);
});

test("an abort ends the run at once, and its record says so", async (context) => {
  const place = home(context);
  place.create("spin", SPIN);
  let aborted;
  const onEvent = (event, { send }) => {
    if (event.type === "tool_execution_start") setTimeout(() => ((aborted = performance.now()), send({ type: "abort" })), 300);
    if (event.type === "tool_execution_end") context.diagnostic(`ended ${(performance.now() - aborted).toFixed(1)} ms after the abort`);
  };
  const { events } = await runPi(place, [run("spin", { n: 1 })], { dialogue: () => undefined, onEvent });
  assert.match(ends(events)[0], /^run_dynamic_tool failed: the call was aborted/);
  const [line] = place.audit("--action", "run_dynamic_tool");
  assert.equal(line.error, "cancelled");
  assert.deepEqual(place.processes(), []);
});

test("a tool that is approved elsewhere is offered within a second, and one that is deleted is not", async (context) => {
  const place = home(context);
  place.create("words", WORDS);
  const offers = (request) => request.tools.some((tool) => tool.function.name === "toolcell__words");
  const between = [
    () => (place.run("approvals", "grant", "words", "--yes"), new Promise((resolve) => setTimeout(resolve, 1_000))),
    () => (place.run("delete", "words", "--confirm"), new Promise((resolve) => setTimeout(resolve, 1_000))),
  ];
  const { events, requests } = await runPi(
    place,
    [{ text: "one" }, { calls: [["toolcell__words", { text: "a b c" }]] }, { text: "two" }, { calls: [["toolcell__words", { text: "a" }]] }],
    { dialogue: () => undefined, between },
  );
  assert.deepEqual(requests.map(offers), [false, true, true, false, false]);
  assert.equal(ends(events)[0], "toolcell__words done: 3");
  assert.match(ends(events)[1], /^toolcell__words failed: /);
});

test("the gate decides about the tools of pi", async (context) => {
  const rules = `
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
[[hooks]]
name = "house"
tool = "house"
tools = ["bash"]
`;
  const house = `const execute = ({ toolArgs: { command } }) => {
    if (command === "ls") return { modifiedArgs: { command: "echo changed" } };
    if (command === "spin") for (;;);
    if (command === "throw") throw new Error("house on fire");
  };`;
  const place = home(context, { policy: "[limits]\nfuel = 20_000_000\n" + rules, gate: true });
  place.create("house", house);
  place.run("approvals", "grant", "house", "--yes");
  const { events } = await runPi(place, ["echo hello", "rm -r .", "git push", "ls", "spin", "throw"].map(bash));
  const done = ends(events);
  assert.deepEqual(done.slice(0, 4), [
    "bash done: hello",
    "bash failed: use the trash",
    "bash failed: a person pushes; there is no dialogue to ask a person in",
    "bash done: changed",
  ]);
  assert.match(done[4], /^bash failed: the hook `house` failed: .*fuel/);
  assert.match(done[5], /^bash failed: the hook `house` failed: Error: house on fire/);
  const lines = place.audit("--action", "decide");
  assert.deepEqual(lines.map((line) => line.details.outcome), ["no-objection", "deny", "ask", "no-objection", "deny", "deny"]);
  assert.ok(lines.every((line) => /^pi session=\S+ call=\S+$/.test(line.details.caller)), JSON.stringify(lines[0]));

  const asked = [];
  const dialogue = (event) => {
    if (event.method !== "confirm") return undefined;
    asked.push(event);
    return { confirmed: asked.length === 1 };
  };
  const again = await runPi(place, [bash("git push"), bash("git push --force"), bash("git push \u202e\u009b2Jx")], { dialogue });
  assert.equal(asked.length, 3);
  // What the model wrote controls no terminal, and hides nothing.
  assert.match(asked[2].message, /git push \\u202e\\u009b2Jx/);
  assert.match(asked[1].message, /a person pushes[\s\S]*git push --force/);
  assert.doesNotMatch(ends(again.events)[0], /a person/);
  assert.equal(ends(again.events)[1], "bash failed: a person refused the call: a person pushes");
});

test("the gate blocks what it cannot decide about", async (context) => {
  const place = home(context, { policy: "[external_tool]\n", gate: true });
  const { events, errors } = await runPi(place, [bash("echo hello")]);
  assert.match(ends(events)[0], /^bash failed: Toolcell cannot decide: /);
  assert.match(errors, /Toolcell does not run: [\s\S]*external_tools/);
});

test("a server that is killed in a run fails that call alone, and leaves one record", async (context) => {
  const place = home(context);
  place.create("spin", SPIN);
  place.create("words", WORDS);
  const onEvent = (event) => {
    if (event.type !== "tool_execution_start" || event.args.tool_name !== "spin") return;
    setTimeout(() => place.servers().forEach((pid) => process.kill(pid, "SIGKILL")), 300);
  };
  const { events } = await runPi(place, [run("spin", { n: 1 }), run("words", { text: "a b" })], { onEvent });
  const done = ends(events);
  assert.match(done[0], /^run_dynamic_tool failed: toolcell ended \(SIGKILL\)/);
  assert.equal(done[1], "run_dynamic_tool done: 2");
  const lines = place.audit("--action", "run_dynamic_tool");
  assert.deepEqual(lines.map((line) => [line.toolName, line.details.outcome]).sort(), [["spin", "interrupted"], ["words", "returned"]]);
});

test("a host that is killed leaves no process", async (context) => {
  const place = home(context);
  place.create("spin", SPIN);
  const onEvent = (event, { child }) => {
    if (event.type === "tool_execution_start") setTimeout(() => child.kill("SIGKILL"), 300);
  };
  const { status } = await runPi(place, [run("spin", { n: 1 })], { onEvent });
  assert.equal(status, "SIGKILL");
  const gone = Date.now() + 5_000;
  while (place.processes().length > 0 && Date.now() < gone) spawnSync("sleep", ["0.05"]);
  assert.deepEqual(place.processes(), []);
  assert.equal(place.audit("--action", "run_dynamic_tool").length, 1);
});

test("an adapter that meets a Toolcell without its methods says what to do", async (context) => {
  const place = home(context);
  const { errors } = await runPi({ ...place, env: { ...place.env, TOOLCELL: "/no/such/toolcell" }, folder: place.folder }, []);
  assert.match(errors, /Toolcell does not run: \/no\/such\/toolcell is not there: install it, or set TOOLCELL to its path/);
});

test("a tool runs a command where it is granted one and a person allows it, and an abort ends both", async (context) => {
  const policy = "[approval]\nmode = 'auto'\n[grants.tools.commands]\ntools = ['pi_exec', 'pi_ui_select']\n";
  const code = `export default (pi) => ({
    name: "commands", description: "Runs a command", parameters: { type: "object", properties: { command: { type: "array" } } },
    async execute(id, { command: [name, ...args] }, onUpdate) {
      onUpdate({ content: [{ type: "text", text: await pi.ui.select("Which?", ["one", "two"]) }], details: {} });
      const { stdout, code } = await pi.exec(name, args, { cwd: "/below" });
      return { content: [{ type: "text", text: stdout.trim() + " " + code }], details: {} };
    },
  });`;
  const place = home(context, { policy });
  place.create("commands", code);
  spawnSync("mkdir", ["below"], { cwd: place.folder });
  const asked = [];
  let allowed = true;
  const dialogue = (event) => {
    if (event.method === "select") {
      assert.equal(event.title, "A tool of Toolcell asks: Which?");
      return { value: event.options[1] };
    }
    if (event.method !== "confirm") return undefined;
    asked.push(event.message);
    return { confirmed: allowed };
  };
  const hasSleep = () => spawnSync("pgrep", ["-f", "sleep 61.5"]).status === 0;
  const onEvent = (event, { send }) => {
    if (event.type === "tool_execution_start" && event.args.parameters.command[0] === "sleep") setTimeout(() => send({ type: "abort" }), 1_000);
  };
  const commands = [["pwd"], ["sh", "-c", "echo out; exit 3"], ["sleep", "61.5"]];
  const { events } = await runPi(place, commands.map((command) => run("commands", { command })), { dialogue, onEvent });
  assert.deepEqual(ends(events), [
    `run_dynamic_tool done: ${place.path("below")} 0`,
    "run_dynamic_tool done: out 3",
    "run_dynamic_tool failed: the call was aborted",
  ]);
  assert.deepEqual(asked, [`pwd\nin ${place.path("below")}`, `sh -c "echo out; exit 3"\nin ${place.path("below")}`, `sleep 61.5\nin ${place.path("below")}`]);
  assert.ok(toolEvents(events).includes("UPDATE run_dynamic_tool two"));
  assert.equal(hasSleep(), false, "the command is gone");
  allowed = false;
  const refused = await runPi(place, [run("commands", { command: ["touch", "x"] })], { dialogue });
  assert.match(refused.events.filter((event) => event.type === "tool_execution_end")[0].result.content[0].text, /a person refused the command/);
  assert.equal(spawnSync("ls", [place.path("below")], { encoding: "utf8" }).stdout, "");
  const silent = await runPi(place, [run("commands", { command: ["touch", "x"] })]);
  assert.match(silent.events.filter((event) => event.type === "tool_execution_end")[0].result.content[0].text, /there is no dialogue to ask a person in/);
  assert.deepEqual(place.processes(), []);
});

test("a script of pi's codemode gets values", async (context) => {
  if (!hasCodemode) return context.skip("this version has no codemode");
  const place = home(context);
  place.create("twice", "const execute = ({ n }) => 2 * n");
  const code = `const runs = [1, 2, 3].map((n) => tools.run_dynamic_tool({ tool_name: "twice", parameters: { n } }));
    return (await Promise.all(runs)).map((ran) => ran.value);`;
  const { events } = await runPi(place, [{ calls: [["codemode", { code }]] }], { options: ["--tools", "+codemode"] });
  const ended = events.filter((event) => event.type === "tool_execution_end" && event.toolName === "codemode");
  assert.equal(ended[0].result.content.at(-1).text, "[2,4,6]");
  assert.equal(place.audit("--action", "run_dynamic_tool").length, 3);
});
