// The tests of tools under node:test: what `toolcell test` says, node says.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ToolCaseFailed, toolcellTests } from "toolcell/testing";

const registered = await toolcellTests([join(process.env.FIXTURES, "tools", "calculate_average.test.toml")], { test });

test("the cases of a file are tests", () => {
  assert.ok(registered.length > 0 && registered.every(({ path }) => path.endsWith("calculate_average.test.toml")));
});

const write = (tests) => {
  const folder = mkdtempSync(join(tmpdir(), "toolcell-"));
  writeFileSync(join(folder, "twice.js"), "const execute = ({ n }) => 2 * n");
  writeFileSync(join(folder, "twice.test.toml"), tests);
  return folder;
};

test("a case fails with what the command line says, and others pass", async () => {
  const cases = new Map();
  const folder = write('[[case]]\nname = "two"\nparams = { n = 2 }\nreturns = 5\n[[case]]\nname = "three"\nparams = { n = 3 }\nreturns = 6\n');
  await toolcellTests(folder, { test: (name, run) => cases.set(name, run) });
  const path = join(folder, "twice.test.toml");
  assert.deepEqual([...cases.keys()], [`${path}: two`, `${path}: three`]);
  await cases.get(`${path}: three`)();
  await assert.rejects(cases.get(`${path}: two`), (error) => error instanceof ToolCaseFailed && /twice\.test\.toml:1\nit returns 4, expected 5/.test(error.message));
});

test("what is invalid is refused with its place", async () => {
  await assert.rejects(toolcellTests(write('[[case]]\nname = "two"\nretruns = 4\n'), { test }), /twice\.test\.toml:3:1.*\n?hint:/s);
  await assert.rejects(toolcellTests(join(tmpdir(), "there-is-none"), { test }), { code: "file-unreadable" });
  await assert.rejects(toolcellTests(mkdtempSync(join(tmpdir(), "toolcell-")), { test }), /no tests found/);
  await assert.rejects(toolcellTests("x", {}), /test is undefined/);
  await assert.rejects(toolcellTests("x", { test, budget: 1 }), /no option `budget`/);
});
