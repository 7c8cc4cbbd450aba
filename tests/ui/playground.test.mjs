// The playground: an editor that tells what it finds, runs of drafts, and tools with tests made of these runs.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertAccessible } from "./accessible.mjs";
import { HOSTILE_TEXTS, hasHidden } from "./hostile-texts.mjs";
import { assertAllShown, assertHarmless, assertShown, chars, visit } from "./harmless.mjs";
import { PERSON, POLICY, Store, Visitor, WAITING_PARAMETERS, WAITING_SOURCE, assertSamePage, eventually, markPage } from "./support.mjs";

/** Drafts get timers, so that a tool that asks for them can be tried before it waits for approval. */
const DRAFTS = `${POLICY}[grants.drafts]\ntimers = true\n`;
const RUN = "button[value=run]:not([aria-hidden])";
const GREETING = "export const execute = ({ name }) => { console.log('greets', name); return `Hello, ${name}`; };\n";
const ENDLESS = "export const execute = () => { while (true) {} };\n";
/** The longest name of a parameter that a test uses, in characters. */
const MAX_NAME_CHARS = 60;
/** The number of hostile texts on one page. */
const BATCH = 21;

const store = new Store({ after }, DRAFTS);
const taken = await store.create("taken", { tags: ["old"], examples: [{ parameters: { ms: 1 }, result: 1 }] });
const server = await store.serve();
const cookies = await (await Visitor.enter({ after }, server)).context.cookies();

/** Opens another browser with the session of the first, at the playground. */
async function enter(t, path = "/playground", options = {}) {
  const visitor = await Visitor.arrive(t, server, options);
  await visitor.context.addCookies(cookies);
  visitor.page = await visitor.open(path);
  if (path.startsWith("/playground") && options.javaScriptEnabled !== false) await visitor.page.waitForSelector(".cm-content");
  return visitor;
}

/** Replaces the code in the editor, as a person does who selects all of it. */
async function write(page, code) {
  await page.click(".cm-content");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(code);
  assert.equal(await page.inputValue("#code"), code);
}

/** Waits until the run that was started has ended. */
async function ended(page) {
  // Without an output it is there, but not seen.
  await page.waitForSelector("#output[aria-busy=false]", { state: "attached" });
}

async function runByKey(page) {
  await page.keyboard.press("ControlOrMeta+Enter");
  await ended(page);
}

async function assertFocus(page, selector) {
  assert.ok(await page.locator(selector).evaluate((element) => element === document.activeElement), `${selector} has the focus`);
}

/** Returns the audit lines of the runs of drafts, the oldest first. */
async function runsOf(store) {
  return store.lines(["audit", "--action", "exec", "--oldest-first", "--limit", "1000"]);
}

/** Sends the form without a browser, as the page does, but for what `changes` says. */
async function send(visitor, action, { headers = {}, fields = {} } = {}) {
  const cookie = await visitor.cookie();
  const { body } = await server.ask("/playground", { headers: { cookie } });
  const token = /name="form_token" value="([0-9a-f]+)"/.exec(body)[1];
  const form = new URLSearchParams({ form_token: token, code: GREETING, schema: "", action, ...fields });
  const all = Object.entries({ cookie, origin: server.origin, ...headers }).filter(([, value]) => value !== undefined);
  return server.ask("/playground", { method: "POST", headers: Object.fromEntries(all), body: String(form) });
}

test("findings appear while a person types, and the focus stays in the editor", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await markPage(page);
  await write(page, "export const execute = ({ name }) => name;\n");
  await page.keyboard.type("// a comment\n");
  await page.keyboard.type("eval(");
  await page.waitForSelector("#checked .severity-critical");
  await page.keyboard.type("name");
  await eventually(async () => assert.match(await page.textContent("#checked"), /eval/));
  await page.waitForSelector(".cm-lint-marker-error");
  await assertFocus(page, ".cm-content");
  await write(page, "export const execute = ( => 1;\n");
  await eventually(async () => assert.match(await page.textContent("#checked"), /line 1.*expected/s));
  await write(page, "export const execute = () => 1;\n");
  await eventually(async () => assert.equal(await page.textContent("#checked"), "The analysis has no findings."));
  assert.equal(await page.locator(".cm-lint-marker").count(), 0);
  await assertFocus(page, ".cm-content");
  await assertSamePage(page);
  assert.deepEqual(await runsOf(store), [], "a check runs nothing");
  visitor.assertQuiet();
});

