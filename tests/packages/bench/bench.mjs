// What a call costs from Node, in turns with peers: `node bench.mjs`, beside `toolcell` and any of `isolated-vm` and
// `quickjs-emscripten`. Each call is from nothing: a fresh instance, which runs a tool that was prepared.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Toolbox } from "toolcell";

const TEXT = "hello";
const CODE = "const execute = ({ text }) => text.split('').reverse().join('')";
const CALLS = "const execute = async ({ n }) => { for (let i = 0; i < n; i++) await tools.call('nothing', {}); return n }";
const REVERSE = `'${TEXT}'.split('').reverse().join('')`;

async function toolcell(isolation) {
  const box = await Toolbox.open({ dir: mkdtempSync(join(tmpdir(), "toolcell-")), isolation });
  await box.create({ name: "reverse", description: "Reverses", code: CODE });
  return async () => (await box.run("reverse", { text: TEXT })).value;
}

async function isolatedVm() {
  const { default: ivm } = await import("isolated-vm");
  return async () => {
    const isolate = new ivm.Isolate({ memoryLimit: 64 });
    const context = await isolate.createContext();
    const value = await context.eval(REVERSE);
    isolate.dispose();
    return value;
  };
}

async function emscripten() {
  const { getQuickJS } = await import("quickjs-emscripten");
  const module = await getQuickJS();
  return async () => module.evalCode(REVERSE);
}

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const calls = {};
const all = { "toolcell, process": () => toolcell("process"), "toolcell, worker": () => toolcell("worker"), "isolated-vm": isolatedVm, "quickjs-emscripten": emscripten };
for (const [name, create] of Object.entries(all)) {
  try {
    calls[name] = await create();
    await calls[name]();
  } catch (error) {
    delete calls[name];
    console.log(`${name}: left out: ${error.message.split("\n")[0]}`);
  }
}
const times = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
for (let round = 0; round < 20; round++)
  for (const [name, call] of Object.entries(calls))
    for (let index = 0; index < 50; index++) {
      const began = performance.now();
      await call();
      times[name].push(performance.now() - began);
    }
for (const [name, taken] of Object.entries(times)) console.log(name.padEnd(24), "p50", (median(taken) * 1e3).toFixed(1), "µs");
for (const isolation of ["process", "worker"]) {
  const box = await Toolbox.open({ isolation });
  const took = async (n) => {
    const samples = [];
    for (let round = 0; round < 30; round++) {
      const began = performance.now();
      await box.runCode(CALLS, { n }, { functions: { nothing: () => null } });
      samples.push(performance.now() - began);
    }
    return median(samples);
  };
  await took(0);
  console.log(`a function that does nothing, ${isolation}:`, (((await took(100)) - (await took(0))) * 10).toFixed(1), "µs");
  await box.close();
}
process.exit();
