// A toolbox with the tools that the tests of the adapters use.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Toolbox } from "toolcell";

const LATER = "const execute = ({ ms }) => new Promise((done) => setTimeout(done, ms, 'late'))";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const STEPS = `export default () => ({
  name: "steps",
  description: "Counts",
  parameters: { n: { type: "number" } },
  async execute(id, { n }, onUpdate) {
    for (let i = 0; i < n; i++) onUpdate(i);
    return n;
  },
})`;
const PICTURE = `export default () => ({
  name: "picture",
  description: "Draws a pixel",
  async execute() {
    return { content: [{ type: "text", text: "a pixel" }, { type: "image", mimeType: "image/png", data: "${PIXEL}" }] };
  },
})`;

/** Opens a toolbox with one slot: a call that does not end keeps all others waiting. `later` needs an approval. */
export async function openBox() {
  const dir = mkdtempSync(join(tmpdir(), "toolcell-"));
  const box = await Toolbox.open({ dir, slots: 1, policy: "[grants.default]\ntimers = true\n" });
  const n = { type: "integer", minimum: 0, description: "A number", examples: [21] };
  const parameters = { type: "object", properties: { n }, required: ["n"], additionalProperties: false };
  await box.create({ name: "twice", description: "Doubles a number", code: "const execute = ({ n }) => 2 * n", parameters });
  await box.create({ name: "fails", description: "Throws", code: "const execute = () => { throw new RangeError('out of tea') }" });
  await box.create({ name: "spin", description: "Loops", code: "const execute = ({ n }) => { let i = n; while (i >= 0) i = (i + 1) % 7; return i }" });
  await box.create({ name: "later", description: "Waits", code: LATER, capabilities: ["timers"] });
  await box.create({ name: "steps", description: "Counts", code: STEPS });
  await box.create({ name: "picture", description: "Draws", code: PICTURE });
  await box.approve("twice");
  return box;
}

let versions = 1;

/** Stores another version of `later`. */
export const replaceLater = (box) =>
  box.create({ name: "later", description: "Waits", code: LATER.replace("late", `late ${++versions}`), capabilities: ["timers"], replace: true });

/** The arguments of `run_dynamic_tool`. */
export const run = (tool_name, parameters = {}) => ({ tool_name, parameters });

/** The schema of what is offered as `toolcell__twice`. */
export const schemaOf = async (box, name) => (await box.definitions()).find((tool) => tool.name === name).inputSchema;

/** Aborts a call that does not end, and returns after how many milliseconds it had ended, and its slot was free again. */
export async function timeAbort(box, start) {
  const controller = new AbortController();
  const call = Promise.resolve(start(controller.signal)).catch((error) => error);
  const twice = (signal) => box.call("run_dynamic_tool", run("twice", { n: 1 }), { signal });
  while (await twice(AbortSignal.timeout(100)).then(() => true, () => false)) await new Promise((resolve) => setTimeout(resolve, 20));
  const began = performance.now();
  controller.abort();
  const [ended, free] = await Promise.all([call, twice()].map((end) => end.then(() => performance.now() - began)));
  return { ended, free };
}