test("a click on a finding, and F8, go to its place in the code", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, "export const execute = () => 1;\n\n\nexport const other = () => eval('1');\n");
  await page.waitForSelector("#checked [data-line='4']");
  const lineOfCursor = () => page.locator(".cm-activeLineGutter").first().textContent();
  for (const go of [
    () => page.locator("#checked [data-line='4']").first().click(),
    async () => {
      await page.click(".cm-line >> nth=0");
      await page.keyboard.press("F8");
    },
  ]) {
    await go();
    await eventually(async () => assert.equal(await lineOfCursor(), "4"));
    await assertFocus(page, ".cm-content");
  }
  visitor.assertQuiet();
});

test("the editor completes the names of what a cell has", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, "export const execute = async () => {\n  await ");
  await page.keyboard.type("kv.");
  // While `kv` is typed, the list has the names that begin with it.
  await eventually(async () => {
    const names = await page.locator(".cm-tooltip-autocomplete .cm-completionLabel").allTextContents();
    for (const name of ["get", "set", "delete"]) assert.ok(names.includes(name), `${name} of ${names}`);
  });
  await page.keyboard.type("ge");
  await eventually(async () => assert.equal(await page.textContent(".cm-tooltip-autocomplete [aria-selected] .cm-completionLabel"), "get"));
  await page.keyboard.press("Tab");
  await page.waitForSelector(".cm-tooltip-autocomplete", { state: "detached" });
  assert.match(await page.inputValue("#code"), /await kv\.get$/);
  await assertFocus(page, ".cm-content");
  visitor.assertQuiet();
});

test("the fields are those of the schema, and keep what was typed when the schema changes", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await page.fill("[name='p.name']", "ada");
  await page.click("#schema summary");
  const schema = {
    name: { type: "string", required: true },
    count: { type: "number", description: "How often <b>", default: 2 },
    loud: { type: "boolean" },
    tone: { type: "string", enum: ["kind", "rude"] },
    list: { type: "array" },
  };
  await page.fill("#schema-text", JSON.stringify(schema));
  await page.waitForSelector("[name='p.count']");
  assert.equal(await page.inputValue("[name='p.name']"), "ada");
  await assertFocus(page, "#schema-text");
  await page.fill("[name='p.count']", "3");
  await page.selectOption("[name='p.loud']", "true");
  await page.selectOption("[name='p.tone']", { label: '"rude"' });
  await page.fill("[name='p.list']", "[1, 2]");
  await page.fill("#schema-text", JSON.stringify({ ...schema, more: { type: "string" } }));
  await page.waitForSelector("[name='p.more']");
  await write(page, "export const execute = (all) => all;\n");
  await runByKey(page);
  assert.deepEqual(JSON.parse(await page.textContent("#output .result")), { name: "ada", count: 3, loud: true, tone: "rude", list: [1, 2] });
  visitor.assertQuiet();
});

test("what was typed in the fields survives a schema that is invalid while it is edited", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await page.fill("[name='p.name']", "ada");
  await page.click("#schema summary");
  const schema = await page.inputValue("#schema-text");
  await page.fill("#schema-text", `${schema},`);
  await eventually(async () => assert.match(await page.textContent("#schema"), /the text is not JSON/));
  await assertFocus(page, "#schema-text");
  await page.fill("#schema-text", schema);
  await eventually(async () => assert.doesNotMatch(await page.textContent("#schema"), /the text is not JSON/));
  await page.waitForSelector("[name='p.name']");
  assert.equal(await page.inputValue("[name='p.name']"), "ada");
  visitor.assertQuiet();
});

