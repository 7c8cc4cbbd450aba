// What a call costs from Node, in turns with peers: `node bench.mjs`, in a folder whose `node_modules` have `toolcell` and any
// of `isolated-vm`, `quickjs-emscripten` and `run`; `tests/packages/bench/run` installs them there (`make bench-packages`).
//
// Invariant: each call is from nothing, in a fresh instance (isolate, runtime, context), with a source that was prepared where
// the peer can do that; a peer that is not there, or fails, is left out and named.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Toolbox } from "toolcell";

const TEXT = "hello";
const EXPECTED = "olleh";
const CODE = "const execute = ({ text }) => text.split('').reverse().join('')";
const EXPRESSION = `${CODE}; execute({ text: '${TEXT}' })`;
const CALLS = "const execute = async ({ n }) => { for (let i = 0; i < n; i++) await tools.call('nothing', {}); return n }";
const MEMORY_LIMIT_MIB = 64;

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
const CALLS_IN_TURN = 50;
/** The functions that a run calls, compared with a run that calls none. */
const FUNCTION_CALLS = 100;
/** What the others are compared with: what the package does by default. */
const BASE = "toolcell, worker";

async function toolcell(isolation) {
  const box = await Toolbox.open({ dir: mkdtempSync(join(tmpdir(), "toolcell-")), isolation });
  await box.create({ name: "reverse", description: "Reverses", code: CODE });
  return {
    call: async () => (await box.run("reverse", { text: TEXT })).value,
    functions: async (n) => (await box.runCode(CALLS, { n }, { functions: { nothing: async () => null } })).value,
  };
}

/** V8's isolates in this process. The compiled code is kept; what runs it is a new isolate. */
async function isolatedVm() {
  const { default: ivm } = await import("isolated-vm");
  const compiler = new ivm.Isolate({ memoryLimit: MEMORY_LIMIT_MIB });
  const { cachedData } = await compiler.compileScript(EXPRESSION, { produceCachedData: true });
  const fresh = async (work) => {
    const isolate = new ivm.Isolate({ memoryLimit: MEMORY_LIMIT_MIB });
    try {
      return await work(isolate, await isolate.createContext());
    } finally {
      isolate.dispose();
    }
  };
  const called = "await nothing.apply(undefined, [], { result: { promise: true, copy: true } })";
  return {
    call: () => fresh(async (isolate, context) => (await isolate.compileScript(EXPRESSION, { cachedData })).run(context)),
    functions: (n) =>
      fresh(async (_, context) => {
        await context.global.set("nothing", new ivm.Reference(async () => null));
        return context.eval(`(async () => { for (let i = 0; i < ${n}; i++) ${called}; return ${n} })()`, { promise: true });
      }),
  };
}

/** QuickJS as Wasm. Each call has a runtime of its own; all of them share one Wasm memory, or each has a Wasm instance too. */
async function quickjsEmscripten(newModule) {
  const functions = async (n) => {
    const context = (await newModule()).newContext();
    try {
      const nothing = context.newFunction("nothing", () => {
        const promise = context.newPromise();
        Promise.resolve().then(() => promise.resolve(context.null));
        promise.settled.then(() => context.runtime.executePendingJobs());
        return promise.handle;
      });
      nothing.consume((handle) => context.setProp(context.global, "nothing", handle));
      const started = context.evalCode(`(async () => { for (let i = 0; i < ${n}; i++) await nothing(); return ${n} })()`);
      const ended = context.unwrapResult(started).consume((handle) => context.resolvePromise(handle));
      context.runtime.executePendingJobs();
      return context.unwrapResult(await ended).consume((handle) => context.dump(handle));
    } finally {
      context.dispose();
    }
  };
  return { call: async () => (await newModule()).evalCode(EXPRESSION, { memoryLimitBytes: MEMORY_LIMIT_MIB << 20 }), functions };
}

async function runtimes() {
  const { getQuickJS } = await import("quickjs-emscripten");
  return quickjsEmscripten(getQuickJS);
}

async function instances() {
  const { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } = await import("quickjs-emscripten");
  const { resolve } = createRequire(createRequire(import.meta.url).resolve("quickjs-emscripten"));
  const wasmModule = new WebAssembly.Module(readFileSync(resolve("@jitl/quickjs-wasmfile-release-sync/wasm")));
  return quickjsEmscripten(() => newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmModule })));
}

/** QuickJS as Wasm in worker threads, of which it keeps a pool; each run has a context of its own. */
async function run() {
  const { createRunner } = await import("run");
  const runner = createRunner({ limits: { memoryLimitBytes: MEMORY_LIMIT_MIB << 20 } });
  const hostFunctions = { tools: { nothing: async () => null } };
  return {
    call: async () => (await runner.run({ source: `${CODE}; return execute({ text: '${TEXT}' })` })).value,
    functions: async (n) => {
      const source = `for (let i = 0; i < ${n}; i++) await tools.nothing(); return ${n}`;
      return (await runner.run({ source, hostFunctions })).value;
    },
  };
}

const PEERS = {
  "toolcell, process": () => toolcell("process"),
  "toolcell, worker": () => toolcell("worker"),
  "isolated-vm": isolatedVm,
  "quickjs-emscripten": runtimes,
  "the same, own instance": instances,
  run,
};

const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];

/** Calls one after the other for one turn, and returns how long each took, in milliseconds. */
async function turn(call, count) {
  const times = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  return times;
}

/** Measures calls in turns, so that a busy machine slows all of them, and prints medians and what they are of the base. */
async function measure(title, calls, count, toCost) {
  const costs = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, call] of Object.entries(calls)) costs[name].push(await toCost(call, count));
  console.log(`\n${title} (×: of ${BASE})`);
  for (const [name, taken] of Object.entries(costs)) {
    const ratio = median(taken.map((cost, round) => cost / costs[BASE][round]));
    console.log(`  ${name.padEnd(24)} p50 ${(median(taken) * 1e3).toFixed(1).padStart(9)} µs ${ratio.toFixed(2).padStart(8)} ×`);
  }
}

const calls = {};
const functions = {};
for (const [name, create] of Object.entries(PEERS)) {
  try {
    const peer = await create();
    const [value, called] = [await peer.call(), await peer.functions(FUNCTION_CALLS)];
    if (value !== EXPECTED || called !== FUNCTION_CALLS) throw new Error(`it answers ${value} and ${called}`);
    [calls[name], functions[name]] = [peer.call, peer.functions];
  } catch (error) {
    console.log(`${name}: left out: ${error.message.split("\n")[0]}`);
  }
}
await measure(`a call from nothing, ${ROUNDS} turns of ${CALLS_IN_TURN}`, calls, CALLS_IN_TURN, async (call, count) => median(await turn(call, count)));
await measure("a function that does nothing, called by a run", functions, 5, async (call, count) => {
  const without = median(await turn(() => call(0), count));
  return (median(await turn(() => call(FUNCTION_CALLS), count)) - without) / FUNCTION_CALLS;
});
const imported = [];
for (let round = 0; round < 10; round++) {
  const program = "const began = performance.now(); await import('toolcell'); console.log(performance.now() - began)";
  imported.push(Number(execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" })));
}
console.log(`\nimport("toolcell"): ${median(imported).toFixed(1)} ms`);
process.exit();
