// The processes, threads and runtimes that the package for Node lives in: signals, clusters, worker threads, ends at any time,
// and the event loop meanwhile.

import assert from "node:assert/strict";
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { Toolbox } from "toolcell";

const FIXTURES = process.env.FIXTURES;
const ROUNDS = Number(process.env.TOOLCELL_ROUNDS ?? 4);
const TWICE = "const execute = ({ n }) => 2 * n";
const SPIN = "const execute = () => { for (;;) {} }";
const BUN = join(process.cwd(), "node_modules/@oven/bun-linux-x64-baseline/bin/bun");
const RESOLUTION_MS = 5;
/** How late an event loop may be half of the time, more than an idle one: one that waits for runs never gets to its timers. */
const MAX_LATE_MS = 20;
/** What spins has a deadline of 30 s. */
const MAX_END_MS = 10_000;

/** Each process that has not ended, with its parent and its session. */
function processes() {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const [state, parent, , session] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1).split(" ");
      return state === "Z" ? [] : [{ pid: Number(name), parent: Number(parent), session: Number(session) }];
    } catch {
      return [];
    }
  });
}
const childrenOf = (pid) => processes().filter(({ parent }) => parent === pid).map(({ pid }) => pid);
const sessionOf = (leader) => processes().filter(({ session }) => session === leader).map(({ pid }) => pid);
function endSession(leader) {
  for (const pid of sessionOf(leader))
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // It has ended by itself.
      assert.equal(error.code, "ESRCH");
    }
}
const livingOf = (pids) => processes().map(({ pid }) => pid).filter((pid) => pids.includes(pid));

/** What the open files of a process are, without the one that reads them. */
const filesOf = (pid) =>
  readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      return [];
    }
  }).sort();
const descriptors = () => filesOf("self");

/** Whether something that the kernel, or another process, is about to do gets done. */
async function eventually(holds) {
  for (let round = 0; round < 500; round++) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  return false;
}

/** A program that finds the package, in a file. */
function program(name, source) {
  const file = join(process.cwd(), `${name}.mjs`);
  writeFileSync(file, `import { Toolbox } from "toolcell";\n${source}`);
  return file;
}

/** Starts a program in a session of its own, so that what it leaves is found. */
function start(command, ...words) {
  const child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  child.printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) child[stream].setEncoding("utf8").on("data", (text) => (child.printed[stream] += text));
  child.ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...child.printed }));
  return child;
}
async function ran(command, ...words) {
  const child = start(command, ...words);
  const ended = await child.ended;
  assert.ok(await eventually(() => sessionOf(child.pid).length === 0), `${sessionOf(child.pid)} are left`);
  return ended;
}

/** How late the event loop is, in milliseconds. */
const late = (delay, percentile) => Math.max(0, delay.percentile(percentile) / 1e6 - RESOLUTION_MS);

/** Measures how late the event loop of this thread is meanwhile, and that of a process that has nothing to do. */
async function delaysOf(work) {
  const file = program("idle", `
    import { monitorEventLoopDelay } from "node:perf_hooks";
    const delay = monitorEventLoopDelay({ resolution: ${RESOLUTION_MS} });
    delay.enable();
    process.on("message", () => process.send(delay.percentile(99) / 1e6 - ${RESOLUTION_MS}, () => process.disconnect()));
    process.send("measures");`);
  const idle = fork(file);
  await once(idle, "message");
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  await work();
  delay.disable();
  idle.send("end");
  const [machine] = await once(idle, "message");
  return { loop: { p50: late(delay, 50), p99: late(delay, 99) }, machine: Math.max(0, machine) };
}

const inRuntimes = (file) => ({
  "Node, main thread": () => ran(process.execPath, file),
  "Node, worker thread": () => ran(process.execPath, program("thread", `new (await import("node:worker_threads")).Worker(${JSON.stringify(file)});`)),
  "Bun, main thread": () => ran(BUN, file),
  "Bun, worker thread": () => ran(BUN, program("thread", `new (await import("node:worker_threads")).Worker(${JSON.stringify(file)});`)),
});