test("Ctrl-Enter and the button run the code, and the page shows what came of it", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await markPage(page);
  const before = (await runsOf(store)).length;
  await write(page, GREETING);
  await page.fill("[name='p.name']", "ada");
  for (const [name, run] of [
    ["ada", () => page.press("[name='p.name']", "ControlOrMeta+Enter")],
    ["bob", () => page.click(RUN)],
    ["eve", () => page.press(".cm-content", "ControlOrMeta+Enter")],
  ]) {
    await page.fill("[name='p.name']", name);
    await run();
    await ended(page);
    const texts = await page.locator("#output .result").allTextContents();
    assert.deepEqual(texts, [`"Hello, ${name}"`, `greets ${name}`]);
    const [fuel] = await page.locator("#output .tiles dd").allTextContents();
    const line = (await runsOf(store)).at(-1);
    assert.equal(Number(fuel.replaceAll("\u202f", "")), line.details.fuel);
    assert.ok(line.details.fuel > 0 && line.success);
    assert.match(line.details.caller, new RegExp(`page \\(${PERSON}\\)`));
  }
  assert.equal((await runsOf(store)).length, before + 3);
  assert.match(await page.textContent("#output table"), /execute/);
  assert.equal(await page.locator("input[name=example]").count(), 3);
  await assertSamePage(page);
  visitor.assertQuiet();
});

for (const colorScheme of ["light", "dark"]) {
  test(`the accessibility checker finds nothing after a run, with findings and an error, ${colorScheme}`, async (t) => {
    const { page } = await enter(t, "/playground", { colorScheme });
    for (const code of [GREETING, "export const execute = () => { throw new Error('x'); }; // \u202e\n", "export const execute = () => eval('1');\n"]) {
      await write(page, code);
      await runByKey(page);
      await assertAccessible(page, code);
    }
  });
}

test("Enter in a field runs the code, and saves nothing", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await markPage(page);
  await page.fill("#name", "not_saved");
  await page.press("#name", "Enter");
  await ended(page);
  assert.match(await page.textContent("#output .result"), /Hello/);
  await assertSamePage(page);
  assert.notEqual((await store.run(["show", "not_saved"])).status, 0);
  visitor.assertQuiet();
});

test("the flame graph of a run is an image that runs no script", async (t) => {
  const visitor = await enter(t);
  const { page, context } = visitor;
  const hostile = "<script>pwned=1</script>\"&]]>";
  await write(page, `const all = { [${JSON.stringify(hostile)}]() { let sum = 0; for (let i = 0; i < 500; i++) sum += i; return sum; } };\nexport const execute = () => all[Object.keys(all)[0]]();\n`);
  await runByKey(page);
  const image = page.locator("#output img.flame");
  await image.scrollIntoViewIfNeeded();
  await eventually(async () => assert.ok((await image.evaluate(({ naturalWidth }) => naturalWidth)) > 0, "the image is loaded"));
  await assertShown(page, "#output table th", hostile, "name of a function");
  visitor.assertQuiet();
  const path = `/${await image.getAttribute("src")}`;
  const { status, headers, body } = await server.ask(path, { headers: { cookie: await visitor.cookie() } });
  assert.deepEqual([status, headers["content-type"]], [200, "image/svg+xml"]);
  assert.match(headers["content-security-policy"], /^default-src 'none'; style-src 'unsafe-inline'; sandbox$/);
  assert.ok(!body.includes("<script>pwned"), "the name is escaped");
  assert.equal((await server.ask(path)).status, 401, "it is for the session alone");
  assert.equal((await server.ask("/playground/flame/0.svg", { headers: { cookie: await visitor.cookie() } })).status, 404);
  // Opened by itself, it is drawn, and its script does not run.
  const opening = context.waitForEvent("page");
  await page.click("#output a:has(img.flame)");
  const opened = await opening;
  await opened.waitForLoadState();
  assert.deepEqual(await opened.evaluate(() => [document.documentElement.localName, typeof init, typeof pwned]), ["svg", "undefined", "undefined"]);
  assert.deepEqual(visitor.dialogs, []);
  assert.deepEqual(visitor.foreignRequests, []);
});

