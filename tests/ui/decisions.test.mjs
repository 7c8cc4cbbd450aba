// Decisions: each is about what the page showed, and leaves one audit line with the person.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  PERSON, POLICY, Store, TOOLCELL, Visitor, assertSamePage, eventually, markPage, postDecision, readDecisionForm, sendDecision,
} from "./support.mjs";

const NAME = "wait_for_it";

/** A store with a tool that waits, and a browser at its inbox. */
async function scene(t, options = {}) {
  const store = new Store(t);
  const id = await store.create(NAME);
  const server = await store.serve();
  const visitor = await Visitor.enter(t, server, options);
  return { store, id, path: `/tools/${id}`, server, visitor, page: visitor.page };
}

/** Fails unless the decisions about the tool are these, and the last of them counts. */
async function assertDecided(store, expected) {
  assert.deepEqual(await store.decisions(NAME), expected.map(([action, by]) => [action, by, true]));
  const { pending, decided } = await store.approvals();
  const [action, by] = expected.at(-1);
  if (action === "revoke") {
    assert.deepEqual(decided, []);
  } else {
    const word = { approve: "approved", "approve-once": "approved-once", refuse: "refused" }[action];
    assert.deepEqual(decided.map(({ name, decision, by }) => [name, decision, by]), [[NAME, word, by]]);
    assert.deepEqual(pending, []);
  }
}

/** Presses Tab until an element has the focus. */
async function tabTo(page, selector) {
  for (let presses = 0; presses < 60; presses++) {
    if (await page.locator(selector).evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not reach ${selector}`);
}

async function assertFocus(page, selector) {
  assert.ok(await page.locator(selector).evaluate((element) => element === document.activeElement), `${selector} has the focus`);
}

test("a click approves, and the inbox shows the decision", async (t) => {
  const { store, page, visitor, server } = await scene(t);
  await page.click(`a[data-row] >> text=${NAME}`);
  await page.click("#approve");
  await page.waitForURL(`${server.base}/`);
  assert.equal(await page.locator("#pending").count(), 0);
  assert.match(await page.textContent("section:has(#decided)"), new RegExp(`${NAME}.*approved \\(.*timers.*\\), page \\(${PERSON}\\)`, "s"));
  await assertDecided(store, [["approve", `page (${PERSON})`]]);
  const [{ value }] = await store.lines(["run", NAME, "ms=1"]);
  assert.equal(value, 1);
  visitor.assertQuiet();
});

test("a click refuses, with a reason that the audit log keeps", async (t) => {
  const { store, page, visitor, server } = await scene(t);
  await page.click(`a[data-row] >> text=${NAME}`);
  await page.fill("#reason", "it waits <too> long");
  await page.click("#refuse");
  await page.waitForURL(`${server.base}/`);
  assert.match(await page.textContent("section:has(#decided)"), /refused.*it waits <too> long/s);
  await assertDecided(store, [["refuse", `page (${PERSON}): it waits <too> long`]]);
  visitor.assertQuiet();
});

test("a click withdraws a decision", async (t) => {
  const { store, page, path, visitor, server } = await scene(t);
  await store.lines(["approvals", "grant", NAME, "--yes"]);
  await page.goto(`${server.base}${path}`);
  assert.equal(await page.locator("#approve").count(), 0);
  await page.click("#revoke");
  await page.waitForURL(`${server.base}/`);
  await assertDecided(store, [["approve", "command-line"], ["revoke", `page (${PERSON})`]]);
  visitor.assertQuiet();
});

test("a tool that was refused can be approved", async (t) => {
  const { store, page, path, visitor, server } = await scene(t);
  await store.lines(["approvals", "refuse", NAME]);
  await page.goto(`${server.base}${path}`);
  await page.click("#approve");
  await page.waitForURL(`${server.base}/`);
  await assertDecided(store, [["refuse", "command-line"], ["approve", `page (${PERSON})`]]);
  visitor.assertQuiet();
});

test("keys alone approve", async (t) => {
  const { store, page, visitor, server } = await scene(t);
  await page.keyboard.press("j");
  await assertFocus(page, "a[data-row]");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tools\/dt_/);
  await page.keyboard.press("a");
  await assertFocus(page, "#approve");
  assert.deepEqual(await store.decisions(NAME), [], "the key decides nothing");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}/`);
  await assertDecided(store, [["approve", `page (${PERSON})`]]);
  visitor.assertQuiet();
});

