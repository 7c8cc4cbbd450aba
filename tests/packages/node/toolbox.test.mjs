// The package for Node: runs, errors, limits, functions, hooks, approvals, cancellation, profiles, receipts, changes.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Type } from "@sinclair/typebox";
import { flameGraph, Refused, Stopped, Toolbox, ToolcellError, ToolFailed } from "toolcell";
import { z } from "zod";

const FIXTURES = process.env.FIXTURES;
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
      assert.match(replaced.text, /approved something else/);
      await box.close();
    });

    const ASK = '[grants.default]\ntimers = true\n';
    const later = { name: "later", description: "Waits", code: "const execute = () => new Promise((done) => setTimeout(done, 1))", capabilities: ["timers"] };
    const never = () => new Promise(() => {});
    const within = (promise, ms) =>
      Promise.race([promise, new Promise((_, reject) => setTimeout(() => reject(new Error(`it took more than ${ms} ms`)), ms).unref())]);

    test("an abort ends a run that waits for a person, a hook or a secret", async () => {
      let told;
      const asked = await open({ dir: folder(), policy: ASK, approver: (question, { signal }) => ((told = signal), never()) });
      await asked.create(later);
      await within(assert.rejects(asked.run("later", {}, { signal: AbortSignal.timeout(100) }), { name: "AbortError" }), 1000);
      assert.ok(told.aborted);
      const hung = await open({ hooks: [{ name: "slow", timeoutMs: 60_000, before: never }] });
      await within(assert.rejects(hung.runCode("const execute = () => 1", {}, { signal: AbortSignal.timeout(100) }), { name: "AbortError" }), 1000);
      await within(Promise.all([asked.close(), hung.close()]), 2000);
    });

    test("close ends what waits for a person", async () => {
      for (const start of [(box) => box.run("later"), (box) => box.decide({ toolName: "x", toolArgs: {} })]) {
        const hooks = [{ name: "ask", tools: ["x"], before: () => ({ permissionDecision: "ask", permissionDecisionReason: "who knows" }) }];
        const box = await open({ dir: folder(), policy: ASK, approver: never, hooks });
        await box.create(later);
        const started = start(box).then(() => {}, () => {});
        await within(box.close(), 2000);
        await within(started, 2000);
      }
    });

    test("many persons who do not answer hold up nothing else", async () => {
      const hooks = [{ name: "ask", before: () => ({ permissionDecision: "ask", permissionDecisionReason: "who knows" }) }];
      const box = await open({ hooks, approver: never });
      const waiting = Array.from({ length: 300 }, () => box.decide({ toolName: "x", toolArgs: {} }).catch(() => {}));
      const other = await within(open({}), 5000);
      await within(other.analyze("const execute = () => 1"), 5000);
      await within(Promise.all([box.close(), other.close(), ...waiting]), 5000);
    });

    test("a run whose signal is aborted already never begins", async () => {
      let calls = 0;
      const functions = { pay: () => (calls += 1) };
      const signal = AbortSignal.abort(new Error("gone"));
      for (let i = 0; i < 50; i++)
        await assert.rejects(box.runCode("const execute = () => tools.call('pay', {})", {}, { signal, functions }), { name: "AbortError", cause: signal.reason });
      assert.equal(calls, 0);
    });

    test("no function begins once its run is over, or its time", async () => {
      const busy = (ms) => {
        const end = performance.now() + ms;
        while (performance.now() < end);
      };
      for (const [options, end] of [
        [{ limits: { timeoutMs: 300 } }, () => {}],
        [{}, (run) => run.cancel()],
        [{ timeoutMs: 200 }, () => {}],
      ]) {
        let began = 0;
        const f = { execute: () => ++began, timeoutMs: options.timeoutMs };
        // The event of `f` waits behind `here`, which keeps this thread busy.
        const code = "const execute = () => Promise.all([tools.call('here', {}), tools.call('f', {})])";
        const here = () => (busy(100), end(run), busy(700));
        const run = box.runCode(code, {}, { functions: { f, here }, limits: options.limits });
        const { code: outcome, message } = await run.catch((error) => error);
        const expected = options.limits ? "timeout" : options.timeoutMs ? "tool-failed" : "cancelled";
        assert.deepEqual([outcome, began], [expected, 0], message);
        await new Promise((resolve) => setTimeout(resolve, 20));
        assert.equal(began, 0);
      }
    });

    test("a function that holds up the thread is late, and one with a very long timeout is not", async () => {
      const code = "const execute = () => tools.call('f', {})";
      const blocks = () => {
        const end = performance.now() + 300;
        while (performance.now() < end);
        return 1;
      };
      await assert.rejects(box.runCode(code, {}, { functions: { f: { execute: blocks, timeoutMs: 50 } } }), /there was no answer within 50 ms/);
      const waits = () => new Promise((resolve) => setTimeout(() => resolve(2), 50));
      assert.equal((await box.runCode(code, {}, { functions: { f: { execute: waits, timeoutMs: 2 ** 31 } } })).value, 2);
    });

    test("large answers of functions do not hold up the end of a run", async () => {
      const large = JSON.parse(JSON.stringify(Array.from({ length: 100_000 }, (_, n) => ({ id: n, name: `name ${n}` }))));
      const code = "const execute = () => Promise.all(Array.from({ length: 30 }, () => tools.call('f', {})))";
      const { code: outcome, run } = await box.runCode(code, {}, { functions: { f: () => large }, limits: { timeoutMs: 300 } }).catch((error) => error);
      assert.equal(outcome, "timeout");
      console.log(`${isolation}: 30 answers of 3 MB, of a run with a limit of 300 ms: ${run.durationMs.toFixed(0)} ms`);
      // To parse and check all of them takes more than 5 s.
      assert.ok(run.durationMs < 3000);
    });

    test("a stack that the application prepares does not keep a run from its end", async () => {
      const prepare = Error.prepareStackTrace;
      Error.prepareStackTrace = (error) => error.message.notThere.at(0);
      try {
        await assert.rejects(box.runCode("const execute = () => { throw new Error('x') }"), { code: "tool-failed" });
      } finally {
        Error.prepareStackTrace = prepare;
      }
    });

    test("functions run in the context of the call, hooks in none", async () => {
      const storage = new AsyncLocalStorage();
      const seen = [];
      const hooks = [{ name: "look", before: () => void seen.push(storage.getStore()) }];
      const box = await storage.run("open", () => open({ hooks }));
      const functions = { look: () => storage.getStore() };
      for (const request of ["one", "two"]) {
        const ran = await storage.run(request, () => box.runCode("const execute = () => tools.call('look', {})", {}, { functions }));
        assert.equal(ran.value, request);
      }
      assert.deepEqual(seen, [undefined, undefined]);
      await box.close();
    });

    test("what is no verdict denies", async () => {
      for (const answer of [new Error("deny"), new Map([["permissionDecision", "deny"]]), /deny/, [], "deny", 1, { permissionDecision: undefined }]) {
        const box = await open({ hooks: [{ name: "odd", before: () => answer }] });
        await assert.rejects(box.runCode("const execute = () => 1"), Refused);
        await box.close();
      }
      await assert.rejects(open({ hooks: [{ name: "x", tool: ["bash"], before() {} }] }), /no option `tool`/);
      await assert.rejects(open({ hooks: [{ name: "x", atfer() {} }] }), /no option `atfer`/);
    });

    test("leaving an iteration cancels while it waits, and two readers both end", async () => {
      const spin = `export default () => ({ name: "spin", description: "", parameters: {}, execute(id, p, onUpdate) { onUpdate(1); for (;;) {} } })`;
      const run = box.runCode(spin);
      const iterator = run[Symbol.asyncIterator]();
      assert.deepEqual(await iterator.next(), { done: false, value: 1 });
      const next = iterator.next();
      await within(iterator.return(), 1000);
      assert.deepEqual(await next, { done: true, value: undefined });
      await within(assert.rejects(run, { name: "AbortError" }), 1000);
      const shared = box.runCode(STEPS, { n: 3 });
      const read = async () => {
        for await (const _ of shared);
      };
      await within(Promise.all([read(), read(), shared]), 2000);
      // One that fails says so to who only iterates.
      const failing = box.runCode("const execute = () => { throw new Error('lost') }");
      await assert.rejects(async () => {
        for await (const _ of failing);
      }, /lost/);
    });

    test("values that JSON would lose are errors that say where", async () => {
      const cases = [
        [{ m: new Map() }, /params\.m is a Map/],
        [{ list: [1, NaN] }, /params\.list\[1\] is NaN/],
        [{ b: new Uint8Array(1) }, /params\.b is a Uint8Array/],
        [{ f() {} }, /params\.f is a function/],
        [{ get g() { throw new Error("no") } }, /params cannot be read: Error: no/],
        [new Map(), /params is a Map/],
      ];
      for (const [params, message] of cases) assert.throws(() => box.runCode("const execute = (p) => p", params), message);
      const at = new Date(0);
      assert.deepEqual((await box.runCode("const execute = (p) => p", { at, nothing: undefined })).value, { at: at.toISOString() });
      for (const limits of [null, [1], { fuel: NaN }, { fuel: -1 }, { feul: 1 }, { timeoutMs: 0 }])
        assert.throws(() => box.runCode("const execute = () => 1", {}, { limits }), TypeError);
    });

    test("functions of objects keep their object, and the cause is what the tool failed with", async () => {
      class Service {
        #factor = 3;
        name = "service";
        execute({ n }) {
          return this.#factor * n;
        }
      }
      const call = "const execute = ({ n }) => tools.call('triple', { n })";
      assert.equal((await box.runCode(call, { n: 2 }, { functions: { triple: new Service() } })).value, 6);
      const functions = { fail() { throw new Error("inner") } };
      const own = "const execute = async () => { try { await tools.call('fail', {}) } catch {} throw new Error('mine') }";
      await assert.rejects(box.runCode(own, {}, { functions }), (error) => error.cause === undefined && error.stack.includes("toolbox.test.mjs"));
      const rethrown = "const execute = async () => { try { await tools.call('fail', {}) } catch (error) { throw error } }";
      await assert.rejects(box.runCode(rethrown, {}, { functions }), (error) => error.cause?.message === "inner");
      assert.deepEqual((await box.runCode("const execute = () => tools.call('keys', JSON.parse('{\"__proto__\":{\"a\":1},\"b\":2}'))", {}, { functions: { keys: (p) => Object.keys(p) } })).value, ["b"]);
      await assert.rejects(box.runCode(STEPS, { n: 1 }, { onUpdate: async () => { throw new Error("update") } }), /update/);
    });

    test("a toolbox that fails to open lets the process end", async () => {
      const code = `import { Toolbox } from "toolcell"; await Toolbox.open({ lang: "xx", isolation: "${isolation}" }).catch(() => {}); await Toolbox.open({ slots: 1n }).catch(() => console.log("end"));`;
      const file = join(process.cwd(), `open-${isolation}.mjs`);
      writeFileSync(file, code);
      assert.equal(execFileSync(process.execPath, [file], { encoding: "utf8", timeout: 20_000 }), "end\n");
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
        [() => box.runCode(TWICE, {}, { limits: { fuel: "x" } }), /limits\.fuel is x/],
        [() => box.runCode(TWICE, {}, null), /options of runCode are null/],
        [() => box.runCode(TWICE, {}, { signal: 5 }), /signal is a number/],
        [() => box.runCode(TWICE, {}, { caller: { who: 1 } }), /caller has no option `who`/],
        [() => box.runCode(TWICE, {}, { profile: "yes" }), /profile is a string, it must be a boolean/],
        [() => box.replay(5), /receipt is a number/],
        [() => box.replay("{}", { anyVersion: 1 }), /anyVersion is a number/],
        [() => box.changes({ signal: 5 }), /signal is a number/],
        [() => box.changes({ signal: { aborted: false, addEventListener() {} } }), /signal is an object/],
        [() => box.changes({ every: 5 }), /changes has no option `every`/],
        [() => flameGraph(), /profile is undefined, it must be the profile of a run/],
        [() => flameGraph("{}"), /profile is a string/],
        [() => flameGraph({ value: 1, fuel: 1 }), /profile is an object, it must be the profile of a run/],
        [() => box.create(), /the tool is undefined/],
        [() => box.approve(), /a tool is approved by/],
        [() => open({ dir: FIXTURES }), /has other files in it/],
        [() => open({ hooks: [{ name: "a", before() {} }, { name: "a", before() {} }] }), /two hooks are named `a`/],
        [() => open({ hooks: [{ name: "a", before: 5 }] }), /`before` of the hook `a` is a number/],
        [async () => using(await open({}), (box) => box.list()), /has no store, which `list` needs/],
        [async () => using(await open({}), (box) => box.changes()), /has no store, which `changes` needs/],
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
        for (const [n, says] of [[1, /not one/], [3, /broken/], [4, /300 ms/], [5, /answered a string that is no plain object/]])
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

    test("rules about flows hold for the labels that a caller says, and ask the approver", async () => {
      const policy = `[approval]\nmode = "auto"\n[grants.default.kv]\nspace = "notes"\n
        [[flows]]\nfrom = ["server:mail", "tool:keep"]\nto = ["kv:notes:writes"]\ndo = "ask"\n`;
      const code = "const execute = async ({ text }) => { await kv.set('a', text); return kv.get('a') }";
      const answers = [false, true];
      const asked = [];
      const approver = async (question) => (asked.push(question), answers.shift());
      await using(await open({ dir: folder(), policy, approver }), async (box) => {
        await box.create({ name: "keep", description: "Keeps a text", code, capabilities: ["kv"] });
        const first = await box.run("keep", { text: "one" }, { labels: [] });
        assert.deepEqual([first.value, asked.length, [...first.labels].sort()], ["one", 0, ["caller", "kv:notes", "tool:keep"]]);
        await assert.rejects(box.run("keep", { text: "two" }, { labels: first.labels }), (error) => {
          assert.match(error.message, /which was refused/);
          return error.run.labels.includes("tool:keep");
        });
        assert.deepEqual([asked[0].askedBy, asked[0].parameters.kind, asked[0].parameters.from], ["flows[0]", "kv.commit", ["tool:keep"]]);
        assert.equal((await box.run("keep", { text: "three" }, { labels: ["server:mail.read"] })).value, "three");
        await assert.rejects(async () => box.run("keep", { text: "x" }, { labels: "server:mail" }), TypeError);
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

    test("a profile adds up to the fuel of the same run, and is drawn", async () => {
      const code = `function work(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s += i;
  return s;
}
const execute = ({ n }) => work(n)`;
      await box.create({ name: "work", description: "Works", code });
      for (const [run, tool] of [
        [(options) => box.run("work", { n: 20_000 }, options), "work"],
        [(options) => box.runCode(code, { n: 20_000 }, options), "code"],
      ]) {
        const plain = await run({});
        const { value, fuel, profile } = await run({ profile: true });
        assert.deepEqual([value, fuel, plain.profile], [plain.value, plain.fuel, undefined]);
        const { engine, otherTools, unattributed } = profile.outside;
        const own = profile.functions.reduce((sum, { own }) => sum + own, 0);
        assert.deepEqual([own + engine + otherTools + unattributed, profile.fuel, profile.tool, profile.outcome], [fuel, fuel, tool, "returned"]);
        assert.deepEqual(profile.functions.filter(({ name }) => name === "work").map(({ home, line }) => [home, line]), [["tool", 1]]);
        const hottest = profile.lines.reduce((one, other) => (other.own > one.own ? other : one));
        assert.deepEqual([hottest.line, hottest.text], [3, "for (let i = 0; i < n; i++) s += i;"]);
        const drawn = flameGraph(profile);
        assert.ok(drawn.startsWith("<?xml") && drawn.trimEnd().endsWith("</svg>") && drawn.includes("<title>work ("));
        assert.equal(flameGraph(JSON.parse(JSON.stringify(profile))), drawn);
        const isInvalid = (error) => error instanceof Refused && error.code === "profile-invalid";
        for (const nonsense of [{ ...profile, tool: undefined }, { ...profile, fuel: fuel + 1 }, { ...profile, format: "other" }, { ...profile, stacks: [{ frames: [[999, 0]], fuel }] }])
          assert.throws(() => flameGraph(nonsense), isInvalid);
      }
      // Also of a run that is stopped.
      const stopped = await box.runCode(SPIN, {}, { profile: true, limits: { fuel: 1_000_000 } }).catch((error) => error);
      assert.deepEqual([stopped.code, stopped.run.profile.outcome, stopped.run.profile.fuel], ["out-of-fuel", "out-of-fuel", stopped.run.fuel]);
    });

    test("the names of functions in a flame graph are text", async () => {
      const name = "<script>alert(1)</script>&\"'\u0001";
      const code = `const o = { [${JSON.stringify(name)}](n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s } };
const execute = ({ n }) => o[${JSON.stringify(name)}](n)`;
      const { profile } = await box.runCode(code, { n: 20_000 }, { profile: true });
      assert.ok(profile.functions.some((one) => one.name === name));
      const drawn = flameGraph(profile);
      assert.ok(drawn.includes("&lt;script") && !drawn.includes("<script>alert") && !drawn.includes("\u0001"));
    });

    test("a receipt is replayed anywhere, and one that was changed nowhere", async () => {
      await box.create({ name: "echo", description: "Says it again", code: "const execute = ({ text }) => { if (text === 'no') throw new RangeError(text); return text }" });
      const { receipt, fuel, toolId } = await box.run("echo", { text: "Hello World" }, { receipt: true });
      const here = await box.replay(receipt);
      assert.deepEqual([here.reproduced, here.signedHere, here.outcome, here.value], [true, true, "returned", "Hello World"]);
      assert.deepEqual([here.fuel, here.toolId, here.differences, here.notes], [fuel, toolId, [], []]);
      assert.match(here.text, /reproduced/);
      const failed = await box.run("echo", { text: "no" }, { receipt: true }).catch((error) => error);
      const again = await box.replay(failed.run.receipt, { anyVersion: true });
      assert.deepEqual([again.reproduced, again.outcome, "value" in again], [true, "threw", false]);
      await using(await open({}), async (box) => {
        const elsewhere = await box.replay(receipt);
        assert.deepEqual([elsewhere.reproduced, elsewhere.signedHere, elsewhere.signedBy], [true, false, here.signedBy]);
        await assert.rejects(box.replay(receipt.replace("Hello", "Jello")), { code: "receipt-changed" });
        await assert.rejects(box.replay("{}"), { code: "receipt-invalid" });
      });
    });

    test("changes of tools and approvals are seen, those of another toolbox too", async () => {
      const dir = folder();
      const [here, there] = [await open({ dir }), await open({ dir })];
      const ended = { done: true, value: undefined };
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const changes = here.changes()[Symbol.asyncIterator]();
      let hasChanged = false;
      const next = () => {
        hasChanged = false;
        return changes.next().then((step) => ((hasChanged = true), step));
      };
      const first = next();
      // When the first look is over, nobody says.
      for (let n = 0; n < 100 && !hasChanged; n++) {
        await there.create({ name: `tool_${n}`, description: "A tool", code: `const execute = () => ${n}` });
        await pause(100);
      }
      assert.deepEqual(await within(first, 5000), { done: false, value: undefined });
      // The tools that were created since may be another change. A run is none.
      let second = next();
      await pause(1200);
      if (hasChanged) second = (await second, next());
      await there.run("tool_0");
      await pause(1200);
      assert.equal(hasChanged, false);
      await there.refuse("tool_0");
      assert.deepEqual(await within(second, 5000), { done: false, value: undefined });
      const third = next();
      await within(changes.return(), 1000);
      assert.deepEqual(await third, ended);
      const controller = new AbortController();
      const aborted = here.changes({ signal: controller.signal })[Symbol.asyncIterator]().next();
      controller.abort();
      assert.deepEqual(await within(aborted, 1000), ended);
      const closed = here.changes()[Symbol.asyncIterator]();
      const last = closed.next();
      await pause(200);
      await here.close();
      assert.deepEqual(await within(last, 1000), ended);
      for await (const _ of here.changes()) assert.fail("a closed toolbox has no changes");
      for await (const _ of there.changes({ signal: AbortSignal.abort() })) assert.fail("it was aborted before it began");
      await there.close();
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