test("a run that throws shows its message and its stack, and is offered as an example", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, "export const execute = () => { console.log('before'); throw new RangeError('too many'); };\n");
  await runByKey(page);
  assert.match(await page.textContent("#output .alarm"), /RangeError: too many/);
  assert.match(await page.textContent("#output"), /at execute \(.*:1:/);
  assert.match(await page.textContent("#output .result"), /before/);
  const example = JSON.parse(await page.inputValue("input[name=example]"));
  assert.equal(example.throws, "too many");
  visitor.assertQuiet();
});

test("an endless loop ends at the fuel limit, and a limit that is no number is named", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, ENDLESS);
  await page.fill("#limit-fuel", "2_000_000");
  await runByKey(page);
  assert.match(await page.textContent("#output .alarm"), /fuel/);
  assert.equal((await runsOf(store)).at(-1).error, "out-of-fuel");
  assert.equal(await page.locator("input[name=example]").count(), 0, "a run that was stopped is no example");
  for (const [field, name] of [["#limit-fuel", "fuel"], ["#limit-timeout", "timeout"], ["#limit-memory", "memory"]]) {
    await page.fill(field, "much");
    await runByKey(page);
    assert.match(await page.textContent("#output .alarm"), new RegExp(`the limit ${name} is not a whole number`));
    assert.equal(await page.inputValue(field), "much");
    await page.fill(field, name === "fuel" ? "2000000" : "");
  }
  visitor.assertQuiet();
});

test("Cancel ends a run, what is typed meanwhile stays, and the server is free afterwards", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  const before = (await runsOf(store)).length;
  assert.equal(await page.isVisible("#cancel"), false);
  await page.fill("#limit-timeout", "120000");
  // One more than the server has threads for runs would not start while the others still ran.
  for (const cancel of [() => page.click("#cancel"), () => page.press("#cancel", "Enter"), () => page.press("#cancel", "Space")]) {
    await write(page, ENDLESS);
    await page.click(RUN);
    await page.waitForSelector("#cancel:not([hidden])");
    await page.click(".cm-content");
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("// meanwhile");
    await cancel();
    await ended(page);
    assert.equal(await page.isVisible("#cancel"), false);
    assert.equal(await page.inputValue("#code"), `${ENDLESS}// meanwhile`);
  }
  // A button that is hidden would lose the focus.
  await assertFocus(page, RUN);
  await eventually(async () => assert.equal((await runsOf(store)).length, before + 3));
  assert.ok((await runsOf(store)).slice(before).every(({ success }) => !success));
  await write(page, "export const execute = () => 'free';\n");
  await runByKey(page);
  assert.equal(await page.textContent("#output .result"), '"free"');
  visitor.assertQuiet();
});

test("closing the page ends its run", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  const before = (await runsOf(store)).length;
  await page.fill("#limit-timeout", "120000");
  await write(page, ENDLESS);
  await page.click(RUN);
  await page.waitForSelector("#cancel:not([hidden])");
  await page.close();
  await eventually(async () => assert.equal((await runsOf(store)).length, before + 1));
  visitor.assertQuiet();
});

test("a tool is saved with the examples that stay checked, and waits in the inbox", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, WAITING_SOURCE);
  await page.click("#schema summary");
  await page.fill("#schema-text", JSON.stringify(WAITING_PARAMETERS));
  await page.waitForSelector("[name='p.ms']");
  for (const ms of ["1", "2"]) {
    await page.fill("[name='p.ms']", ms);
    await page.click(RUN);
    await ended(page);
  }
  assert.equal(await page.locator("input[name=example]:checked").count(), 2);
  await page.uncheck("input[name=example] >> nth=1");
  await page.fill("#name", "saved_here");
  await page.fill("#description", "Waits, and returns");
  await page.fill("#tags", "time, 待つ、 wait");
  await page.click("button[value=save]");
  await page.waitForURL(/\/tools\/dt_/);
  assert.match(await page.textContent("h1"), /saved_here/);
  assert.match(await page.textContent(".decision"), /needs your approval/);
  const [shown] = await store.lines(["show", "saved_here"]);
  assert.deepEqual(shown.examples, [{ parameters: { ms: 1 }, result: 1 }]);
  assert.deepEqual([shown.description, shown.tags.sort()], ["Waits, and returns", ["time", "wait", "待つ"]]);
  await page.goto(`${server.base}/`);
  assert.ok((await page.locator("section:has(#pending) a[data-row]").allTextContents()).includes("saved_here"));
  visitor.assertQuiet();
});

