// The package for Node: effects that are decided while the run waits, suspended runs, functions that answer later.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { defer, Refused, SuspendedRun, Toolbox } from "toolcell";

const POLICY = '[approval]\nmode = "auto"\n[grants.default]\ntools = ["ask"]\n[grants.default.kv]\nspace = "notes"\n';
const TOOLS = [
  {
    name: "note",
    capabilities: ["kv"],
    code: "const execute = async ({ text }) => { await kv.set('note', text); return kv.get('note') }",
  },
  {
    name: "both",
    capabilities: ["kv"],
    code: "const execute = async () => (await Promise.allSettled([kv.set('a', 1), kv.set('b', 2)])).map(({ reason }) => reason?.code ?? 'done')",
  },
  {
    name: "tries",
    capabilities: ["kv"],
    code: "const execute = async () => { for (const key of ['a', 'b']) try { await kv.set(key, 1) } catch {} }",
  },
  { name: "look", capabilities: ["kv"], code: "const execute = async ({ key }) => (await kv.get(key)) ?? null" },
  {
    name: "asks",
    capabilities: ["tools"],
    code: "const execute = async ({ n }) => { try { return await tools.call('ask', { n }) } catch (error) { return [error.code, error.message] } }",
  },
  {
    name: "steps",
    capabilities: ["kv"],
    code: `export default () => ({
      name: "steps", description: "Counts", parameters: {},
      async execute(id, params, onUpdate) { onUpdate(1); await kv.set("step", 1); onUpdate(2); return "done" },
    })`,
  },
];
const folder = () => mkdtempSync(join(tmpdir(), "toolcell-"));
const never = () => new Promise(() => {});
const later = { effectApprover: () => "later" };
const within = (promise, ms) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(() => reject(new Error(`it took more than ${ms} ms`)), ms).unref())]);

async function using(box, work) {
  try {
    await work(box);
  } finally {
    await box.close();
  }
}

