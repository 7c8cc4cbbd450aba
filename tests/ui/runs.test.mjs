// Runs: two beside each other, what the store keeps of one, and the same run again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { HOSTILE_TEXTS } from "./hostile-texts.mjs";
import { assertAllShown, assertShown, visit } from "./harmless.mjs";
import { POLICY, Store, Visitor, eventually } from "./support.mjs";

const RECEIPTS = `${POLICY}[grants.tools.caller]\ntools = ["squares"]\n[audit]\nreceipts = true\n`;
const NUMBERS = { numbers: { type: "array", items: { type: "number" }, required: true } };
const SQUARES = `export const execute = ({ numbers }) => {
  console.log("squares", numbers.length);
  if (numbers.length > 3) throw new RangeError("too many numbers");
  return numbers.map((number) => number * number);
};
`;
const CALLER = "export const execute = async ({ numbers }) => (await tools.call('squares', { numbers })).length;\n";
/** The number of hostile texts of one run. */
const BATCH = 20;

const store = new Store({ after }, RECEIPTS);
const squares = await store.create("squares", { code: SQUARES, parameters: NUMBERS });
for (const numbers of ["[1, 2, 3]", "[1, 2, 3]", "[4]"]) await store.lines(["run", "squares", `{"numbers": ${numbers}}`]);
assert.notEqual((await store.run(["run", "squares", '{"numbers": [1, 2, 3, 4]}'])).status, 0);
const [same, alike, other, threw] = await runsOf("squares");
const server = await store.serve();
const cookies = await (await Visitor.enter({ after }, server)).context.cookies();

/** Returns the identifiers of the runs of a tool, the oldest first. */
async function runsOf(tool) {
  const lines = await store.lines(["audit", "--tool", tool, "--action", "run_dynamic_tool", "--oldest-first"]);
  return lines.map(({ details }) => details.run);
}

/** Opens another browser with the session of the first, at a page. */
async function enter(t, path, options = {}) {
  const visitor = await Visitor.arrive(t, server, options);
  await visitor.context.addCookies(cookies);
  visitor.page = await visitor.open(path);
  return visitor;
}

/** Returns the names of the rows that a comparison marks, by a word and not by colour alone. */
async function marked(page) {
  const rows = await page.locator("table.compared tbody tr").evaluateAll((rows) =>
    rows.map((row) => [row.querySelector("th").textContent, row.querySelector(".status")?.textContent, row.classList.contains("differs")]),
  );
  assert.ok(rows.length > 8);
  for (const [name, word, isMarked] of rows) assert.equal(word, isMarked ? "differs" : undefined, name);
  return rows.filter(([, , isMarked]) => isMarked).map(([name]) => name);
}

/** Sends the form of a replay without a browser, but for what `changes` says. */
async function replay(visitor, run, { headers = {}, fields = {} } = {}) {
  const cookie = await visitor.cookie();
  const { body } = await server.ask(`/runs/${same}`, { headers: { cookie } });
  const token = /name="form_token" value="([0-9a-f]+)"/.exec(body)[1];
  const all = Object.entries({ cookie, origin: server.origin, ...headers }).filter(([, value]) => value !== undefined);
  const form = new URLSearchParams({ form_token: token, ...fields });
  return server.ask(`/runs/${run}/replay`, { method: "POST", headers: Object.fromEntries(all), body: String(form) });
}

test("a comparison marks in words what differs, and nothing else", async (t) => {
  const visitor = await enter(t, `/runs/${same}?with=${alike}`);
  const { page } = visitor;
  assert.deepEqual(await marked(page), []);
  await page.goto(`${server.base}/runs/${same}?with=${other}`);
  assert.deepEqual(await marked(page), ["parameters", "result", "fuel of the call"]);
  await page.goto(`${server.base}/runs/${same}?with=${threw}`);
  const names = await marked(page);
  for (const name of ["outcome", "error", "parameters", "result"]) assert.ok(names.includes(name), `${name} of ${names}`);
  const row = await page.locator('table.compared tr:has(th:text-is("outcome")) td').allTextContents();
  assert.deepEqual(row, ["returned", "threw", "differs"]);
  visitor.assertQuiet();
});

test("another run is chosen by mouse and by keyboard, and leads back", async (t) => {
  const visitor = await enter(t, `/runs/${same}`);
  const { page } = visitor;
  const link = `section:has(#others) a[href="runs/${same}?with=${other}"]`;
  await page.click(link);
  await page.waitForURL(/\?with=/);
  await page.click("table.compared thead a");
  await page.waitForURL(`${server.base}/runs/${other}`);
  await page.goto(`${server.base}/runs/${same}`);
  await page.locator(link).press("Enter");
  await page.waitForURL(/\?with=/);
  assert.ok((await marked(page)).includes("parameters"));
  visitor.assertQuiet();
});

