// The ledger: plots, tables and files of the same numbers, for a period, and for all tools or one.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { HOSTILE_TEXTS } from "./hostile-texts.mjs";
import { visit } from "./harmless.mjs";
import { DAYS, TOOLS, servePast } from "./past.mjs";
import { Store, Visitor, eventually } from "./support.mjs";

const NUMBERS = { numbers: { type: "array", items: { type: "number" }, required: true } };
const WORK = "export const execute = ({ numbers }) => { if (numbers.length > 3) throw new Error('many'); return numbers.map((n) => n * n); };\n";

const store = new Store({ after });
const id = await store.create("squares", { code: WORK, parameters: NUMBERS });
const cheap = await store.create("cheap", { code: "export const execute = () => 1;\n", parameters: {} });
const unused = await store.create("unused", { code: "export const execute = () => 2;\n", parameters: {} });
for (const tokens of ["700", "50"]) await store.lines(["run", "squares", '{"numbers": [1, 2, 3]}', "--tokens-saved", tokens]);
assert.notEqual((await store.run(["run", "squares", '{"numbers": [1, 2, 3, 4]}'])).status, 0);
await store.lines(["run", "cheap"]);
const server = await store.serve();
const cookies = await (await Visitor.enter({ after }, server)).context.cookies();

/** Opens another browser with the session of the first, at a page. */
async function enter(t, path = "/ledger", options = {}) {
  const visitor = await Visitor.arrive(t, server, options);
  await visitor.context.addCookies(cookies);
  visitor.page = await visitor.open(path);
  return visitor;
}

/** Waits until each figure has its plot. */
async function drawn(page) {
  await eventually(async () => {
    const figures = await page.locator("figure.plot").count();
    assert.ok(figures > 0);
    assert.equal(await page.locator("figure.plot .plot-area > svg").count(), figures);
  });
}

function parseCsv(text) {
  const [names, ...rows] = text.trimEnd().split("\r\n").map((line) => line.split(","));
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
}

async function csv(visitor, path) {
  const { status, headers, body } = await server.ask(path, { headers: { cookie: await visitor.cookie() } });
  assert.deepEqual([status, headers["content-type"]], [200, "text/csv; charset=utf-8"], path);
  return parseCsv(body);
}

/** A number as the page writes it. */
const number = (text) => Number(text.replaceAll("\u202f", "").replace(/ ms$/, ""));