/** Fails unless the next run of the tool is approved, runs it, and fails unless the run after that waits. */
async function assertOneRun({ store, page, path, server }) {
  assert.equal(await page.locator("#pending").count(), 0, "it waits no more");
  assert.match(await page.textContent("section:has(#decided)"), new RegExp(`${NAME}.*approved for one run \\(.*timers.*\\), page \\(${PERSON}\\)`, "s"));
  await assertDecided(store, [["approve-once", `page (${PERSON})`]]);
  await page.goto(`${server.base}${path}`);
  assert.match(await page.textContent(".decision"), /Its next run is approved.*is granted\s*timers/s);
  assert.equal(await page.locator("#once").count(), 0, "it is approved for one run already");
  assert.equal(await page.locator("#approve, #revoke, #refuse").count(), 3);
  const [{ value }] = await store.lines(["run", NAME, "ms=1"]);
  assert.equal(value, 1);
  await page.goto(`${server.base}${path}`);
  assert.match(await page.textContent(".decision"), /It needs your approval/);
  assert.equal(await page.locator("#once").count(), 1);
  const { status, errors, output } = await store.run(["run", NAME, "ms=1", "--json"]);
  assert.notEqual(status, 0);
  assert.match(errors + output, /permission-denied/);
  const { pending, decided } = await store.approvals();
  assert.deepEqual([pending.map(({ name }) => name), decided], [[NAME], []]);
  await page.goto(`${server.base}/`);
  assert.deepEqual(await page.locator("section:has(#pending) a[data-row]").allTextContents(), [NAME]);
  assert.deepEqual(await store.decisions(NAME), [["approve-once", `page (${PERSON})`, true]], "a run is no decision");
}

test("a click approves the next run only", async (t) => {
  const all = await scene(t);
  const { page, visitor, server } = all;
  await page.click(`a[data-row] >> text=${NAME}`);
  await page.click("#once");
  await page.waitForURL(`${server.base}/`);
  await assertOneRun(all);
  visitor.assertQuiet();
});

test("keys alone approve the next run only", async (t) => {
  const all = await scene(t);
  const { store, page, visitor, server } = all;
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tools\/dt_/);
  // The button that approves all runs comes first.
  await page.keyboard.press("a");
  await assertFocus(page, "#approve");
  await page.keyboard.press("Tab");
  await assertFocus(page, "#once");
  assert.deepEqual(await store.decisions(NAME), [], "a key that moves the focus decides nothing");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}/`);
  await assertOneRun(all);
  visitor.assertQuiet();
});

test("the approval of the next run is withdrawn, replaced and refused like any other", async (t) => {
  const { store, page, path, visitor, server } = await scene(t);
  const once = ["approve-once", `page (${PERSON})`];
  const decide = async (selector) => {
    await page.goto(`${server.base}${path}`);
    await page.click(selector);
    await page.waitForURL(`${server.base}/`);
  };
  await decide("#once");
  await decide("#revoke");
  await assertDecided(store, [once, ["revoke", `page (${PERSON})`]]);
  assert.notEqual((await store.run(["run", NAME, "ms=1"])).status, 0);
  await decide("#once");
  await decide("#refuse");
  const before = [once, ["revoke", `page (${PERSON})`], once, ["refuse", `page (${PERSON})`]];
  await assertDecided(store, before);
  await decide("#once");
  await decide("#approve");
  await assertDecided(store, [...before, once, ["approve", `page (${PERSON})`]]);
  for (const ms of [1, 2]) assert.equal((await store.lines(["run", NAME, `ms=${ms}`]))[0].value, ms, "all runs are approved");
  visitor.assertQuiet();
});

test("a run that takes the approval makes an open page out of date, and a second approval is not made from it", async (t) => {
  const { store, page, path, visitor, server } = await scene(t);
  assert.equal((await sendDecision(visitor, path, "once")).status, 303);
  await page.goto(`${server.base}${path}`);
  await markPage(page);
  await store.lines(["run", NAME, "ms=1"]);
  await page.waitForSelector("#outdated:not([hidden])");
  await assertSamePage(page);
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("#approve");
  assert.equal((await answered).status(), 409);
  assert.match(await page.textContent(".alarm"), /Nothing was decided/);
  assert.deepEqual((await store.approvals()).decided, []);
});

test("of runs at once, one takes the approval of the next run", async (t) => {
  const { store, path, visitor } = await scene(t);
  assert.equal((await sendDecision(visitor, path, "once")).status, 303);
  const ended = await Promise.all(Array.from({ length: 4 }, (_, at) => store.run(["run", NAME, `ms=${at}`])));
  assert.equal(ended.filter(({ status }) => status === 0).length, 1, JSON.stringify(ended));
});

test("keys alone refuse with a reason", async (t) => {
  const { store, page, visitor, server } = await scene(t);
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tools\/dt_/);
  await page.keyboard.press("r");
  await assertFocus(page, "#reason");
  // The letters of the reason are no commands while a person types.
  await page.keyboard.type("a jar / an ark");
  assert.equal(await page.inputValue("#reason"), "a jar / an ark");
  await page.keyboard.press("Tab");
  await assertFocus(page, "#refuse");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}/`);
  await assertDecided(store, [["refuse", `page (${PERSON}): a jar / an ark`]]);
  visitor.assertQuiet();
});

