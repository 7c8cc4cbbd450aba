// Suspended runs: a person chooses what may happen, and the run goes on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HOSTILE_TEXTS } from "./hostile-texts.mjs";
import { assertShown, chars, visit } from "./harmless.mjs";
import { Store, Visitor } from "./support.mjs";

const CODE = `export async function execute({ key }) {
  try {
    await kv.set(key, key);
  } catch (error) {
    return "refused: " + error.message;
  }
  return "kept: " + (await kv.get(key));
}
`;

/** A store with a run that waits to keep a value, and a browser at its page. */
async function scene(t, key = "a") {
  const store = new Store(t);
  await store.create("keep", { description: "Keeps", code: CODE, parameters: { key: { type: "string", required: true } }, capabilities: ["kv"] });
  await store.lines(["approvals", "grant", "keep", "--yes"]);
  const run = await suspend(store, key);
  const server = await store.serve();
  const visitor = await Visitor.enter(t, server);
  return { store, run, server, visitor, page: visitor.page };
}

async function suspend(store, key) {
  const [{ run, outcome }] = await store.lines(["run", "keep", JSON.stringify({ key }), "--suspend"]);
  assert.equal(outcome, "suspended");
  return run;
}

async function suspended(store) {
  const { output } = await store.run(["suspended", "--json"]);
  return output.trim() === "" ? [] : JSON.parse(output).runs.map(({ run }) => run);
}

test("a chosen effect happens, and the page shows the result of the run", async (t) => {
  const { store, visitor, page } = await scene(t);
  await page.click("section:has(#suspended) a[data-row]");
  await page.waitForURL(/\/suspended\//);
  assert.equal(await page.isChecked("input[name=effect]"), false, "nothing is chosen at first");
  await page.check("input[name=effect]");
  await page.click("#approve");
  await page.waitForSelector(".result");
  assert.match(await page.textContent(".result"), /kept: a/);
  assert.deepEqual(await suspended(store), []);
  const lines = await store.lines(["audit", "--tool", "keep", "--action", "resume"]);
  assert.deepEqual(lines.map(({ success, details }) => [success, details.outcome]), [[true, "returned"]]);
  visitor.assertQuiet();
});

test("a refused effect does not happen, and the run goes on", async (t) => {
  const { store, run, visitor, server, page } = await scene(t);
  await page.goto(`${server.base}/suspended/${run}`);
  await page.check("input[name=effect]");
  await page.click("#refuse");
  await page.waitForSelector(".result");
  assert.doesNotMatch(await page.textContent(".result"), /kept: a/);
  assert.deepEqual(await suspended(store), []);
  visitor.assertQuiet();
});

test("a run is continued once, and not from another page or origin", async (t) => {
  const { store, run, visitor, server, page } = await scene(t);
  const cookie = await visitor.cookie();
  const path = `/suspended/${run}`;
  await page.goto(`${server.base}${path}`);
  const fields = await page.locator("form.decide input").evaluateAll((inputs) => inputs.map(({ name, value }) => [name, value]));
  const send = (changes, headers = {}) => {
    const form = new URLSearchParams([...fields.filter(([name]) => changes[name] === undefined), ...Object.entries(changes)]);
    return server.ask(`${path}/resume`, { method: "POST", headers: { cookie, origin: server.origin, ...headers }, body: String(form) });
  };
  assert.equal((await send({ action: "continue" }, { origin: "http://evil.example" })).status, 403);
  assert.equal((await send({ action: "continue", form_token: "0".repeat(64) })).status, 403);
  assert.equal((await send({ action: "continue", shown: "0".repeat(64) })).status, 409);
  assert.equal((await send({})).status, 400);
  assert.deepEqual(await suspended(store), [run]);
  const answers = await Promise.all([1, 2, 3].map(() => send({ action: "continue" })));
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
  assert.ok(statuses.every((status) => status < 500), String(statuses));
  assert.deepEqual(await suspended(store), []);
});

test("an action that there is not does not continue a run", async (t) => {
  const { store, run, visitor, server, page } = await scene(t);
  const cookie = await visitor.cookie();
  await page.goto(`${server.base}/suspended/${run}`);
  const hidden = await page.locator("form.decide input[type=hidden]").evaluateAll((inputs) => inputs.map(({ name, value }) => [name, value]));
  const form = new URLSearchParams([...hidden, ["action", "delete"], ["effect", "0".repeat(64)]]);
  const { status } = await server.ask(`/suspended/${run}/resume`, { method: "POST", headers: { cookie, origin: server.origin }, body: String(form) });
  assert.equal(status, 400);
  assert.deepEqual(await suspended(store), [run]);
});

test("a hostile text is text on the page of a suspended run and in its result", async (t) => {
  const { store, visitor, server, page } = await scene(t);
  for (const { name, key } of HOSTILE_TEXTS.map(([name, text]) => ({ name, key: chars(text, 100) })).filter((_, at) => at % 6 === 1)) {
    const run = await suspend(store, key);
    await visit(visitor, "/");
    await visit(visitor, `/suspended/${run}`);
    assert.equal(await page.locator("input[name=effect]").count(), 1, name);
    await page.check("input[name=effect]");
    await page.click("#approve");
    await page.waitForSelector(".result");
    await assertShown(page, ".result", key.trim(), name);
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined, name);
  }
  assert.equal((await visit(visitor, "/suspended/%3Cscript%3E")).status(), 404);
  assert.equal(server.child.exitCode, null);
  visitor.assertQuiet();
});