/** Returns the cells of a table, also of one in details that are closed. */
async function cells(page, selector) {
  return page.locator(`${selector} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.cells].map(({ textContent }) => textContent.trim())));
}

/** Returns the label of a plot, which says what it shows. */
async function label(page, file) {
  return page.getAttribute(`figure[data-file="${file}"] .plot-area > svg`, "aria-label");
}

test("the plots, the tables, the totals and the files say the same", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await drawn(page);
  const days = await csv(visitor, "/ledger/usage.csv?days=30");
  const tools = await csv(visitor, "/ledger/tools.csv?days=30");
  const sum = (key) => days.reduce((all, day) => all + Number(day[key]), 0);
  assert.deepEqual([sum("runs"), sum("succeeded"), sum("failed"), sum("tokens_saved")], [4, 3, 1, 750]);
  const tiles = await page.locator(".tiles dd").allTextContents();
  assert.deepEqual(tiles.slice(0, 3).map(number), [4, 1, sum("fuel")]);
  assert.ok(Math.abs(number(tiles[3]) - sum("milliseconds")) < 0.02, tiles[3]);
  assert.equal(number(tiles[4]), 750);
  const exact = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });
  assert.equal(await label(page, "runs"), "Runs of each day. succeeded: 3, failed: 1");
  assert.equal(await label(page, "fuel"), `Fuel of each day. fuel: ${exact(sum("fuel"))}`);
  assert.equal(await label(page, "time"), `Time of the runs of each day. milliseconds: ${exact(sum("milliseconds"))}`);
  assert.equal(await label(page, "tokens"), "Tokens saved on each day. tokens: 750");
  const largest = (key) => exact(Math.max(...days.map((day) => Number(day[key]))));
  assert.equal(await label(page, "fuel-of-a-run"), `Fuel of a run. mean: ${largest("fuel_per_run")}, most: ${largest("max_fuel")}`);
  const ranked = tools.map(({ name, fuel }) => `${name}: ${exact(Number(fuel))}`).join(", ");
  assert.equal(await label(page, "tools"), `Fuel of the most expensive tools. ${ranked}`);
  const rows = await cells(page, "details");
  assert.deepEqual(rows.map(([day, ...row]) => [day, ...row.slice(0, 4).map(number), number(row[5])]), days.reverse().map((day) => [
    day.day, ...["runs", "failed", "fuel", "fuel_per_run", "tokens_saved"].map((key) => Number(day[key])),
  ]));
  const listed = await cells(page, "section:has(#expensive)");
  assert.deepEqual(listed.map(([name, ...row]) => [name, ...row.slice(0, 4).map(number)]), tools.map((tool) => [
    tool.name, ...["runs", "failed", "fuel", "fuel_per_run"].map((key) => Number(tool[key])),
  ]));
  assert.deepEqual(tools.map((tool) => [tool.name, tool.id]), [["squares", id], ["cheap", cheap]]);
  assert.equal(listed[1].at(-1), "not reported");
  visitor.assertQuiet();
});

test("each bar is as high as its number, and a day without runs is a gap", async (t) => {
  const visitor = await Visitor.arrive(t, server, { viewport: { width: 1_280, height: 800 } });
  await visitor.context.addCookies(cookies);
  await servePast(visitor.context, server);
  const page = await visitor.open("/ledger");
  await drawn(page);
  const heights = (file) =>
    page.locator(`figure[data-file="${file}"] .plot-area > svg > g:not([transform]) > rect`).evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("height"))));
  for (const [file, series] of [["runs", ["succeeded", "failed"]], ["fuel", ["fuel"]], ["time", ["milliseconds"]], ["tokens", ["tokens_saved"]]]) {
    const expected = series.flatMap((key) => DAYS.map((day) => Number(day[key])).filter((value) => value > 0));
    const bars = await heights(file);
    assert.equal(bars.length, expected.length, file);
    const scale = bars[0] / expected[0];
    for (const [at, bar] of bars.entries()) assert.ok(Math.abs(bar - expected[at] * scale) < 0.01, `${file} ${at}: ${bar}`);
  }
  const lines = page.locator('figure[data-file="fuel-of-a-run"] .plot-area > svg path[stroke-linejoin], figure[data-file="fuel-of-a-run"] .plot-area > svg g[stroke-linejoin] path');
  const parts = await lines.evaluateAll((paths) => paths.map((path) => path.getAttribute("d").match(/M/g).length));
  // Two days are missing, so each of the two lines has three parts.
  assert.deepEqual(parts, [3, 3]);
  assert.match(await page.textContent('figure[data-file="fuel-of-a-run"] .plot-area'), /limit/);
  const names = await page.locator('figure[data-file="tools"] .plot-area a').evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  assert.deepEqual(names, TOOLS.map((tool) => `tools/${tool.id}`));
  visitor.assertQuiet();
});

test("a plot is drawn again when the window gets narrower", async (t) => {
  const visitor = await enter(t, "/ledger", { viewport: { width: 1_280, height: 800 } });
  const { page } = visitor;
  await drawn(page);
  await page.setViewportSize({ width: 380, height: 800 });
  const fits = () =>
    page.locator(".plot-area").evaluateAll((areas) => areas.every((area) => area.firstChild.getBoundingClientRect().width <= area.clientWidth));
  await eventually(async () => assert.ok(await fits()));
  visitor.assertQuiet();
});

test("the pointer shows the numbers of a day, and Escape hides them", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await drawn(page);
  await page.locator('figure[data-file="runs"] .plot-area > svg').scrollIntoViewIfNeeded();
  const bar = await page.locator('figure[data-file="runs"] .plot-area > svg > g:not([transform]) > rect').first().boundingBox();
  await page.mouse.move(bar.x - 40, bar.y + bar.height / 2);
  await page.mouse.move(bar.x + bar.width / 2, bar.y + bar.height / 2);
  const tip = page.locator('figure[data-file="runs"] .plot-pointer');
  await eventually(async () => assert.match(await tip.textContent(), /succeeded\s*3.*failed\s*1/s));
  await page.keyboard.press("Escape");
  await eventually(async () => assert.equal(await tip.textContent(), ""));
  visitor.assertQuiet();
});

test("a plot is saved as a file that other programs can show", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await drawn(page);
  // A page without a policy of its own, so that it may parse.
  const blank = await visitor.context.newPage();
  await page.bringToFront();
  const files = await page.locator("figure.plot").evaluateAll((figures) => figures.map((figure) => figure.dataset.file));
  assert.deepEqual(files, ["runs", "fuel", "time", "tokens", "fuel-of-a-run", "tools"]);
  for (const file of files) {
    const downloading = page.waitForEvent("download");
    await page.click(`figure[data-file="${file}"] button`);
    const download = await downloading;
    assert.equal(download.suggestedFilename(), `${file}.svg`);
    const text = readFileSync(await download.path(), "utf8");
    const found = await blank.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      const all = [...parsed.querySelectorAll("*")];
      const attributes = all.flatMap((element) => [...element.attributes]);
      return {
        errors: parsed.querySelectorAll("parsererror").length,
        elements: all.map(({ localName }) => localName).filter((name) => ["script", "style", "a", "foreignObject", "image", "use"].includes(name)),
        attributes: attributes.map(({ name }) => name).filter((name) => /^(on|style$|class$|aria-|data-|href$|xlink)/.test(name)),
        values: attributes.map(({ value }) => value).filter((value) => value.includes("var(")),
        missing: attributes.flatMap(({ value }) => [...value.matchAll(/url\(#([^)]*)\)/g)].map(([, id]) => id)).filter((id) => !parsed.getElementById(id)),
        addresses: attributes.filter(({ name, value }) => !name.startsWith("xmlns") && /:\/\//.test(value)).map(({ value }) => value),
        title: parsed.documentElement.querySelector("title").textContent,
        isDrawn: parsed.querySelectorAll("rect, path").length > 2,
        root: parsed.documentElement.namespaceURI,
      };
    }, text);
    const title = await page.textContent(`figure[data-file="${file}"] figcaption`);
    const clean = { errors: 0, elements: [], attributes: [], values: [], missing: [], addresses: [] };
    assert.deepEqual(found, { ...clean, title, isDrawn: true, root: "http://www.w3.org/2000/svg" }, file);
    // All words of the plot are in the file.
    const words = (html) => html.replaceAll(/<(title|style)[^]*?<\/\1>/g, "").replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ").trim();
    const shown = await page.locator(`figure[data-file="${file}"] .plot-area > svg`).innerHTML();
    assert.equal(words(text), words(shown), file);
  }
  visitor.assertQuiet();
});

test("a click, and keys, download the numbers of a plot", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await drawn(page);
  for (const [file, path] of [["runs", "/ledger/usage.csv?days=30"], ["fuel", "/ledger/usage.csv?days=30"], ["tools", "/ledger/tools.csv?days=30"]]) {
    const link = page.locator(`figure[data-file="${file}"] a:text-is("CSV")`);
    for (const follow of [() => link.click(), () => link.press("Enter")]) {
      const downloading = page.waitForEvent("download");
      await follow();
      const download = await downloading;
      assert.equal(download.suggestedFilename(), `toolcell-${file}.csv`);
      assert.deepEqual(parseCsv(readFileSync(await download.path(), "utf8")), await csv(visitor, path));
    }
  }
  visitor.assertQuiet();
});

test("a period is chosen by mouse and by keyboard, and a tool stays chosen", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  const period = () => page.locator("figure.plot").first().evaluate(({ dataset }) => (Date.parse(dataset.to) - Date.parse(dataset.from)) / 86_400_000 + 1);
  assert.equal(await period(), 30);
  await page.selectOption("#days", "7");
  await page.click("form.search button");
  await page.waitForURL(/days=7$/);
  assert.equal(await period(), 7);
  assert.equal(await page.inputValue("#days"), "7");
  await page.click('section:has(#expensive) th a:text-is("squares")');
  await page.waitForURL(new RegExp(`tool=${id}`));
  assert.match(page.url(), /days=7/);
  await page.focus("#days");
  await page.keyboard.type("90");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/days=90/);
  assert.equal(await period(), 90);
  assert.equal(await page.textContent("h1"), "Ledger: squares");
  await drawn(page);
  visitor.assertQuiet();
});

test("the ledger of a tool has the numbers of that tool, and a way back", async (t) => {
  const visitor = await enter(t, `/ledger?tool=${id}`);
  const { page } = visitor;
  await drawn(page);
  assert.equal(await page.locator("#expensive").count(), 0);
  const days = await csv(visitor, `/ledger/usage.csv?days=30&tool=${id}`);
  assert.deepEqual(days.map(({ runs, failed, tokens_saved: saved }) => [runs, failed, saved]), [["3", "1", "750"]]);
  assert.equal(await label(page, "runs"), "Runs of each day. succeeded: 2, failed: 1");
  await page.click('h1 >> text="squares"');
  await page.waitForURL(`${server.base}/tools/${id}`);
  await page.goBack();
  await page.click("text=all tools");
  await page.waitForURL(`${server.base}/ledger?days=30`);
  assert.equal(await page.textContent("h1"), "Ledger");
  // By its name, too.
  await page.goto(`${server.base}/ledger?tool=cheap`);
  assert.equal(await page.textContent(".tiles dd"), "1");
  await drawn(page);
  visitor.assertQuiet();
});

test("a bar of the ranking leads to its tool, by mouse and by keyboard", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await drawn(page);
  await page.click('figure[data-file="tools"] .plot-area a:has-text("cheap")');
  await page.waitForURL(`${server.base}/tools/${cheap}`);
  await page.goto(`${server.base}/ledger`);
  await drawn(page);
  await page.focus('figure[data-file="fuel-of-a-run"] button');
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), `tools/${id}`);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}/tools/${id}`);
  visitor.assertQuiet();
});

