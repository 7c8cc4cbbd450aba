"use strict";
// Tests of tools (`*.test.toml`) under the test runners of JavaScript.

const { checkKeys, describe } = require("./json.cjs");
const { Toolbox } = require("./toolbox.cjs");

/** A case failed: what `toolcell test` says about it. */
class ToolCaseFailed extends Error {
  name = "ToolCaseFailed";
}

/** Registers each case of test files, or of folders with test files, by `test(name, run)`. */
async function toolcellTests(paths, options) {
  const { test, noBudgets = false, maxRegression } = checkKeys(options ?? {}, ["test", "noBudgets", "maxRegression"], "toolcellTests");
  if (typeof test !== "function") throw new TypeError(`test is ${describe(test)}, it must be the function of a test runner, such as that of node:test or vitest`);
  const files = [paths].flat();
  if (!files.every((path) => typeof path === "string")) throw new TypeError("paths are strings");
  const toolbox = await Toolbox.open({ isolation: "process" });
  const { tests, problems } = await toolbox._tests("find_tests", { paths: files, noBudgets });
  if (problems.length > 0) throw new ToolCaseFailed(problems.map(problemText).join("\n"));
  if (tests.length === 0) throw new ToolCaseFailed(`${files.join(", ")}: no tests found: put the tests of average.ts into average.test.toml beside it`);
  for (const { path, name, line } of tests)
    test(`${path}: ${name}`, async () => {
      const report = await toolbox._tests("run_test", { path, name, noBudgets, maxRegression });
      const [done] = report.tests;
      const texts = report.problems.length > 0 ? report.problems.map(problemText) : done.failures.map(({ message, diff }) => [message, ...(diff ? [diff] : [])].join("\n"));
      if (texts.length > 0) throw new ToolCaseFailed(`${path}:${line}\n${texts.join("\n")}`);
    });
  // It keeps no process alive, and ends with it.
  return tests.map(({ path, name }) => ({ path, name }));
}

function problemText({ path, line, column, message, hint }) {
  return `${path}:${line}:${column}: ${message}\nhint: ${hint}`;
}

module.exports = { toolcellTests, ToolCaseFailed };