test("a run with the same parameters takes the place of the example of an earlier one", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await page.fill("[name='p.name']", "ada");
  for (const word of ["Hi", "Bye"]) {
    await write(page, `export const execute = ({ name }) => "${word} " + name;\n`);
    // Twice, which is one example.
    await runByKey(page);
    await runByKey(page);
  }
  const offered = await page.locator("input[name=example]:checked").evaluateAll((boxes) => boxes.map(({ value }) => JSON.parse(value).result));
  // Both could never pass.
  assert.deepEqual(offered, ["Bye ada"]);
  visitor.assertQuiet();
});

test("what is typed while a run is under way stays when it has ended", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, ENDLESS);
  await page.fill("#limit-timeout", "1500");
  await page.click(RUN);
  await page.waitForSelector("#cancel:not([hidden])");
  await page.fill("#name", "while_it_runs");
  await page.fill("[name='p.name']", "meanwhile");
  await page.fill("#tags", "a");
  await ended(page);
  assert.match(await page.textContent("#output .alarm"), /time/);
  const values = await Promise.all(["#name", "[name='p.name']", "#tags"].map((field) => page.inputValue(field)));
  assert.deepEqual(values, ["while_it_runs", "meanwhile", "a"]);
  await assertFocus(page, "#tags");
  visitor.assertQuiet();
});

