// The package for Node: runs, errors, limits, functions, hooks, approvals, cancellation.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { Type } from "@sinclair/typebox";
import { Refused, Stopped, Toolbox, ToolcellError, ToolFailed } from "toolcell";
import { z } from "zod";

const FIXTURES = process.env.FIXTURES;
const ROUNDS = Number(process.env.TOOLCELL_ROUNDS ?? 4);
const TWICE = "const execute = ({ n }) => 2 * n";
const SPIN = "const execute = () => { for (;;) {} }";
const STEPS = `export default () => ({
  name: "steps",
  description: "Counts",
  parameters: { n: { type: "integer" } },
  async execute(id, { n }, onUpdate) {
    for (let i = 0; i < n; i++) onUpdate(i);
    return n;
  },
})`;
const folder = () => mkdtempSync(join(tmpdir(), "toolcell-"));

const children = () =>
  readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const [state, parent] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1].split(" ");
      return Number(parent) === process.pid && state !== "Z";
    } catch {
      return false;
    }
  });

for (const isolation of ["process", "worker"])
  describe(isolation, () => {
    let box;
    before(async () => (box = await Toolbox.open({ dir: folder(), isolation })));
    after(() => box.close());
    const open = (options) => Toolbox.open({ isolation, ...options });

    test("a model is offered the operations and approved tools, and calls them by name", async () => {
      const box = await open({ dir: folder() });
      const [create, ...others] = await box.definitions();
      assert.deepEqual([create.name, others.length, create.inputSchema.required], ["create_tool", 6, ["name", "description", "code"]]);
      const made = await box.call("create_tool", { name: "twice", description: "Doubles", code: TWICE });
      assert.deepEqual([made.isError, made.structured.name], [false, "twice"]);
      await box.approve("twice");
      const [twice] = await box.definitions({ operations: [] });
      assert.deepEqual([twice.name, twice.tool, twice.readOnly], ["toolcell__twice", "twice", true]);
      const ran = await box.call("toolcell__twice", { n: 21 });
      assert.deepEqual([ran.text, ran.structured, ran.error, ran.run.value], ["42", { value: 42 }, undefined, 42]);
      for (const [name, args, code] of [
        ["fly", {}, "tool-unknown"],
        ["create_tool", { nam: 1 }, "request-invalid"],
        ["run_code", { code: "const execute = () => { throw new RangeError('no') }" }, "tool-failed"],
      ]) {
        const failed = await box.call(name, args);
        assert.ok(failed.isError && failed.error instanceof ToolcellError && failed.error.code === code && failed.structured === undefined);
      }
      const controller = new AbortController();
      const spun = box.call("run_code", { code: SPIN }, { signal: controller.signal });
      setTimeout(() => controller.abort(), 100);
      await assert.rejects(spun, { name: "AbortError", code: "cancelled" });
      await assert.rejects(box.definitions({ operations: ["fly"] }), /there is no tool `fly`/);
      await box.close();
    });

    test("a call asks before it runs, and a yes holds for what was shown", async () => {
      const box = await open({ dir: folder(), policy: '[approval]\nmode = "ask"\n' });
      const tool = { name: "twice", description: "Doubles", code: TWICE, parameters: { n: { type: "number", required: true } } };
      await box.create(tool);
      const call = ["run_dynamic_tool", { tool_name: "twice", parameters: { n: 21 } }];
      const questions = await box.questions(...call);
      assert.deepEqual([questions.length, questions[0].source, questions[0].parameters], [1, TWICE, { n: 21 }]);
      const denied = await box.call(...call);
      assert.ok(denied.isError && denied.error.awaitsApproval);
      // They cross a process as JSON.
      const approved = JSON.parse(JSON.stringify(questions));
      assert.equal((await box.call(...call, { approved })).text, "42");
      assert.equal((await box.questions(...call)).length, 1);
      assert.ok((await box.call(call[0], { tool_name: "twice", parameters: { n: 22 } }, { approved })).isError);
      await box.create({ ...tool, code: "const execute = ({ n }) => 3 * n", replace: true });
      const replaced = await box.call(...call, { approved });
      assert.match(replaced.text, /not what was approved/);
      await box.close();
    });

    test("a tool is created, run, listed, shown and deleted", async () => {
      const created = await box.create({ name: "twice", description: "Doubles", code: TWICE });
      const ran = await box.run("twice", { n: 21 });
      assert.deepEqual([ran.value, ran.toolId, ran.effects, ran.text.endsWith("42")], [42, created.id, "none", true]);
      assert.ok(ran.fuel > 0 && ran.record);
      assert.equal((await box.list()).total, 1);
      assert.equal((await box.show("twice")).source, TWICE);
      assert.equal((await box.search("doubles"))[0].name, "twice");
      assert.match((await box.delete("twice")).text, /twice/);
      await assert.rejects(box.run("twice"), (error) => error instanceof Refused && error.code === "tool-not-found" && error.hint !== "");
    });

    test("undefined, null and text cross unchanged", async () => {
      assert.equal((await box.runCode("const execute = () => undefined")).value, undefined);
      assert.equal((await box.runCode("const execute = () => null")).value, null);
      const text = "\u0000 \ud7ff 😀 \u2028 \"\\";
      assert.equal((await box.runCode("const execute = ({ text }) => text", { text })).value, text);
    });

    test("what a tool throws has its lines", async () => {
      const code = "const execute = () => {\n  console.log('here')\n  throw new RangeError('no')\n}";
      await assert.rejects(box.runCode(code), (error) => {
        assert.ok(error instanceof ToolFailed && error instanceof ToolcellError && !(error instanceof Stopped));
        assert.deepEqual([error.code, error.thrown.name, error.thrown.line], ["tool-failed", "RangeError", 3]);
        return error.run.logs[0].text === "here";
      });
    });

    test("errors of another copy of the package are recognised", async () => {
      const require = createRequire(import.meta.url);
      const path = require.resolve("toolcell").replace("index.cjs", "errors.cjs");
      const loaded = require(path);
      delete require.cache[path];
      const copy = require(path);
      assert.notEqual(copy.Refused, loaded.Refused);
      const error = new copy.Refused({ kind: "refused", code: "x", message: "m", hint: "", effects: "none" });
      assert.ok(error instanceof Refused && ToolcellError.is(error) && !(error instanceof ToolFailed));
      assert.ok(!(new Error("m") instanceof ToolcellError));
    });

    test("limits stop a run", async () => {
      await assert.rejects(box.runCode(SPIN, {}, { limits: { fuel: 1_000_000 } }), { code: "out-of-fuel" });
      await assert.rejects(box.runCode(SPIN, {}, { limits: { timeoutMs: 200 } }), { code: "timeout", name: "TimeoutError" });
      await assert.rejects(box.runCode(TWICE, {}, { limits: { timeoutMs: 1e9 } }), { code: "limit-invalid" });
    });

    test("wrong types name the argument", async () => {
      const loop = {};
      loop.a = [loop];
      for (const [call, says] of [
        [() => box.runCode(TWICE, [1]), /params is an array/],
        [() => box.runCode(TWICE, { a: [{ b: 1n }] }), /params\.a\[0\]\.b is a bigint/],
        [() => box.runCode(TWICE, loop), /params\.a\[0\] contains itself/],
        [() => box.runCode(5), /code is a number/],
        [() => box.runCode(TWICE, {}, { limit: 1 }), /no option `limit`/],
        [() => box.runCode(TWICE, {}, { functions: { f: 3 } }), /functions\.f is neither/],
        [() => box.runCode(TWICE, {}, { limits: { fuel: "x" } }), /invalid type/],
        [() => box.runCode(TWICE, {}, null), /options is null/],
        [() => box.runCode(TWICE, {}, { signal: 5 }), /signal is a number/],
        [() => box.runCode(TWICE, {}, { caller: { who: 1 } }), /caller has no `who`/],
        [() => box.create(), /the tool is undefined/],
        [() => box.approve(), /a tool is approved by/],
        [() => open({ dir: FIXTURES }), /has other files in it/],
        [() => open({ hooks: [{ name: "a", before() {} }, { name: "a", before() {} }] }), /two hooks are named `a`/],
        [() => open({ hooks: [{ name: "a", before: 5 }] }), /`before` of the hook `a` is a number/],
        [async () => using(await open({}), (box) => box.list()), /has no store, which `list` needs/],
        [() => open({ isolation: "none" }), /isolation is "none"/],
        [() => open({ polcy: "" }), /no option `polcy`/],
        [() => open({ policy: "[limits]\nfuell = 1\n" }), /fuell/],
      ])
        await assert.rejects(async () => call(), says);
    });

    test("functions, with schemas of zod, of TypeBox and without", async () => {
      const code = "const execute = ({ name, params }) => tools.call(name, params)";
      const functions = {
        plain: ({ sku }) => sku.length,
        zod: { parameters: z.object({ sku: z.string(), count: z.number().int().default(2) }), execute: async ({ sku, count }) => sku.repeat(count) },
        typebox: { parameters: Type.Object({ n: Type.Number() }), execute: ({ n }) => n + 1 },
        nothing: () => {},
      };
      const call = async (name, params) => (await box.runCode(code, { name, params }, { functions })).value;
      assert.equal(await call("plain", { sku: "tea" }), 3);
      assert.equal(await call("zod", { sku: "ab" }), "abab");
      assert.equal(await call("typebox", { n: 1 }), 2);
      assert.equal(await call("nothing", {}), null);
      await assert.rejects(call("typebox", { n: {} }), /invalid parameters for `typebox`/);
      await assert.rejects(call("zod", { sku: {} }), /invalid parameters for `zod`/);
    });

    test("what a function throws can be caught by the tool, and is the cause", async () => {
      const functions = { fails: async () => { throw new RangeError("lost"); } };
      const caught = "const execute = async () => { try { await tools.call('fails', {}) } catch (e) { return e.message } }";
      assert.match((await box.runCode(caught, {}, { functions })).value, /lost/);
      await assert.rejects(box.runCode("const execute = () => tools.call('fails', {})", {}, { functions }), (error) => error.cause instanceof RangeError);
    });

    test("a function may use the toolbox, and one that hangs is ended with its run", async () => {
      const again = { again: async ({ n }) => (await box.runCode(TWICE, { n })).value };
      assert.equal((await box.runCode("const execute = ({ n }) => tools.call('again', { n })", { n: 4 }, { functions: again })).value, 8);
      let aborted = false;
      const hangs = { hangs: (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => (aborted = true))) };
      await assert.rejects(box.runCode("const execute = () => tools.call('hangs', {})", {}, { functions: hangs, limits: { timeoutMs: 200 } }), { code: "timeout" });
      assert.ok(aborted);
    });

    test("functions that run tools are nested so deep and no deeper", async () => {
      const code = "const execute = ({ n }) => n > 0 ? tools.call('again', { n: n - 1 }) : 'end'";
      const again = async ({ n }) => (await box.runCode(code, { n }, { functions: { again }, limits: { timeoutMs: 20_000 } })).value;
      assert.equal(await again({ n: 4 }), "end");
      await assert.rejects(again({ n: 5 }), /nested too deeply/);
    });

    test("what onUpdate throws ends the run and is its error, and anything may be thrown", async () => {
      await assert.rejects(box.runCode(STEPS, { n: 1e9 }, { onUpdate: () => { throw new RangeError("mine"); } }), /mine/);
      const weird = { toString() { throw new Error("no"); } };
      const throws = (error) => box.runCode("const execute = () => tools.call('f', {})", {}, { functions: { f: () => { throw error; } } });
      await assert.rejects(throws(null), /null/);
      await assert.rejects(throws(weird), /an error that has no text/);
    });

    test("hooks allow, change, deny and fail closed", async () => {
      const before = async ({ toolArgs: { n } }) => {
        if (n === 1) return { permissionDecision: "deny", permissionDecisionReason: "not one" };
        if (n === 2) return { modifiedArgs: { n: 20 } };
        if (n === 3) throw new Error("broken");
        if (n === 4) return new Promise(() => {});
        return n === 5 ? "nonsense" : undefined;
      };
      await using(await open({ dir: folder(), hooks: [{ name: "house", before, after: () => ({ additionalContext: "seen" }), timeoutMs: 300 }] }), async (box) => {
        await box.create({ name: "twice", description: "Doubles", code: TWICE });
        assert.deepEqual((await box.run("twice", { n: 7 })).context, [{ hook: "house", text: "seen" }]);
        assert.equal((await box.run("twice", { n: 2 })).value, 40);
        for (const [n, says] of [[1, /not one/], [3, /broken/], [4, /300 ms/], [5, /neither an object nor null/]])
          await assert.rejects(box.run("twice", { n }), (error) => says.test(error.message) && error.decidedBy === "hook house");
        const decision = await box.decide({ toolName: "bash", toolArgs: { n: 1 } });
        assert.deepEqual([decision.permissionDecision, decision.decidedBy], ["deny", "hook house"]);
        const parallel = await Promise.all(Array.from({ length: 20 }, () => box.decide({ toolName: "bash", toolArgs: { n: 1 } })));
        assert.ok(parallel.every((one) => one.permissionDecision === "deny"));
      });
    });

    test("an approver decides, and a question binds", async () => {
      const code = "const execute = ({ ms }) => new Promise((done) => setTimeout(done, ms, 'late'))";
      const answers = [false, { refuse: "ask Ann" }, "later", true];
      const approver = async (question) => (assert.equal(question.source, code), answers.shift());
      const options = { policy: "[grants.default]\ntimers = true\n", dir: folder() };
      const tool = { name: "later", description: "Waits", code, capabilities: ["timers"] };
      await using(await open({ ...options, approver }), async (box) => {
        await box.create(tool);
        for (const says of [/a person refused/, /ask Ann/, /a person is being asked/]) await assert.rejects(box.run("later", { ms: 1 }), says);
        assert.equal((await box.run("later", { ms: 1 })).value, "late");
      });
      await using(await open({ ...options, dir: folder() }), async (box) => {
        await box.create(tool);
        await assert.rejects(box.run("later", { ms: 1 }), { awaitsApproval: true });
        assert.equal((await box.pending())[0].name, "later");
        const question = await box.question("later");
        await assert.rejects(box.approve({ ...question, digest: "0".repeat(64) }), { code: "approval-changed" });
        await box.approve(question, { by: "Ann" });
        assert.equal((await box.run("later", { ms: 1 })).value, "late");
      });
    });

    test("partial results, and leaving the loop cancels", async () => {
      const run = box.runCode(STEPS, { n: 3 });
      const updates = [];
      for await (const update of run) updates.push(update);
      assert.deepEqual([updates, (await run).value], [[0, 1, 2], 3]);
      const endless = box.runCode(STEPS, { n: 1e9 });
      for await (const update of endless) {
        assert.ok(update >= 0);
        break;
      }
      await assert.rejects(endless, { name: "AbortError", code: "cancelled" });
    });

    test("a signal ends a run within 100 ms", async () => {
      await box.runCode(TWICE, { n: 1 });
      const controller = new AbortController();
      const run = box.runCode(SPIN, {}, { signal: controller.signal });
      await new Promise((resolve) => setTimeout(resolve, 200));
      const began = performance.now();
      controller.abort(new Error("enough"));
      await assert.rejects(run, (error) => error.name === "AbortError" && error.cause.message === "enough");
      assert.ok(performance.now() - began < 100);
      await assert.rejects(box.runCode(SPIN, {}, { signal: AbortSignal.abort() }), { name: "AbortError" });
    });

    test("after close nothing is left", async () => {
      const started = children().length;
      const other = await open({ dir: folder() });
      await other.runCode(TWICE, { n: 1 });
      const spinning = assert.rejects(other.runCode(SPIN), { code: "cancelled" });
      await new Promise((resolve) => setTimeout(resolve, 200));
      await other.close();
      await other.close();
      await spinning;
      assert.equal(children().length, started);
      await assert.rejects(other.runCode(TWICE, {}), { code: "toolbox-closed" });
    });

    test("reflection, verification, explanation, adoption, analysis, receipts", async () => {
      assert.ok((await box.reflect({ task: "average the numbers of each region", failedAttempts: 2 })).decision);
      await box.create({ name: "double", description: "Doubles", code: TWICE, examples: [{ parameters: { n: 2 }, result: 4 }], replace: true });
      assert.equal((await box.verify("double", { cases: 16 })).verdict, "passed");
      assert.equal((await box.explain("double", { n: 1 })).admitted, true);
      assert.ok((await box.analyze("const execute = () => eval('1')")).findings.length > 0);
      const adopted = await box.adopt(readFileSync(join(FIXTURES, "custom_tools/two_tools.ts"), "utf8"));
      assert.ok(adopted.length === 2 && adopted.every((tool) => tool.created));
      assert.ok(JSON.parse((await box.run("double", { n: 1 }, { receipt: true })).receipt));
    });

    test("tools that raise signals leave the host alone, on the main thread and on a worker thread", async () => {
      const sources = ["memory-error-stacks.js", "serialise-proxy-own-keys-32-bit-overflow.js"].map((name) => join(FIXTURES, "hostile", name));
      const program = `
        import { readFileSync } from "node:fs";
        import { Toolbox } from "toolcell";
        const box = await Toolbox.open({ isolation: ${JSON.stringify(isolation)} });
        for (const source of ${JSON.stringify(sources)})
          for (let round = 0; round < ${ROUNDS}; round++)
            await box.runCode(readFileSync(source, "utf8"), {}, { limits: { timeoutMs: 5000 } }).catch(() => {});
        const overflow = () => overflow() + 1;
        try { overflow() } catch {}
        console.log((await box.runCode("const execute = () => 'alive'")).value);
        await box.close();`;
      const file = join(process.cwd(), `signals-${isolation}.mjs`);
      writeFileSync(file, program);
      assert.equal(execFileSync(process.execPath, [file], { encoding: "utf8" }).trim(), "alive");
      const worker = new Worker(file, { stdout: true });
      let said = "";
      worker.stdout.on("data", (text) => (said += text));
      await new Promise((resolve, reject) => worker.on("exit", resolve).on("error", reject));
      assert.equal(said.trim(), "alive");
    });

    test("a worker thread that is terminated in a run leaves the process alone", async () => {
      const file = join(process.cwd(), `terminated-${isolation}.mjs`);
      writeFileSync(file, `
        import { parentPort } from "node:worker_threads";
        import { Toolbox } from "toolcell";
        const box = await Toolbox.open({ isolation: ${JSON.stringify(isolation)} });
        const run = box.runCode(${JSON.stringify(SPIN)});
        parentPort.postMessage("running");
        await run;`);
      const worker = new Worker(file);
      await new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject));
      await worker.terminate();
      assert.equal((await box.runCode(TWICE, { n: 2 })).value, 4);
    });

    test("a process ends by itself with a toolbox open, and a killed one leaves no worker", async () => {
      const file = join(process.cwd(), `open-${isolation}.mjs`);
      writeFileSync(file, `
        import { Toolbox } from "toolcell";
        const box = await Toolbox.open({ isolation: ${JSON.stringify(isolation)} });
        console.log((await box.runCode("const execute = () => 1")).value);
        if (process.argv[2]) setInterval(() => {}, 1000);`);
      assert.equal(execFileSync(process.execPath, [file], { encoding: "utf8", timeout: 60_000 }).trim(), "1");
      const host = spawn(process.execPath, [file, "stay"], { stdio: ["ignore", "pipe", "inherit"] });
      await new Promise((resolve) => host.stdout.once("data", resolve));
      // The thread that starts the workers is their parent.
      const workers = readdirSync(`/proc/${host.pid}/task`).flatMap((thread) =>
        readFileSync(`/proc/${host.pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
      );
      host.kill("SIGKILL");
      assert.equal(workers.length > 0, isolation === "worker");
      await new Promise((resolve) => host.on("exit", resolve));
      for (let round = 0; round < 100 && workers.some((pid) => readdirSync("/proc").includes(pid)); round++)
        await new Promise((resolve) => setTimeout(resolve, 20));
      assert.ok(!workers.some((pid) => readdirSync("/proc").includes(pid)));
    });

    test("the event loop stays free while tools run", async () => {
      const work = "const execute = () => { let s = 0; for (let i = 0; i < 1e4; i++) s += i; return s }";
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 8 }, () => box.runCode(work)));
      delay.disable();
      console.log(`${isolation}: delay of the event loop, p99: ${(delay.percentile(99) / 1e6 - 5).toFixed(1)} ms`);
    });

    test("the fixtures give the same as on the command line", async () => {
      const here = await open({ dir: folder() });
      for (const { name, code, id, error, value, fuel } of onCommandLine()) {
        assert.equal((await here.create({ name, description: "A fixture", code })).id, id);
        const ran = await here.run(name, {}).catch((error) => error);
        if (error) assert.equal(ran.code, error.code, name);
        else assert.deepEqual([ran.value, ran.fuel], [value, fuel], name);
      }
      await here.close();
    });
  });

async function using(box, work) {
  try {
    await work(box);
  } finally {
    await box.close();
  }
}

let ranOnCommandLine;

/** How each fixture is stored and runs on the command line. */
function onCommandLine() {
  if (ranOnCommandLine !== undefined) return ranOnCommandLine;
  const [dir, files] = [folder(), readdirSync(join(FIXTURES, "tools")).filter((name) => name.endsWith(".js"))];
  const command = (...words) => {
    const options = { encoding: "utf8", env: { PATH: process.env.PATH, HOME: dir }, stdio: ["ignore", "pipe", "pipe"] };
    try {
      return JSON.parse(execFileSync(process.env.TOOLCELL_BINARY, ["--dir", join(dir, "store"), "--no-project", ...words, "--json"], options));
    } catch (error) {
      return JSON.parse(error.stdout || error.stderr);
    }
  };
  assert.ok(files.length > 20);
  return (ranOnCommandLine = files.map((file) => {
    const [name, code] = [file.replace(/\.js$/, ""), readFileSync(join(FIXTURES, "tools", file), "utf8")];
    const spec = join(dir, "spec.json");
    writeFileSync(spec, JSON.stringify({ name, description: "A fixture", code }));
    const { id } = command("create", spec);
    return { name, code, ...command("run", name, "{}"), id };
  }));
}