test("a run that there is not is not compared", async (t) => {
  const visitor = await enter(t, `/runs/${same}`);
  for (const [, text] of [["missing", "r_0000000000000000-1"], ...HOSTILE_TEXTS.filter((_, at) => at % 4 === 0)]) {
    const status = (await visit(visitor, `/runs/${same}?with=${encodeURIComponent(text)}`)).status();
    assert.ok(status >= 400 && status < 500, `${text}: ${status}`);
  }
  assert.match(await visitor.page.textContent("main"), /\w/);
  visitor.assertQuiet();
});

test("the page of a run shows what its receipt keeps", async (t) => {
  const visitor = await enter(t, `/runs/${same}`);
  const { page } = visitor;
  const shown = () => page.locator("section:has(#receipt) pre").evaluateAll((texts) => texts.map((text) => [text.getAttribute("aria-label"), text.textContent]));
  assert.deepEqual(await shown(), [["Parameters", '{"numbers": [1, 2, 3]}'], ["Result", "[1,4,9]"], ["Console", "squares 3"]]);
  await page.goto(`${server.base}/runs/${threw}`);
  const [parameters, error, console] = await shown();
  assert.deepEqual([parameters, console], [["Parameters", '{"numbers": [1, 2, 3, 4]}'], ["Console", "squares 4"]]);
  assert.equal(error[0], "Error");
  assert.match(error[1], /^RangeError: too many numbers/);
  visitor.assertQuiet();
});

test("a downloaded receipt replays on the command line", async (t) => {
  const visitor = await enter(t, `/runs/${same}`);
  const { page } = visitor;
  for (const run of [same, threw]) {
    await page.goto(`${server.base}/runs/${run}`);
    const downloading = page.waitForEvent("download");
    await page.click("text=Download the receipt");
    const download = await downloading;
    assert.equal(download.suggestedFilename(), `${run}.receipt.json`);
    const receipt = readFileSync(await download.path(), "utf8");
    const [replayed] = await store.lines(["replay", "-"], receipt);
    assert.deepEqual([replayed.reproduced, replayed.differences, replayed.tool], [true, [], squares]);
  }
  visitor.assertQuiet();
});

for (const [how, javaScriptEnabled, press] of [
  ["by mouse", true, (page) => page.click("text=Run again here")],
  ["by keyboard", true, (page) => page.locator("text=Run again here").press("Enter")],
  ["without scripts", false, (page) => page.click("text=Run again here")],
]) {
  test(`a run is run again here, ${how}, comes out the same, and leaves no trace`, async (t) => {
    const visitor = await enter(t, `/runs/${same}`, { javaScriptEnabled });
    const { page } = visitor;
    const lines = async () => (await store.lines(["audit", "--limit", "1000"])).length;
    const before = await lines();
    const fuel = await page.locator('dt:has-text("fuel of the call") + dd').first().textContent();
    await press(page);
    await page.waitForURL(/\/replay$/);
    assert.equal(await page.textContent("h1"), "It came out the same");
    assert.equal(await page.textContent('.tiles dt:text-is("fuel of the call") + dd'), fuel);
    assert.match(await page.textContent("main table"), /execute/);
    const image = page.locator("img.flame");
    await image.scrollIntoViewIfNeeded();
    if (javaScriptEnabled) await eventually(async () => assert.ok((await image.evaluate(({ naturalWidth }) => naturalWidth)) > 0));
    assert.equal(await lines(), before);
    await page.click("text=Back to the run");
    await page.waitForURL(`${server.base}/runs/${same}`);
    visitor.assertQuiet();
  });
}

test("a run that threw comes out the same, too", async (t) => {
  const visitor = await enter(t, `/runs/${threw}`);
  await visitor.page.click("text=Run again here");
  await visitor.page.waitForURL(/\/replay$/);
  assert.equal(await visitor.page.textContent("h1"), "It came out the same");
  visitor.assertQuiet();
});