test("keys alone write, run and save a tool", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  const tabTo = async (selector) => {
    for (let presses = 0; presses < 40; presses++) {
      if (await page.locator(selector).evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not reach ${selector}`);
  };
  await tabTo(".cm-content");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  // The editor closes brackets and quotes itself.
  await page.keyboard.type("export const execute = ({ name }) => name.length;");
  assert.equal(await page.inputValue("#code"), "export const execute = ({ name }) => name.length;");
  // One Escape may close what the editor offers, such as a completion.
  for (const key of ["Escape", "Escape", "Tab"]) await page.keyboard.press(key);
  await tabTo("[name='p.name']");
  await page.keyboard.type("four");
  await tabTo(RUN);
  await page.keyboard.press("Enter");
  await ended(page);
  assert.equal(await page.textContent("#output .result"), "4");
  await tabTo("#name");
  await page.keyboard.type("typed_by_keys");
  await tabTo("#description");
  await page.keyboard.type("Counts characters");
  await tabTo("button[value=save]");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tools\/dt_/);
  const [shown] = await store.lines(["show", "typed_by_keys"]);
  assert.deepEqual(shown.examples, [{ parameters: { name: "four" }, result: 4 }]);
  visitor.assertQuiet();
});

test("a name that is taken keeps everything that was typed, and shows the error", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, GREETING);
  await page.fill("[name='p.name']", "a\nb <i>");
  await page.fill("#limit-fuel", "30000000");
  await page.click(RUN);
  await ended(page);
  const typed = { "#code": GREETING, "[name='p.name']": "a\nb <i>", "#limit-fuel": "30000000", "#name": "taken", "#description": "Greets \"all\" & <b>", "#tags": "a, b" };
  for (const field of ["#name", "#description", "#tags"]) await page.fill(field, typed[field]);
  await page.click("button[value=save]");
  await page.waitForSelector("#save .alarm");
  assert.match(await page.textContent("#save .alarm"), /taken/);
  await page.waitForSelector(".cm-content");
  for (const [field, value] of Object.entries(typed)) assert.equal(await page.inputValue(field), value, field);
  assert.equal((await page.locator(".cm-line").allTextContents()).join("\n"), GREETING);
  const [example] = await page.locator("input[name=example]").evaluateAll((boxes) => boxes.map(({ value, checked }) => [JSON.parse(value).result, checked]));
  assert.deepEqual(example, ["Hello, a\nb <i>", true]);
  assert.equal((await store.lines(["show", "taken"]))[0].id, taken);
  visitor.assertQuiet();
});

test("the reason why a tool was not saved is in sight", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await page.fill("#name", "taken");
  await page.fill("#description", "Greets");
  await page.click("button[value=save]");
  await page.waitForSelector("#save .alarm");
  await page.waitForSelector(".cm-content");
  const isInSight = () => page.locator("#save .alarm").evaluate((alarm) => alarm.getBoundingClientRect().bottom <= innerHeight);
  await eventually(async () => assert.ok(await isInSight(), "the page is scrolled to the error"), 2_000);
  visitor.assertQuiet();
});

test("a tool is opened from its page, changed, and saved as a new version", async (t) => {
  const first = await store.create("to_change", { examples: [{ parameters: { ms: 1 }, result: 1 }], tags: ["one"] });
  const visitor = await enter(t, "/");
  const { page } = visitor;
  await page.goto(`${server.base}/tools/${first}`);
  await page.click("text=Open it in the playground");
  await page.waitForSelector(".cm-content");
  assert.equal(await page.inputValue("#code"), WAITING_SOURCE);
  assert.deepEqual([await page.inputValue("#name"), await page.inputValue("#tags"), await page.isChecked("[name=replace]")], ["to_change", "one", true]);
  await page.fill("[name='p.ms']", "3");
  await page.click(RUN);
  await ended(page);
  assert.equal(await page.textContent("#output .result"), "3");
  await page.click(".cm-content");
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type("// changed");
  await page.click("button[value=save]");
  await page.waitForURL(/\/tools\/dt_/);
  const [shown] = await store.lines(["show", "to_change"]);
  assert.notEqual(shown.id, first);
  assert.deepEqual(shown.examples.map(({ result }) => result), [1, 3]);
  assert.equal((await page.goto(`${server.base}/playground?tool=no_such_tool`)).status(), 404);
  visitor.assertQuiet();
});

test("the keys of the page do nothing while a person types", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  const url = page.url();
  await write(page, "");
  await page.keyboard.type("ja/kir?");
  assert.equal(await page.inputValue("#code"), "ja/kir?");
  await assertFocus(page, ".cm-content");
  for (const field of ["#p-0", "#limit-fuel", "#name"]) {
    await page.focus(field);
    await page.keyboard.type("ja/kir?");
    assert.equal(await page.inputValue(field), "ja/kir?");
    await assertFocus(page, field);
  }
  assert.equal(await page.isVisible("dialog"), false);
  assert.equal(page.url(), url);
  // Outside of fields they work.
  await page.focus(RUN);
  await page.keyboard.press("i");
  await page.waitForURL(`${server.base}/`);
  visitor.assertQuiet();
});

test("Tab indents, and Escape and then Tab leaves the editor", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, "a");
  await page.keyboard.press("Tab");
  assert.match(await page.inputValue("#code"), /^\s+a$|^a\s+$/);
  await assertFocus(page, ".cm-content");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  assert.equal(await page.locator(".cm-content").evaluate((editor) => editor === document.activeElement), false);
  await page.keyboard.press("Shift+Tab");
  await assertFocus(page, ".cm-content");
  await page.keyboard.press("Control+m");
  await page.keyboard.press("Tab");
  assert.equal(await page.locator(".cm-content").evaluate((editor) => editor === document.activeElement), false);
  visitor.assertQuiet();
});

test("typing over all of the code violates no policy of the page", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await page.click(".cm-content");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("x");
  assert.equal(await page.inputValue("#code"), "x");
  visitor.assertQuiet();
});

test("without scripts a person checks, runs and saves", async (t) => {
  const visitor = await enter(t, "/playground", { javaScriptEnabled: false });
  const { page } = visitor;
  await page.fill("#code", "export const execute = ({ n }) => eval('n');\n");
  await page.click("button[value=check]");
  await page.waitForSelector("#checked .severity-critical");
  await page.fill("#code", "export const execute = ({ n }) => n + 1;\n");
  await page.click("#schema summary");
  await page.fill("#schema-text", JSON.stringify({ n: { type: "number", required: true } }));
  await page.click("button[value=check]");
  await page.waitForSelector("[name='p.n']");
  await page.fill("[name='p.n']", "41");
  await page.click(RUN);
  await page.waitForSelector("#output .result");
  assert.equal(await page.textContent("#output .result"), "42");
  await page.fill("#name", "plain");
  await page.fill("#description", "Adds one");
  await page.click("button[value=save]");
  await page.waitForURL(/\/tools\/dt_/);
  assert.deepEqual((await store.lines(["show", "plain"]))[0].examples, [{ parameters: { n: 41 }, result: 42 }]);
  visitor.assertQuiet();
});

test("going back after saving, the page works, and the editor has what the form has", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  await write(page, GREETING);
  await page.fill("[name='p.name']", "ada");
  await page.fill("#name", "went_back");
  await page.fill("#description", "Greets");
  await page.click("button[value=save]");
  await page.waitForURL(/\/tools\/dt_/);
  await page.goBack();
  await page.waitForSelector(".cm-content");
  const code = await page.inputValue("#code");
  assert.equal((await page.locator(".cm-line").allTextContents()).join("\n"), code);
  await page.click(RUN);
  await ended(page);
  assert.match(await page.textContent("#output .result"), /Hello/);
  visitor.assertQuiet();
});

test("a form from another origin, from none, or with a wrong token runs and saves nothing", async (t) => {
  const visitor = await enter(t);
  const before = (await runsOf(store)).length;
  const wrong = [
    ["a foreign origin", { headers: { origin: "http://evil.example" } }],
    ["the origin under another name", { headers: { origin: `http://localhost:${server.port}` } }],
    ["no origin", { headers: { origin: undefined } }],
    ["no origin, from another site", { headers: { origin: undefined, "sec-fetch-site": "cross-site" } }],
    ["a wrong form token", { fields: { form_token: "0".repeat(64) } }],
    ["an empty form token", { fields: { form_token: "" } }],
  ];
  for (const [what, changes] of wrong) {
    for (const action of ["run", "check", "save"]) {
      const fields = { name: "foreign", ...changes.fields };
      assert.equal((await send(visitor, action, { ...changes, fields })).status, 403, `${what}: ${action}`);
    }
  }
  for (const fields of [{ action: "delete" }, { action: "" }, { more: "1" }, { "q.name": "1" }]) {
    assert.equal((await send(visitor, "run", { fields })).status, 400, JSON.stringify(fields));
  }
  assert.equal((await send(visitor, "run", { fields: { code: "x".repeat(3 << 20) } })).status, 413);
  assert.equal((await runsOf(store)).length, before);
  assert.notEqual((await store.run(["show", "foreign"])).status, 0);
  // The same request runs when nothing is wrong with it.
  assert.equal((await send(visitor, "run")).status, 200);
  assert.equal((await runsOf(store)).length, before + 1);
});

test("code that is too large is refused beside it, and stays", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  const code = `// ${"x".repeat(80 << 10)}\n${GREETING}`;
  await write(page, code);
  await runByKey(page);
  assert.match(await page.textContent("#output .alarm"), /bytes/);
  assert.equal(await page.inputValue("#code"), code);
  visitor.assertQuiet();
});