test("keys alone withdraw a decision", async (t) => {
  const { store, page, visitor, server } = await scene(t);
  await store.lines(["approvals", "refuse", NAME]);
  await page.reload();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tools\/dt_/);
  await tabTo(page, "#revoke");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}/`);
  await assertDecided(store, [["refuse", "command-line"], ["revoke", `page (${PERSON})`]]);
  visitor.assertQuiet();
});

test("Enter in the reason of a refusal does not approve", async (t) => {
  const { page, path, server } = await scene(t);
  await page.goto(`${server.base}${path}`);
  await page.evaluate(() => {
    addEventListener("submit", (event) => {
      event.preventDefault();
      globalThis.submitted = event.submitter?.id ?? "nothing";
    });
  });
  await page.fill("#reason", "it waits too long");
  await page.press("#reason", "Enter");
  assert.equal(await page.evaluate(() => globalThis.submitted), "refuse");
  // Enter outside of a button submits by the first button of the form, and does nothing if that is disabled (WHATWG HTML, section
  // 4.10.22.2).
  const first = await page.locator("form:has(#approve)").evaluate((form) => form.querySelector("button").disabled);
  assert.equal(first, true);
});

test("the keys move along the rows, and stop at the ends", async (t) => {
  const { store, page, server } = await scene(t);
  await store.create("another_tool");
  await page.reload();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  const rows = await page.locator("a[data-row]").allTextContents();
  assert.deepEqual(rows, ["another_tool", NAME]);
  for (const [key, row] of [["j", rows[0]], ["j", rows[1]], ["j", rows[1]], ["k", rows[0]], ["k", rows[0]]]) {
    await page.keyboard.press(key);
    assert.equal(await focused(), row);
  }
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "hidden" });
  await page.keyboard.press("/");
  await page.waitForURL(/\/tools#q$/);
  await eventually(() => assertFocus(page, "#q"));
  await page.keyboard.type("wait\n");
  await page.waitForURL(/q=wait/);
  assert.match(await page.textContent("main"), /wait_for_it/);
  await page.keyboard.press("i");
  await page.waitForURL(`${server.base}/`);
});

test("a decision about something that changed is refused and says so", async (t) => {
  const { store, page: first, path, visitor, server } = await scene(t);
  await first.goto(`${server.base}${path}`);
  const second = await visitor.open(path);
  await markPage(second);
  assert.equal(await second.isVisible("#outdated"), false);
  await first.click("#approve");
  await first.waitForURL(`${server.base}/`);
  await second.waitForSelector("#outdated:not([hidden])");
  assert.match(await second.textContent("#outdated"), /This tool changed since the page was opened/);
  await assertSamePage(second);
  const answered = second.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await second.click("#refuse");
  assert.equal((await answered).status(), 409);
  await second.waitForSelector(".alarm[role=alert]");
  assert.match(await second.textContent(".alarm"), /Nothing was decided/);
  await assertDecided(store, [["approve", `page (${PERSON})`]]);
  // The page shows the tool as it is now, so a decision on it counts.
  await second.click("#revoke");
  await second.waitForURL(`${server.base}/`);
  await assertDecided(store, [["approve", `page (${PERSON})`], ["revoke", `page (${PERSON})`]]);
  visitor.assertQuiet();
});

test("the same decision from two pages at once is made once", async (t) => {
  const { store, path, visitor } = await scene(t);
  // All of them are read first: one that is read later shows what was decided, and its decision would be another one.
  const forms = await Promise.all(Array.from({ length: 6 }, () => readDecisionForm(visitor, path)));
  const answers = await Promise.all(forms.map((form) => postDecision(visitor, form, "approve")));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409, 409, 409, 409, 409]);
  await assertDecided(store, [["approve", `page (${PERSON})`]]);
});

test("a decision after the policy grants something else is refused", async (t) => {
  const { store, page, path, server } = await scene(t);
  await page.goto(`${server.base}${path}`);
  assert.match(await page.textContent(".decision"), /would be granted\s*timers/);
  store.setPolicy("[grants.default]\ntimers = false\n");
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("#approve");
  assert.equal((await answered).status(), 409);
  assert.match(await page.textContent(".alarm"), /Nothing was decided/);
  assert.match(await page.textContent(".decision"), /would be granted\s*no grants/);
  store.setPolicy(POLICY);
  const { pending, decided } = await store.approvals();
  assert.deepEqual([pending.map(({ name }) => name), decided], [[NAME], []]);
  assert.deepEqual(await store.decisions(NAME), []);
});

test("a page that is open while the policy changes says so", async (t) => {
  const { store, page, path, server } = await scene(t);
  await page.goto(`${server.base}${path}`);
  await markPage(page);
  store.setPolicy("[grants.default]\ntimers = false\n");
  await page.waitForSelector("#outdated:not([hidden])");
  await assertSamePage(page);
});

test("while the policy is invalid a decision is refused with the reason", async (t) => {
  const { store, page, path, server } = await scene(t);
  await page.goto(`${server.base}${path}`);
  store.setPolicy("[grants.default]\nno_such_key = 1\n");
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("#approve");
  assert.equal((await answered).status(), 500);
  assert.match(await page.textContent("main"), /no_such_key/);
  store.setPolicy(POLICY);
  assert.deepEqual(await store.decisions(NAME), []);
  await page.goto(`${server.base}${path}`);
  await page.click("#approve");
  await page.waitForURL(`${server.base}/`);
  await assertDecided(store, [["approve", `page (${PERSON})`]]);
});

/** A store with a policy that grants nothing, with a tool that asks for `timers` and `clock`, and a browser at its page. */
async function ungranted(t) {
  const store = new Store(t, "# The comment stays.\n");
  const code = "export const execute = () => new Promise((done) => setTimeout(() => done(Date.now() > 0), 1));\n";
  const id = await store.create(NAME, { code, parameters: {}, capabilities: ["timers", "clock"] });
  const server = await store.serve();
  const visitor = await Visitor.enter(t, server);
  await visitor.page.goto(`${server.base}/tools/${id}`);
  return { store, id, server, visitor, page: visitor.page, path: `/tools/${id}` };
}

test("a click grants what a tool lacks in the policy file, and approves it, in one audit line", async (t) => {
  const { store, id, page, visitor, server } = await ungranted(t);
  assert.deepEqual((await page.locator("input[name=grant]").evaluateAll((boxes) => boxes.map(({ value, checked }) => [value, checked]))).sort(), [
    ["clock", true],
    ["timers", true],
  ]);
  await page.click("#approve");
  await page.waitForURL(`${server.base}/`);
  const policy = store.policy();
  assert.match(policy, new RegExp(`# The comment stays\\.[^]*\\[grants\\.tools\\.${NAME}\\]\\nid = "${id}"`));
  assert.match(policy, /timers = true/);
  assert.match(policy, /clock = true/);
  await assertDecided(store, [["approve", `page (${PERSON})`]]);
  const [{ value }] = await store.lines(["run", NAME]);
  assert.equal(value, true);
  visitor.assertQuiet();
});

