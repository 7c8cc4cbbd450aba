// The declarations of real servers' tools (`fixtures/servers/definitions`): TypeScript's own compiler accepts them, and they
// take no more tokens than a model can spare.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { check } from "./checks.mjs";
import { newHome, run } from "./servers.mjs";

const FOLDER = `${import.meta.dirname}/../../fixtures/servers/definitions`;
/** The options under which the compiler takes declarations. */
export const STRICT = ["--strict", "--noEmit", "--lib", "esnext", "--types", "", "--skipLibCheck", "false"];

export async function all() {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".d.ts"));
  const brief = files.filter((file) => file.endsWith(".brief.d.ts"));
  const full = files.filter((file) => !brief.includes(file));
  for (const [title, some] of [["full", full], ["brief", brief]]) {
    await check(`declarations, ${title}: the compiler accepts them`, async () => {
      assert.equal(some.length, 10);
      const { status, output } = await run("tsc", [...STRICT, ...some.map((file) => `${FOLDER}/${file}`)], newHome());
      assert.equal(status, 0, output);
    });
  }
  await check("declarations: the compiler finds a mistake in a call", async () => {
    const home = newHome();
    const call = (input) => `declare const servers: Servers;\nservers.github.create_issue(${input});\n`;
    const statuses = [];
    for (const input of ['{ owner: "a", repo: "b", title: "c" }', '{ owner: "a", repo: "b", title: 1 }', '{ owner: "a" }']) {
      writeFileSync(`${home.home}/call.ts`, call(input));
      statuses.push((await run("tsc", [...STRICT, `${FOLDER}/github.d.ts`, "call.ts"], home)).status === 0);
    }
    assert.deepEqual(statuses, [true, false, false]);
  });
  const definitions = readdirSync(FOLDER).filter((file) => file.endsWith(".json"));
  const count = definitions.flatMap((file) => JSON.parse(readFileSync(`${FOLDER}/${file}`, "utf8")).tools).length;
  const tokens = (some) => {
    const all = some.map((file) => encode(readFileSync(`${FOLDER}/${file}`, "utf8")).length);
    return Math.round((all.reduce((sum, one) => sum + one) * 100) / count);
  };
  for (const [title, some, most] of [["full", full, 13000], ["brief", brief, 7000]]) {
    await check(`declarations, ${title}: 100 tools take ${tokens(some)} tokens, of ${most}`, () => assert.ok(tokens(some) <= most));
  }
}