test("when the server does not answer, a notice appears, and the text stays", async (t) => {
  const own = new Store(t, DRAFTS);
  await own.create("only_one");
  const other = await own.serve();
  const visitor = await Visitor.enter(t, other);
  const { page } = visitor;
  await page.goto(`${other.base}/playground`);
  await page.waitForSelector(".cm-content");
  await markPage(page);
  assert.equal(await other.stop(), 0);
  await write(page, GREETING);
  await page.waitForSelector("#offline:not([hidden])");
  await page.click(RUN);
  await ended(page);
  await page.fill("[name='p.name']", "ada");
  assert.equal(await page.isVisible("#offline"), true);
  assert.equal(await page.isVisible("#cancel"), false);
  assert.deepEqual([await page.inputValue("#code"), await page.inputValue("[name='p.name']")], [GREETING, "ada"]);
  await assertSamePage(page);
  assert.deepEqual([visitor.dialogs, visitor.foreignRequests], [[], []]);
});

/** The texts that may be the name of a parameter: the form of a page cannot send others as they are. */
const isName = (text) => text !== "" && !/[\0\n\r]/.test(text);

/** Stores a tool whose author has put each of the texts everywhere. */
async function createHostile(at, texts) {
  const lines = texts.map((text) => `// ${text.replaceAll(/[\0\n\r\u2028\u2029]/g, " ")}`);
  const code = `${lines.join("\n")}
const texts = ${JSON.stringify(texts)};
export function execute({ fail, ...all }) {
  for (const text of texts) console.log(text);
  if (fail) throw new Error(texts.join("\\n"));
  return { texts, all };
}
`;
  const named = [...new Map(texts.map((text) => [chars(text, MAX_NAME_CHARS), text]).filter(([name]) => isName(name)))];
  const parameters = { fail: { type: "boolean" }, ...Object.fromEntries(named.map(([name, text]) => [name, { type: "string", description: text }])) };
  const examples = [{ parameters: {}, throws: texts[0] }];
  await store.create(`hostile_${at}`, { description: chars(texts.join(" "), 900), code, parameters, examples });
  return { lines, named };
}