for (const isolation of ["process", "worker"])
  describe(isolation, () => {
    const open = (options) => Toolbox.open({ isolation, ...options });
    const opened = `const open = () => Toolbox.open({ isolation: ${JSON.stringify(isolation)} });\n`;

    test("no handler of a signal is installed", async () => {
      // The C library has two of its own, above 31.
      const file = program(`handlers-${isolation}`, `${opened}
        import { readFileSync } from "node:fs";
        const caught = () => BigInt("0x" + readFileSync("/proc/self/status", "utf8").match(/SigCgt:\\s*(\\w+)/)[1]) & 0x7fffffffn;
        const before = caught();
        const box = await open();
        await box.runCode(${JSON.stringify(TWICE)}, { n: 1 });
        const during = caught();
        await box.close();
        console.log(before === during && during === caught());`);
      for (const [runtime, run] of Object.entries(inRuntimes(file))) {
        const { code, signal, stdout, stderr } = await run();
        assert.deepEqual([code, signal, stdout], [0, null, "true\n"], `${runtime}: ${stderr}`);
      }
    });

    test("what once raised signals leaves the host alone, in Node and in Bun, on their main and on a worker thread", async () => {
      const sources = ["memory-error-stacks.js", "serialise-proxy-own-keys-32-bit-overflow.js"].map((name) => join(FIXTURES, "hostile", name));
      const file = program(`signals-${isolation}`, `${opened}
        import { readFileSync } from "node:fs";
        const box = await open();
        const codes = {};
        const overflow = () => overflow() + 1;
        for (const source of ${JSON.stringify(sources)}.map((file) => readFileSync(file, "utf8")))
          for (let round = 0; round < ${ROUNDS}; round++) {
            const { code } = await box.runCode(source, {}, { limits: { memoryMb: 24, timeoutMs: 60_000 } }).catch((error) => error);
            codes[code] = (codes[code] ?? 0) + 1;
            // The engine of the host has overflows of its own.
            try { overflow() } catch {}
          }
        console.log(JSON.stringify([codes, (await box.runCode(${JSON.stringify(TWICE)}, { n: 2 })).value]));
        await box.close();`);
      const took = async ([runtime, run]) => {
        const began = performance.now();
        const { code, signal, stdout, stderr } = await run();
        assert.deepEqual([code, signal], [0, null], `${runtime}: ${stderr}`);
        assert.deepEqual(JSON.parse(stdout), [{ "out-of-memory": ROUNDS, "tool-failed": ROUNDS }, 4], runtime);
        return `${runtime}: ${((performance.now() - began) / 1000).toFixed(0)} s`;
      };
      const times = await Promise.all(Object.entries(inRuntimes(file)).map(took));
      console.log(`${isolation}: ${2 * ROUNDS} hostile runs each: ${times.join(", ")}`);
    });

    test("a cluster shares a port and a store, and replaces a worker that is killed with its processes", async () => {
      const dir = mkdtempSync(join(tmpdir(), "toolcell-"));
      const box = await open({ dir });
      await box.create({ name: "twice", description: "Doubles", code: TWICE });
      await box.close();
      const file = program(`cluster-${isolation}`, `
        import cluster from "node:cluster";
        import http from "node:http";
        const box = await Toolbox.open({ isolation: ${JSON.stringify(isolation)}, dir: ${JSON.stringify(dir)} });
        if (cluster.isPrimary) {
          await box.run("twice", { n: 1 });
          let isEnding = false;
          cluster.on("exit", () => !isEnding && cluster.fork());
          cluster.on("listening", (worker, { port }) => console.log(port));
          cluster.fork();
          cluster.fork();
          process.on("SIGTERM", () => {
            isEnding = true;
            cluster.disconnect(async () => {
              console.log((await box.run("twice", { n: 21 })).value);
              await box.close();
            });
          });
        } else
          http.createServer(async (request, response) => {
            const { value } = await box.run("twice", { n: Number(request.url.slice(1)) });
            response.setHeader("connection", "close");
            response.end(JSON.stringify({ worker: process.pid, value }));
          }).listen(Number(process.env.PORT ?? 0));`);
      const server = start(process.execPath, file);
      try {
        const ports = () => server.printed.stdout.trim().split("\n").filter(Boolean);
        assert.ok(await eventually(() => ports().length === 2), server.printed.stderr);
        const ask = async (n) => (await fetch(`http://127.0.0.1:${ports()[0]}/${n}`)).json();
        const askAll = async () => {
          const answers = await Promise.all(Array.from({ length: 32 }, (_, n) => ask(n)));
          assert.deepEqual(answers.map(({ value }) => value), answers.map((_, n) => 2 * n));
          return [...new Set(answers.map(({ worker }) => worker))];
        };
        const [killed, ...others] = await askAll();
        assert.equal(others.length, 1);
        const ofKilled = childrenOf(killed);
        assert.equal(ofKilled.length > 0, isolation === "worker");
        process.kill(killed, "SIGKILL");
        assert.ok(await eventually(() => livingOf([killed, ...ofKilled]).length === 0 && ports().length === 3));
        const replaced = await askAll();
        assert.ok(replaced.length === 2 && !replaced.includes(killed));
        process.kill(server.pid, "SIGTERM");
        const { code, stdout, stderr } = await server.ended;
        assert.deepEqual([code, stdout.trim().split("\n").at(-1)], [0, "42"], stderr);
        assert.ok(await eventually(() => sessionOf(server.pid).length === 0));
      } finally {
        endSession(server.pid);
      }
    });

    test("forked children open their own, and end by themselves once they are let go", async () => {
      const file = program(`forked-${isolation}`, `${opened}
        const box = await open();
        process.on("message", async (n) => process.send((await box.runCode(${JSON.stringify(TWICE)}, { n })).value));
        process.send("open");`);
      const box = await open();
      const children = Array.from({ length: 4 }, () => fork(file));
      await Promise.all(children.map((child) => once(child, "message")));
      const answered = children.map((child) => once(child, "message"));
      children.forEach((child, n) => child.send(n));
      assert.deepEqual((await Promise.all(answered)).map(([value]) => value), [0, 2, 4, 6]);
      const ofChildren = children.flatMap((child) => childrenOf(child.pid));
      assert.equal(ofChildren.length > 0, isolation === "worker");
      // The channel to the parent is in no worker process: the parent would wait for that, too.
      for (const child of children) {
        const ofChild = filesOf(child.pid);
        const isShared = (file) => file.startsWith("socket:") && ofChild.includes(file);
        for (const worker of childrenOf(child.pid)) assert.deepEqual(filesOf(worker).filter(isShared), []);
      }
      const ended = children.map((child) => once(child, "exit"));
      for (const child of children) child.disconnect();
      assert.deepEqual(await Promise.all(ended), children.map(() => [0, null]));
      assert.ok(await eventually(() => livingOf(ofChildren).length === 0));
      assert.equal((await box.runCode(TWICE, { n: 3 })).value, 6);
      await box.close();
    });

    test("worker threads open and close a toolbox of their own, again and again, and leave nothing", async () => {
      const file = program(`again-${isolation}`, `${opened}
        import { parentPort } from "node:worker_threads";
        const values = [];
        for (let n = 0; n < 20; n++) {
          const box = await open();
          values.push((await box.runCode(${JSON.stringify(TWICE)}, { n })).value);
          await box.close();
        }
        parentPort.postMessage(values);`);
      const turn = () =>
        Promise.all(Array.from({ length: 4 }, async () => {
          const worker = new Worker(file);
          const [[values], [code]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
          assert.deepEqual([values, code], [Array.from({ length: 20 }, (_, n) => 2 * n), 0]);
        }));
      await turn();
      const before = [descriptors(), childrenOf(process.pid)];
      await turn();
      assert.ok(await eventually(() => JSON.stringify([descriptors(), childrenOf(process.pid)]) === JSON.stringify(before)));
    });

    // A run that waits for the host, runs that call it all the time, and runs that neither wait nor call.
    const IN_FLIGHT = `${opened}
      import { isMainThread, parentPort } from "node:worker_threads";
      const box = await open();
      const start = (code, functions) => void box.runCode(code, {}, { functions }).catch(() => {});
      await new Promise((called) => start("const execute = () => tools.call('hang', {})", { hang: () => (called(), new Promise(() => {})) }));
      for (let n = 0; n < 2; n++) start("const execute = async () => { for (;;) await tools.call('fast', {}) }", { fast: () => 1 });
      for (let n = 0; n < 4; n++) start(${JSON.stringify(SPIN)});
      await new Promise((resolve) => setTimeout(resolve, 50 * Math.random()));
      if (isMainThread) console.log("running");\n`;

    test("a process ends at once while tools run, by an exit, an error and a signal", async () => {
      for (const [name, how, expected] of [
        ["exit", "process.exit(7);", { code: 7, signal: null }],
        ["error", "setTimeout(() => { throw new RangeError('the end'); });", { code: 1, signal: null }],
        ["signal", "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);", { code: null, signal: "SIGTERM" }],
      ]) {
        const file = program(`ends-${name}-${isolation}`, IN_FLIGHT + how);
        for (let round = 0; round < Math.min(ROUNDS, 50); round++) {
          const child = start(process.execPath, file);
          await once(child.stdout, "data");
          const began = performance.now();
          const { code, signal, stderr } = await child.ended;
          assert.deepEqual({ code, signal }, expected, stderr);
          assert.ok(performance.now() - began < MAX_END_MS);
          assert.ok(await eventually(() => sessionOf(child.pid).length === 0), `${sessionOf(child.pid)} are left`);
          assert.equal(stderr.includes("RangeError: the end"), name === "error", stderr);
        }
      }
    });

    test("a thread ends at once while tools run, by an exit, an error and its parent", async () => {
      const before = childrenOf(process.pid);
      for (const [name, how] of [
        ["exit", "process.exit(7);"],
        ["error", "setTimeout(() => { throw new RangeError('the end'); });"],
        ["parent", "parentPort.postMessage('running');"],
      ]) {
        const file = program(`thread-ends-${name}-${isolation}`, IN_FLIGHT + how);
        for (let round = 0; round < Math.min(ROUNDS, 50); round++) {
          const worker = new Worker(file);
          const thrown = [];
          worker.on("error", (error) => thrown.push(error.message));
          worker.on("message", () => worker.terminate());
          const [code] = await new Promise((resolve) => worker.on("exit", (...args) => resolve(args)));
          assert.deepEqual([code, thrown], name === "exit" ? [7, []] : name === "error" ? [1, ["the end"]] : [1, []]);
        }
      }
      assert.ok(await eventually(() => childrenOf(process.pid).length === before.length), "a worker process is left");
    });

    test("after close no process and no file is left", async () => {
      const turn = async () => {
        const box = await open();
        const ran = await Promise.all(Array.from({ length: 4 }, (_, n) => box.runCode(TWICE, { n })));
        assert.deepEqual(ran.map(({ value }) => value), [0, 2, 4, 6]);
        await box.close();
      };
      // What the process has for all toolboxes, it has after the first one.
      await turn();
      const before = [descriptors(), childrenOf(process.pid)];
      for (let round = 0; round < Math.max(20, ROUNDS / 10); round++) await turn();
      assert.ok(await eventually(() => JSON.stringify([descriptors(), childrenOf(process.pid)]) === JSON.stringify(before)));
    });

    // A short run has few samples.
    const runs = Math.max(ROUNDS, 50);
    const WORK = "const execute = ({ n }) => { let s = 0; for (let i = 0; i < 1e4; i++) s += i; return n }";
    const shown = ({ p50, p99 }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
    const isFree = (loop, machine) => assert.ok(loop.p50 < MAX_LATE_MS + machine, `${shown(loop)}, an idle process ${machine} ms`);

    for (const slots of [undefined, availableParallelism()])
      test(`the event loop goes on while 8 callers run tools, ${slots ?? "the usual"} at once`, async () => {
        const box = await open({ slots });
        await box.runCode(WORK, { n: 1 });
        const began = performance.now();
        const { loop, machine } = await delaysOf(() =>
          Promise.all(Array.from({ length: 8 }, async () => {
            for (let n = 0; n < runs; n++) assert.equal((await box.runCode(WORK, { n })).value, n);
          })),
        );
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        await box.close();
        const what = `${isolation}, 8 callers of ${runs} runs, ${slots ?? "the usual"} at once, ${seconds} s`;
        console.log(`${what}: event loop late by ${shown(loop)}; an idle process p99 ${machine.toFixed(1)} ms`);
        isFree(loop, machine);
      });

    test("the event loops of 8 threads that run tools go on, and that of the main thread", async () => {
      const file = program(`threads-${isolation}`, `${opened}
        import { monitorEventLoopDelay } from "node:perf_hooks";
        import { parentPort } from "node:worker_threads";
        const box = await open();
        const delay = monitorEventLoopDelay({ resolution: ${RESOLUTION_MS} });
        let right = (delay.enable(), 0);
        for (let n = 0; n < ${runs}; n++) right += (await box.runCode(${JSON.stringify(WORK)}, { n })).value === n;
        delay.disable();
        await box.close();
        parentPort.postMessage([right, ...[50, 99].map((percentile) => delay.percentile(percentile) / 1e6 - ${RESOLUTION_MS})]);`);
      const threads = [];
      const began = performance.now();
      const { loop, machine } = await delaysOf(() =>
        Promise.all(Array.from({ length: 8 }, async () => {
          const worker = new Worker(file);
          const [[[right, p50, p99]]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
          assert.equal(right, runs);
          threads.push({ p50, p99 });
        })),
      );
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const slowest = threads.toSorted((a, b) => b.p99 - a.p99)[0];
      const late = `main event loop late by ${shown(loop)}, that of the slowest thread by ${shown(slowest)}`;
      console.log(`${isolation}, 8 threads of ${runs} runs, ${seconds} s: ${late}; an idle process p99 ${machine.toFixed(1)} ms`);
      for (const one of [loop, ...threads]) isFree(one, machine);
    });
  });