test("only the grants that stay chosen are added", async (t) => {
  const { store, page, server } = await ungranted(t);
  await page.uncheck("input[name=grant][value=clock]");
  await page.click("#approve");
  await page.waitForURL(`${server.base}/`);
  assert.match(store.policy(), /timers = true/);
  assert.doesNotMatch(store.policy(), /clock = true/);
  assert.deepEqual((await store.approvals()).decided[0].grants, { timers: true });
});

test("without a chosen grant, or with one that was not offered, nothing is granted and nothing decided", async (t) => {
  const { store, page, visitor, path } = await ungranted(t);
  const before = store.policy();
  await page.uncheck("input[name=grant][value=clock]");
  await page.uncheck("input[name=grant][value=timers]");
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("#approve");
  assert.equal((await answered).status(), 400);
  assert.match(await page.textContent("main"), /nothing was decided/);
  for (const grant of ["random", "net=evil.example", "files=/", "timers\n[grants.default]"]) {
    assert.equal((await sendDecision(visitor, path, "grant", { fields: { grant } })).status, 409, grant);
  }
  assert.equal(store.policy(), before);
  assert.deepEqual((await store.approvals()).decided, []);
  assert.deepEqual((await store.decisions(NAME)).filter(([, , success]) => success), []);
});

test("a grant is not added to a policy file that changed since the page was opened", async (t) => {
  const { store, page } = await ungranted(t);
  store.setPolicy("[grants.default]\nclock = true\n");
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("#approve");
  assert.equal((await answered).status(), 409);
  assert.match(await page.textContent("main"), /[Nn]othing was decided/);
  assert.equal(store.policy(), "[grants.default]\nclock = true\n");
  assert.deepEqual((await store.approvals()).decided, []);
});