for (let at = 0; at < HOSTILE_TEXTS.length; at += BATCH) {
  const batch = HOSTILE_TEXTS.slice(at, at + BATCH);
  test(`hostile texts are text everywhere in the playground: ${batch[0][0]}, and others`, async (t) => {
    const texts = batch.map(([, text]) => text);
    const { lines, named } = await createHostile(at, texts);
    const visitor = await enter(t, "/");
    const { page } = visitor;
    await visit(visitor, `/playground?tool=hostile_${at}`);
    await page.waitForSelector(".cm-content");
    await assertHarmless(visitor, "editor");
    // A parser of HTML replaces carriage returns and null characters, which no line has.
    assert.equal((await page.inputValue("#code")).split("\n").slice(0, lines.length).join("\n"), lines.join("\n"));
    assert.equal(await page.locator(".cm-content").evaluate(({ innerText }) => innerText).then(hasHidden), false, "the editor hides nothing");
    const described = ([name, text]) => [["#parameters label code", name, name], ["#parameters .field > p", text, name]];
    await assertAllShown(page, named.flatMap(described));
    const fields = await page.locator("#parameters textarea").all();
    assert.equal(fields.length, named.length);
    for (const [at, field] of fields.entries()) await field.fill(`value ${at}`);
    await assertShown(page, ".offers code", JSON.stringify(texts[0]), "example of the tool");
    const values = await page.locator("#parameters textarea").evaluateAll((fields) => fields.map(({ name, value }) => [name.slice(2), value]));
    await page.click(RUN);
    await ended(page);
    await assertHarmless(visitor, "result");
    const shown = ([name, text]) => [
      ["#output .result", JSON.stringify(text), name],
      ['#output .result[aria-label="Console"]', text, name],
      [".offers code", JSON.stringify(text), name],
    ];
    await assertAllShown(page, batch.flatMap(shown));
    const given = await page.locator("input[name=example]").last().inputValue();
    assert.deepEqual(JSON.parse(given).result, { texts, all: Object.fromEntries(values) });
    await page.selectOption("[name='p.fail']", "true");
    await page.click(RUN);
    await ended(page);
    await assertHarmless(visitor, "thrown message");
    await assertShown(page, "#output .alarm", chars(texts.join("\n"), 200), "message");
    const description = await page.inputValue("#description");
    await page.fill("#name", "no name");
    await page.click("button[value=save]");
    await page.waitForSelector("#save .alarm");
    await page.waitForSelector(".cm-content");
    await assertHarmless(visitor, "not saved");
    assert.equal(await page.inputValue("#description"), description);
    assert.equal(await page.locator("input[name=example]").count(), 3);
  });
}