test("a tool without runs, and a store without runs, have a ledger that says so", async (t) => {
  const visitor = await enter(t, `/ledger?tool=${unused}`);
  assert.equal(await visitor.page.textContent(".empty"), "No tool ran in this period.");
  assert.equal(await visitor.page.locator("figure").count(), 0);
  assert.deepEqual(await csv(visitor, `/ledger/usage.csv?tool=${unused}`), []);
  const empty = new Store(t);
  await empty.create("only_one");
  const other = await Visitor.enter(t, await empty.serve());
  const page = await other.open("/ledger");
  assert.equal(await page.textContent(".empty"), "No tool ran in this period.");
  assert.deepEqual(await page.locator(".tiles dd").allTextContents(), ["0", "0", "0", "0.00 ms", "not reported", "not reported"]);
  visitor.assertQuiet();
  other.assertQuiet();
});

test("a period that there is not, and a tool that there is not, are refused with a message", async (t) => {
  const visitor = await enter(t);
  for (const days of ["0", "8", "-7", "7.5", "65536", "1e1", "seven", "%00"]) {
    const answer = await visitor.page.goto(`${server.base}/ledger?days=${days}`);
    assert.equal(answer.status(), 400, days);
    assert.ok((await visitor.page.textContent("main")).length > 10, days);
  }
  await visitor.page.goto(`${server.base}/ledger?days=8`);
  assert.match(await visitor.page.textContent("main"), /no such period.*choose 7, 30, 90 or 365 days/s);
  assert.equal((await visitor.page.goto(`${server.base}/ledger?tool=no_such_tool`)).status(), 404);
  visitor.assertQuiet();
});