test("a replay from another origin, from none, or with a wrong form token is refused", async (t) => {
  const visitor = await enter(t, "/runs");
  for (const [what, changes] of [
    ["a foreign origin", { headers: { origin: "http://evil.example" } }],
    ["no origin", { headers: { origin: undefined } }],
    ["no origin, from another site", { headers: { origin: undefined, "sec-fetch-site": "cross-site" } }],
    ["a wrong form token", { fields: { form_token: "0".repeat(64) } }],
  ]) {
    const { status, body } = await replay(visitor, same, changes);
    assert.equal(status, 403, what);
    assert.doesNotMatch(body, /came out/, what);
  }
  assert.equal((await replay(visitor, same, { fields: { more: "1" } })).status, 400);
  for (const missing of ["r_0000000000000000-1", "no-such-run", "%3Cscript%3E"]) assert.equal((await replay(visitor, missing)).status, 404, missing);
  assert.equal((await replay(visitor, same)).status, 200);
});

test("without receipts in the policy a run has none, and says what helps", async (t) => {
  const own = new Store(t);
  await own.create("squares", { code: SQUARES, parameters: NUMBERS });
  await own.lines(["run", "squares", '{"numbers": [1]}']);
  const visitor = await Visitor.enter(t, await own.serve());
  const { page } = visitor;
  await page.click("nav >> text=Runs");
  await page.click("a[data-row]");
  await page.waitForURL(/\/runs\/r_/);
  assert.equal(await page.locator("#receipt").count(), 0);
  const answer = await page.goto(`${page.url()}/receipt.json`);
  assert.equal(answer.status(), 404);
  assert.match(await page.textContent("main"), /no receipt of this run.*receipts = true/s);
  visitor.assertQuiet();
});

test("the list of tools has a line of the runs and what they saved, and the page of a tool has its callers", async (t) => {
  await store.create("caller", { code: CALLER, parameters: NUMBERS, capabilities: ["tools"] });
  await store.lines(["approvals", "grant", "caller", "--yes"]);
  await store.lines(["run", "caller", '{"numbers": [1, 2]}', "--tokens-saved", "4321"]);
  const visitor = await enter(t, "/tools");
  const { page } = visitor;
  const row = page.locator('li.row:has(a[data-row]:text-is("caller"))');
  assert.match(await row.locator("svg.sparkline").getAttribute("aria-label"), /runs in 30 days: 1$/);
  assert.match(await row.textContent(), /4\u202f321/);
  await row.locator("a[data-row]").click();
  await page.waitForURL(/\/tools\/dt_/);
  await page.click('.callees a:text-is("squares")');
  await page.waitForURL(/\/tools\/(dt_|squares)/);
  assert.match(await page.textContent(".callers"), /caller × 1/);
  await page.click('.callers a:text-is("caller")');
  await page.waitForURL(/\/tools\/(dt_|caller)/);
  assert.match(await page.textContent("h1"), /caller/);
  visitor.assertQuiet();
});

test("hostile parameters, results, consoles and errors are text on the pages of a run", async (t) => {
  const code = `export function execute({ texts, fail }) {
  for (const text of texts) console.log(text);
  if (fail) throw new Error(texts.join("\\n"));
  return texts;
}
`;
  const parameters = { texts: { type: "array", items: { type: "string" }, required: true }, fail: { type: "boolean" } };
  await store.create("hostile", { code, parameters });
  const batches = Array.from({ length: Math.ceil(HOSTILE_TEXTS.length / BATCH) }, (_, at) => HOSTILE_TEXTS.slice(at * BATCH, (at + 1) * BATCH));
  for (const batch of batches) {
    const texts = batch.map(([, text]) => text);
    await store.lines(["run", "hostile", JSON.stringify({ texts })]);
    assert.notEqual((await store.run(["run", "hostile", JSON.stringify({ texts: texts.slice(0, 3), fail: true })])).status, 0);
  }
  const visitor = await enter(t, "/runs");
  const { page } = visitor;
  const runs = await runsOf("hostile");
  assert.equal(runs.length, 2 * batches.length);
  for (const [at, batch] of batches.entries()) {
    const [returned, failed] = runs.slice(2 * at);
    await visit(visitor, `/runs/${returned}?with=${failed}`);
    const shown = ([name, text]) => [
      ['pre[aria-label="Parameters"]', JSON.stringify(text), name],
      ['pre[aria-label="Result"]', JSON.stringify(text), name],
      ['pre[aria-label="Console"]', text, name],
    ];
    await assertAllShown(page, batch.flatMap(shown));
    await page.click("text=Run again here");
    await page.waitForURL(/\/replay$/);
    assert.equal(await page.textContent("h1"), "It came out the same");
    await visit(visitor, `/runs/${failed}`);
    await assertShown(page, 'pre[aria-label="Error"]', batch[0][1], batch[0][0]);
  }
});
