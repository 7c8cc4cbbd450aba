// Permissions over time: what each decision about a version of a tool added, and what it removed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HOSTILE_TEXTS, shownOnLine } from "./hostile-texts.mjs";
import { assertShown, chars, visit } from "./harmless.mjs";
import { PERSON, Store, Visitor, sendDecision } from "./support.mjs";

const NAME = "keep_it";
/** The longest reason of a refusal, in characters. */
const MAX_REASON_CHARS = 200;
/** What each version calls, and what it is granted for that. */
const TIMERS = "await new Promise((done) => setTimeout(done, 1));";
const KEEPS = 'await kv.set("a", 1);';

function source(...lines) {
  return `export async function execute() {\n  ${lines.join("\n  ")}\n  return 1;\n}\n`;
}

/** Stores a version, and returns its path. */
async function createVersion(store, code) {
  return `/tools/${await store.create(NAME, { code, parameters: {}, replace: true })}`;
}

async function decide(visitor, path, action, fields = {}) {
  assert.equal((await sendDecision(visitor, path, action, { fields })).status, 303, action);
}

/** Returns the rows of the table: the version, the decision with its grants, by whom, and what it added and removed. */
async function rows(page) {
  return page.locator("section:has(#permissions) tbody tr").evaluateAll((rows) =>
    rows.map(({ cells: [, version, decision, change, by] }) => {
      const items = (selector) => [...change.querySelectorAll(selector)].map((item) => item.textContent);
      return [version, decision, by].map((cell) => cell.textContent).concat([items(".added"), items(".removed")]);
    }),
  );
}

test("the page shows what two versions with other grants added and removed, newest first", async (t) => {
  const store = new Store(t);
  const first = await createVersion(store, source(TIMERS));
  const visitor = await Visitor.enter(t, await store.serve());
  const { page } = visitor;
  await visit(visitor, first);
  assert.equal(await page.locator("#permissions").count(), 0, "nothing was decided");
  await decide(visitor, first, "approve");
  const second = await createVersion(store, source(KEEPS));
  await decide(visitor, second, "approve");
  await visit(visitor, second);
  const [newest, oldest, ...others] = await rows(page);
  assert.deepEqual(others, []);
  const person = `page (${PERSON})`;
  const [version, decision, by, added, removed] = newest;
  assert.deepEqual([version, by, removed], ["2", person, ["− timers"]]);
  assert.match(decision, /^approved \(.*notes.*\)$/);
  assert.ok(added.length === 1 && /^\+ .*notes/.test(added[0]), added);
  assert.deepEqual(oldest, ["1", "approved (timers)", person, ["+ timers"], []]);
  // Both versions show the same, and lead to each other.
  await page.click("section:has(#permissions) tbody tr:last-child a");
  await page.waitForURL(`${visitor.server.base}${first}`);
  assert.deepEqual(await rows(page), [newest, oldest]);
  visitor.assertQuiet();
});

test("the same grants change nothing, more of them add, and a refusal removes all", async (t) => {
  const store = new Store(t);
  const first = await createVersion(store, source(TIMERS));
  const visitor = await Visitor.enter(t, await store.serve());
  const { page } = visitor;
  await decide(visitor, first, "approve");
  await decide(visitor, await createVersion(store, source("// The same", TIMERS)), "once");
  await decide(visitor, await createVersion(store, source(TIMERS, KEEPS)), "approve");
  const last = await createVersion(store, source("// Again", TIMERS, KEEPS));
  await decide(visitor, last, "refuse", { reason: "too much" });
  await visit(visitor, last);
  const [refused, both, same, oldest] = await rows(page);
  assert.deepEqual([refused[1], refused[2]], ["refused", `page (${PERSON}): too much`]);
  assert.deepEqual([refused[3], refused[4].length, refused[4].includes("− timers")], [[], 2, true]);
  assert.ok(both[3].length === 1 && /notes/.test(both[3][0]), both);
  assert.deepEqual(both[4], []);
  assert.deepEqual(same.slice(0, 2).concat(same.slice(3)), ["2", "approved for one run (timers)", [], []]);
  assert.match(await page.locator("section:has(#permissions) tbody tr").nth(2).locator("td").nth(3).textContent(), /none/);
  assert.deepEqual(oldest[3], ["+ timers"]);
  visitor.assertQuiet();
});

test("a decision that was withdrawn, and an approval that a run has used, stand no more", async (t) => {
  const store = new Store(t);
  const path = await createVersion(store, source(TIMERS));
  const visitor = await Visitor.enter(t, await store.serve());
  const { page } = visitor;
  await decide(visitor, path, "approve");
  await decide(visitor, path, "revoke");
  await visit(visitor, path);
  assert.equal(await page.locator("#permissions").count(), 0);
  await decide(visitor, path, "once");
  await visit(visitor, path);
  assert.equal((await rows(page)).length, 1);
  await store.lines(["run", NAME]);
  await visit(visitor, path);
  assert.equal(await page.locator("#permissions").count(), 0);
});

test("each host is a permission of its own", async (t) => {
  const hosts = (...names) => names.map((name) => `[[grants.default.net]]\nhost = "${name}"\n`).join("");
  const store = new Store(t, hosts("a.example", "b.example"));
  const code = (comment) => `// ${comment}\nexport const execute = async () => (await fetch("https://a.example/")).status;\n`;
  const first = await createVersion(store, code("one"));
  const visitor = await Visitor.enter(t, await store.serve());
  await decide(visitor, first, "approve");
  store.setPolicy(hosts("a.example", "c.example"));
  const second = await createVersion(store, code("two"));
  await decide(visitor, second, "approve");
  await visit(visitor, second);
  const [[, , , added, removed]] = await rows(visitor.page);
  assert.ok(added.length === 1 && added[0].includes("c.example") && !added[0].includes("a.example"), added);
  assert.ok(removed.length === 1 && removed[0].includes("b.example") && !removed[0].includes("a.example"), removed);
});

test("a hostile reason is text in the permissions over time", async (t) => {
  const store = new Store(t);
  const path = await createVersion(store, source(TIMERS));
  const visitor = await Visitor.enter(t, await store.serve());
  for (const [name, text] of HOSTILE_TEXTS.filter((_, at) => at % 6 === 2)) {
    const reason = chars(text, MAX_REASON_CHARS);
    await decide(visitor, path, "refuse", { reason });
    await visit(visitor, path);
    await assertShown(visitor.page, "section:has(#permissions) td", `: ${reason.trim()}`, name, shownOnLine);
    await decide(visitor, path, "revoke");
  }
});