test("a file of a period that there is not is refused, too", async (t) => {
  const visitor = await enter(t);
  for (const days of ["0", "8", "65535", "seven"]) {
    for (const file of ["usage", "tools"]) {
      const { status } = await server.ask(`/ledger/${file}.csv?days=${days}`, { headers: { cookie: await visitor.cookie() } });
      assert.equal(status, 400, `${file}.csv?days=${days}`);
    }
  }
});

test("without scripts the tables and the links are there", async (t) => {
  const visitor = await enter(t, "/ledger", { javaScriptEnabled: false });
  const { page } = visitor;
  assert.equal(await page.locator("section:has(#expensive) tbody tr").count(), 2);
  await page.click("text=The days as a table");
  await page.waitForSelector("details[open] tbody tr");
  const downloading = page.waitForEvent("download");
  await page.locator('a:text-is("CSV")').first().click();
  assert.equal((await downloading).suggestedFilename(), "toolcell-runs.csv");
  await page.selectOption("#days", "365");
  await page.click("form.search button");
  await page.waitForURL(/days=365$/);
  await page.click('section:has(#expensive) th a:text-is("cheap")');
  await page.waitForURL(/tool=dt_/);
  assert.equal(await page.textContent("h1"), "Ledger: cheap");
  visitor.assertQuiet();
});

test("a figure whose numbers cannot be loaded keeps its links, and the page says that the server does not answer", async (t) => {
  const visitor = await Visitor.arrive(t, server);
  await visitor.context.addCookies(cookies);
  await visitor.context.route("**/ledger/usage.csv?*", (route) => route.abort());
  const page = await visitor.open("/ledger");
  await page.waitForSelector("#offline:not([hidden])");
  await page.waitForSelector('figure[data-file="tools"] svg');
  assert.equal(await page.locator('figure[data-file="runs"] svg').count(), 0);
  assert.equal(await page.locator('figure[data-file="runs"] a').count(), 1);
});

test("a hostile text in the address of the ledger is text, and no error of the server", async (t) => {
  const visitor = await enter(t);
  const cookie = await visitor.cookie();
  for (const [name, text] of HOSTILE_TEXTS) {
    const value = encodeURIComponent(text);
    const status = (await visit(visitor, `/ledger?tool=${value}`)).status();
    assert.ok(status >= 400 && status < 500, `${name}: ${status}`);
    for (const path of [`/ledger?days=${value}`, `/ledger/usage.csv?tool=${value}`, `/ledger/tools.csv?days=${value}`]) {
      const { status, body, headers } = await server.ask(path, { headers: { cookie } });
      assert.ok(status < 500, `${name}: ${status} for ${path}`);
      if (headers["content-type"]?.startsWith("text/html") && text.includes("<")) assert.ok(!body.includes(text), `${name}: ${path}`);
    }
  }
});