test("a decision about a tool that has a new version or is deleted is refused", async (t) => {
  const { store, path, visitor, page, server } = await scene(t);
  await page.goto(`${server.base}${path}`);
  await store.create(NAME, { replace: true, code: "export const execute = () => setTimeout(() => {}, 1)" });
  await page.waitForSelector("#outdated:not([hidden])");
  let answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("#approve");
  assert.equal((await answered).status(), 409);
  assert.match(await page.textContent(".decision"), /This is an earlier version, or its name was deleted/);
  assert.equal(await page.locator("#approve").count(), 0, "an earlier version cannot be approved");
  const now = `/tools/${(await store.approvals()).pending[0].tool}`;
  await page.goto(`${server.base}${now}`);
  assert.equal((await store.run(["delete", NAME, "--confirm"])).status, 0);
  answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("#approve");
  assert.ok([404, 409].includes((await answered).status()));
  assert.deepEqual((await store.approvals()).decided, []);
  visitor.assertQuiet();
});

test("on a full disk a decision is not made, and the page says why and what helps", async (t) => {
  const isolated = ["--mount", "--", "true"];
  if (process.getuid() !== 0 || spawnSync("unshare", isolated).status !== 0) return t.skip("only root may mount a small disk");
  const store = new Store(t);
  await store.create(NAME);
  // The server sees the store on a disk of its own, which ends with it.
  const script = 'cp -a "$1" "$1.copy" && mount -t tmpfs -o size=8m none "$1" && cp -a "$1.copy/." "$1" && shift && exec "$@"';
  const server = await store.serve({ command: "unshare", args: ["--mount", "--", "sh", "-c", script, "sh", store.dir, TOOLCELL] });
  const { page } = await Visitor.enter(t, server);
  await page.click(`a[data-row] >> text=${NAME}`);
  const disk = `/proc/${server.child.pid}/root${store.dir}`;
  assert.throws(() => writeFileSync(join(disk, "filler"), Buffer.alloc(16 << 20)), { code: "ENOSPC" });
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("#approve");
  assert.equal((await answered).status(), 500);
  assert.match(await page.textContent("main h1 + p"), /disk|space/);
  assert.ok((await page.textContent("main p + p")).length > 10, "there is a hint");
  writeFileSync(join(disk, "filler"), "");
  await page.goBack();
  await page.click("#approve");
  await page.waitForURL(`${server.base}/`);
  assert.match(await page.textContent("section:has(#decided)"), new RegExp(`${NAME}.*approved`, "s"));
});