for (const isolation of ["process", "worker"])
  describe(isolation, () => {
    let box;
    const open = (options) => Toolbox.open({ isolation, policy: POLICY, ...options });
    /** Opens a toolbox on a new folder, with the tools above. */
    const openNew = async (options) => {
      const box = await open({ dir: folder(), ...options });
      for (const tool of TOOLS) await box.create({ description: "A tool", ...tool });
      return box;
    };
    const look = async (box, key) => (await box.run("look", { key })).value;
    before(async () => (box = await openNew()));
    after(() => box.close());

    test("a run is suspended over an effect, and resumed once, in the same toolbox", async () => {
      let asked;
      const suspended = await box.runSuspendable("note", { text: "milk" }, { effectApprover: (held) => ((asked = held), "later") });
      assert.ok(suspended instanceof SuspendedRun);
      const [held] = suspended.held;
      assert.deepEqual(suspended.held, asked);
      assert.deepEqual([suspended.toolName, suspended.tickets, suspended.held.length], ["note", [], 1]);
      assert.deepEqual([held.toolName, held.toolId, held.position], ["note", suspended.toolId, 1]);
      assert.deepEqual([held.kind, held.about, held.bytes, held.display], ["kv.commit", "note", 0, "note: kv.commit note"]);
      assert.match(JSON.stringify(held.details), /"milk"/);
      assert.match(held.digest, /^[0-9a-f]{64}$/);
      assert.ok(suspended.bytes > 0 && suspended.record);
      assert.equal(await look(box, "note"), null);
      const [listed, ...others] = await box.suspended();
      assert.deepEqual([listed.run, listed.toolId, listed.toolName, listed.caller], [suspended.run, suspended.toolId, "note", "node"]);
      assert.ok(others.length === 0 && listed.bytes === suspended.bytes && Math.abs(Date.now() - listed.since.getTime()) < 60_000);
      // Nobody decides, so it is suspended again.
      const again = await box.resume(listed);
      assert.ok(again instanceof SuspendedRun && again.run === suspended.run);
      assert.equal(again.held[0].digest, held.digest);
      const ran = await box.resume(suspended, { effectApprover: async () => [true] });
      assert.deepEqual([ran.value, ran.effects, ran.toolName, await look(box, "note")], ["milk", "committed", "note", "milk"]);
      assert.ok(!(ran instanceof SuspendedRun) && ran.fuel > 0 && ran.record);
      assert.deepEqual(await box.suspended(), []);
      await assert.rejects(box.resume(suspended, later), (error) => error instanceof Refused && error.code === "run-not-asleep");
      await assert.rejects(box.resume("nonsense"), { code: "run-not-asleep" });
    });

    test("a run is resumed in a toolbox opened anew, and in another process", async () => {
      const dir = folder();
      const runs = [];
      await using(await openNew({ dir }), async (box) => {
        for (const text of ["milk", "tea"]) runs.push((await box.runSuspendable("note", { text }, later)).run);
      });
      await using(await open({ dir }), async (box) => {
        assert.deepEqual((await box.suspended()).map(({ run }) => run).sort(), [...runs].sort());
        assert.equal((await box.resume(runs[0], { effectApprover: () => true })).value, "milk");
      });
      const file = join(process.cwd(), `resume-${isolation}.mjs`);
      writeFileSync(file, `
        import { Toolbox } from "toolcell";
        const [dir, policy, run] = process.argv.slice(2);
        const box = await Toolbox.open({ dir, policy, isolation: ${JSON.stringify(isolation)} });
        console.log((await box.resume(run, { effectApprover: () => true })).value);
        await box.close();`);
      const said = execFileSync(process.execPath, [file, dir, POLICY, runs[1]], { encoding: "utf8", timeout: 60_000 });
      assert.equal(said.trim(), "tea");
    });

    test("an approver that decides later resumes the run itself, as often as it takes", async () => {
      await using(await openNew(), async (box) => {
        let count = 0;
        const ended = new Promise((resolve, reject) => {
          const effectApprover = () => {
            if (++count > 8) return true;
            const resume = async () => {
              let listed = [];
              while (listed.length === 0) listed = await box.suspended();
              const ended = await box.resume(listed[0], { effectApprover });
              if (!(ended instanceof SuspendedRun)) resolve(ended.value);
            };
            setTimeout(() => resume().catch(reject));
            return "later";
          };
          box.runSuspendable("note", { text: "milk" }, { effectApprover }).catch(reject);
        });
        assert.equal(await within(ended, 30_000), "milk");
      });
    });

    test("an effect that is refused after a suspension does not happen", async () => {
      const suspended = await box.runSuspendable("both", {}, later);
      assert.deepEqual(suspended.held.map(({ about }) => about).sort(), ["a", "b"]);
      const ran = await box.resume(suspended.run, { effectApprover: (held) => held.map(() => false) });
      assert.deepEqual(ran.value, ["effect-not-approved", "effect-not-approved"]);
      assert.deepEqual([await look(box, "a"), await look(box, "b")], [null, null]);
    });

    test("a run that needs no decision is not suspended", async () => {
      const ran = await box.runSuspendable("note", { text: "bread" });
      assert.deepEqual([ran.value, ran instanceof SuspendedRun], ["bread", false]);
      await assert.rejects(box.runSuspendable("nothing"), { code: "tool-not-found" });
    });

    test("an effect approver of a plain run performs some effects and refuses others", async () => {
      await using(await openNew(), async (box) => {
        const asked = [];
        const ran = await box.run("both", {}, { effectApprover: (held) => (asked.push(held.length), held.map(({ about }) => about === "b")) });
        assert.deepEqual([ran.value, asked], [["effect-not-approved", "done"], [2]]);
        assert.deepEqual([await look(box, "a"), await look(box, "b")], [null, 2]);
        for (const [answer, outcome] of [[false, "effect-not-approved"], ["later", "effect-not-approved"], [true, "done"]])
          assert.deepEqual((await box.run("both", {}, { effectApprover: async () => answer })).value, [outcome, outcome]);
        assert.deepEqual([await look(box, "a"), await box.suspended()], [1, []]);
        // It may run tools itself, and reading is no effect.
        const busy = async () => (await box.runCode("const execute = () => true")).value;
        assert.equal((await box.run("note", { text: "eggs" }, { effectApprover: busy })).value, "eggs");
        await box.run("look", { key: "a" }, { effectApprover: () => assert.fail("reading is no effect") });
      });
    });

    test("an effect approver that fails performs nothing, and its error is the caller's", async () => {
      await using(await openNew(), async (box) => {
        const mine = new RangeError("mine");
        for (const [effectApprover, says] of [
          [() => { throw mine; }, (error) => error === mine],
          [async () => { throw mine; }, (error) => error === mine],
          [() => { throw null; }, (error) => error === null],
          [() => "yes", /TypeError: the effect approver answered "yes", it must answer true, false or "later"/],
          [() => {}, /answered undefined/],
          [() => 1, /answered a number/],
          [() => ({ decision: true }), /answered an object/],
          [() => [], /answered with an array of 0 about 2 effects/],
          [() => [true], /answered with an array of 1 about 2 effects/],
          [() => [true, true, true], /answered with an array of 3 about 2 effects/],
          [() => [true, "no"], /answered "no" about effect 2 of 2/],
          [() => Array(2), /answered undefined about effect 1 of 2/],
        ]) {
          await assert.rejects(box.run("both", {}, { effectApprover }), says);
          assert.deepEqual(await box.suspended(), []);
          await assert.rejects(box.runSuspendable("both", {}, { effectApprover }), says);
          const [{ run }, ...others] = await box.suspended();
          assert.equal(others.length, 0);
          await assert.rejects(box.resume(run, { effectApprover }), says);
          const ran = await box.resume(run, { effectApprover: () => false });
          assert.deepEqual(ran.value, ["effect-not-approved", "effect-not-approved"]);
          assert.deepEqual([await look(box, "a"), await look(box, "b"), await box.suspended()], [null, null, []]);
        }
      });
    });

    test("an effect approver that has failed is not asked again", async () => {
      let asked = 0;
      const effectApprover = () => {
        asked++;
        throw new Error("it failed");
      };
      await assert.rejects(box.run("tries", {}, { effectApprover }), /it failed/);
      assert.deepEqual([asked, await look(box, "a"), await look(box, "b")], [1, null, null]);
    });

    test("an abort ends a run within a second while its effects are decided", async () => {
      const salt = { text: "salt" };
      const isAbort = ({ name, code, cause }) => name === "AbortError" && code === "cancelled" && cause.message === "enough";
      for (const start of [
        (options) => box.run("note", salt, options),
        (options) => box.runSuspendable("note", salt, options),
        async (options) => box.resume(await box.runSuspendable("note", salt, later), options),
      ])
        // An approver that gives up on the abort is not what failed.
        for (const giveUp of [() => {}, (reject) => reject(new Error("gave up"))]) {
          const controller = new AbortController();
          let told, aborted;
          const abort = () => {
            aborted = performance.now();
            controller.abort(new Error("enough"));
          };
          const effectApprover = (held, { signal }) => {
            told = signal;
            setTimeout(abort, 50);
            return new Promise((_, reject) => signal.addEventListener("abort", () => giveUp(reject)));
          };
          await within(assert.rejects(start({ signal: controller.signal, effectApprover }), isAbort), 20_000);
          assert.ok(told.aborted && performance.now() - aborted < 1000);
        }
      const run = box.run("note", salt, { effectApprover: () => (setTimeout(() => run.cancel(), 50), never()) });
      await within(assert.rejects(run, { name: "AbortError" }), 20_000);
      assert.notEqual(await look(box, "note"), "salt");
      // A run that was resumed, and went no further, is not lost.
      const left = await box.suspended();
      assert.equal(left.length, 2);
      for (const run of left) await assert.rejects(box.resume(run, { effectApprover: () => false }), { code: "tool-failed" });
      assert.deepEqual(await box.suspended(), []);
    });

    test("close ends a run whose effects are decided", async () => {
      const box = await openNew();
      const asked = new Promise((resolve) => {
        box.run("note", { text: "salt" }, { effectApprover: () => (resolve(), never()) }).catch(() => {});
      });
      await within(asked, 20_000);
      await within(box.close(), 2000);
    });

    test("partial results come before and after a suspension", async () => {
      const updates = [];
      const run = box.runSuspendable("steps", {}, later);
      for await (const update of run) updates.push(update);
      const ended = box.resume(await run, { effectApprover: () => true, onUpdate: (update) => updates.push(update) });
      assert.deepEqual([(await ended).value, updates], ["done", [1, 2]]);
    });

    test("a function answers later: with a value, with an error, with what it does not declare", async () => {
      const dir = folder();
      const asked = [];
      const ask = { execute: ({ n }) => (asked.push(n), defer(`job ${n}`)), result: { type: "number" }, readOnly: true };
      const functions = { ask };
      let first;
      await using(await openNew({ dir, functions }), async (box) => {
        first = await box.runSuspendable("asks", { n: 1 });
        assert.deepEqual([first.tickets, first.held], [[{ function: "ask", ticket: "job 1" }], []]);
        // Without an answer it is suspended again, and a wrong ticket leaves it as it is.
        assert.deepEqual((await box.resume(first)).tickets, first.tickets);
        await assert.rejects(box.resume(first, { answers: { "job 7": 1 } }), { code: "ticket-unknown" });
        for (const [n, answer, says] of [
          [2, new RangeError("gone"), ["function-failed", /RangeError: gone/]],
          [3, "many", ["function-result", /does not match/]],
          [5, new Error("half \ud800"), ["function-failed", /Error: half \ufffd/]],
        ]) {
          const { run } = await box.runSuspendable("asks", { n });
          const [code, message] = (await box.resume(run, { answers: { [`job ${n}`]: answer } })).value;
          assert.equal(code, says[0]);
          assert.match(message, says[1]);
        }
        assert.equal((await box.run("asks", { n: 4 })).value[0], "function-later");
      });
      await using(await open({ dir, functions }), async (box) => {
        const ran = await box.resume(first.run, { answers: { "job 1": 10 } });
        assert.deepEqual([ran.value, asked], [10, [1, 2, 3, 5, 4]]);
        await assert.rejects(box.resume(first.run, { answers: { "job 1": 10 } }), { code: "run-not-asleep" });
      });
    });

    test("a function of one run answers later too", async () => {
      const functions = { ask: { execute: async () => defer("job"), readOnly: true } };
      const suspended = await box.runSuspendable("asks", { n: 1 }, { functions });
      assert.deepEqual(suspended.tickets, [{ function: "ask", ticket: "job" }]);
      const ran = await box.resume(suspended, { functions, answers: { job: { prices: [1, null], escaped: "\\ud800 \u{1f375}" } } });
      assert.deepEqual(ran.value, { prices: [1, null], escaped: "\\ud800 \u{1f375}" });
      // What is deferred is the whole result.
      const part = { ask: () => ({ later: defer("job") }) };
      assert.match((await box.run("asks", { n: 1 }, { functions: part })).value[1], /the whole result/);
    });

    test("suspended runs and tickets of another copy of the package are recognised", async () => {
      const require = createRequire(import.meta.url);
      const path = require.resolve("toolcell").replace("index.cjs", "suspend.cjs");
      delete require.cache[path];
      const copy = require(path);
      assert.notEqual(copy.SuspendedRun, SuspendedRun);
      const functions = { ask: { execute: () => copy.defer("job"), readOnly: true } };
      const suspended = await box.runSuspendable("asks", { n: 1 }, { functions });
      const copied = new copy.SuspendedRun(suspended);
      assert.ok(copied instanceof SuspendedRun && suspended instanceof copy.SuspendedRun && !({ ...suspended } instanceof SuspendedRun));
      assert.equal((await box.resume(copied, { functions, answers: { job: 1 } })).value, 1);
    });

    test("wrong types name the argument", async () => {
      for (const [call, says] of [
        [() => box.run("note", {}, { effectApprover: true }), /effectApprover is a boolean, it must be a function/],
        [() => box.runCode("const execute = () => 1", {}, later), /runCode has no option `effectApprover`/],
        [() => box.runSuspendable("note", {}, { receipt: true }), /runSuspendable has no option `receipt`/],
        [() => box.runSuspendable("note", {}, { profile: true }), /runSuspendable has no option `profile`/],
        [() => box.runSuspendable(5), /tool is a number/],
        [() => box.runSuspendable("note", [1]), /params is an array/],
        [() => box.resume(5), /run is a number, it must be the identifier of a run, a SuspendedRun, or what `suspended` lists/],
        [() => box.resume({ run: 5 }), /run is an object/],
        [() => box.resume(Promise.resolve("r")), /run is a promise: await it/],
        [() => box.resume("r", null), /the options of resume are null/],
        [() => box.resume("r", { limits: {} }), /resume has no option `limits`/],
        [() => box.resume("r", { answers: [1] }), /answers is an array, it must be a plain object of answers by ticket/],
        [() => box.resume("r", { answers: new Map() }), /answers is an object/],
        [() => box.resume("r", { answers: Promise.resolve({}) }), /answers is an object/],
        [() => box.resume("r", { answers: { job: ["\\\ud800"] } }), /answers\.job has half a character/],
        [() => box.resume("r", { answers: { "\udfff": 1 } }), /has half a character/],
        [() => box.resume("r", { answers: { job: { at: [1n] } } }), /answers\.job\.at\[0\] is a bigint/],
        [() => box.resume("r", { answers: { job: undefined } }), /answers\.job is undefined/],
        [() => defer(5), /ticket is a number/],
        [() => defer(""), /ticket is empty/],
        [() => defer("\ud800"), /ticket has half a character/],
      ])
        await assert.rejects(async () => call(), (error) => error instanceof TypeError && says.test(error.message));
      await using(await Toolbox.open({ isolation }), async (box) => {
        for (const [call, name] of [
          [() => box.runSuspendable("note"), "runSuspendable"],
          [() => box.resume("r"), "resume"],
          [() => box.suspended(), "suspended"],
        ])
          await assert.rejects(call, (error) => error.message.includes(`has no store, which \`${name}\` needs`));
      });
    });
  });
