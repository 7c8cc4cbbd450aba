// Operators: they decide about the tools of their principals, and of no others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BOB, NAME, SECRET, enterAs, serveTools } from "./operators.mjs";
import { Store, Visitor, assertSamePage, eventually, markPage, sendDecision } from "./support.mjs";

/** The longest time from a change to its appearance on an open page, in milliseconds. */
const DELAY = 2_000;

async function assertFocus(page, selector) {
  assert.ok(await page.locator(selector).evaluate((element) => element === document.activeElement), `${selector} has the focus`);
}

test("an operator of two principals chooses one by keys, and sees for whom they decide", async (t) => {
  const { server } = await serveTools(t);
  const visitor = await enterAs(t, server, "max");
  const { page } = visitor;
  assert.equal(page.url(), `${server.base}/`);
  assert.equal(await page.textContent("h1"), "Principals");
  assert.match(await page.textContent("main"), /You decide as max/);
  assert.deepEqual(await page.locator("main li a").allTextContents(), ["alice", "bob"]);
  const html = await page.content();
  assert.ok(!html.includes(NAME) && !html.includes(SECRET));
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}${BOB}`);
  assert.match(await page.textContent("header"), /You decide as max for the principal bob/);
  assert.deepEqual(await page.locator("a[data-row]").allTextContents(), [SECRET]);
  await page.click("header >> text=Choose another");
  await page.waitForURL(`${server.base}/`);
  await page.click("main >> text=alice");
  await page.waitForURL(`${server.base}${ALICE}`);
  assert.match(await page.textContent("header"), /for the principal alice/);
  assert.deepEqual(await page.locator("a[data-row]").allTextContents(), [NAME]);
  visitor.assertQuiet();
});

test("a click approves for the principal, and the audit log of the principal names the person", async (t) => {
  const { store, ofAlice, ofBob, server, alice, path } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria");
  const { page } = visitor;
  assert.deepEqual(await alice.run(NAME), { code: "permission-denied" });
  await page.click(`a[data-row] >> text=${NAME}`);
  await page.waitForURL(`${server.base}${path}`);
  assert.match(await page.textContent("header"), /You decide as maria for the principal alice/);
  await page.click("#approve");
  await page.waitForURL(`${server.base}${ALICE}`);
  assert.match(await page.textContent("section:has(#decided)"), new RegExp(`${NAME}.*approved \\(.*timers.*\\), page \\(maria\\)`, "s"));
  assert.deepEqual(await ofAlice.decisions(NAME), [["approve", "page (maria)", true]]);
  assert.deepEqual(await alice.run(NAME), { value: 1 });
  assert.deepEqual((await ofBob.approvals()).decided, []);
  assert.deepEqual((await store.approvals()).decided, []);
  visitor.assertQuiet();
});

test("keys alone refuse for the principal, with a reason", async (t) => {
  const { ofAlice, server, alice } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria");
  const { page } = visitor;
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tools\/dt_/);
  await page.keyboard.press("r");
  await assertFocus(page, "#reason");
  await page.keyboard.type("it waits");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}${ALICE}`);
  assert.deepEqual(await ofAlice.decisions(NAME), [["refuse", "page (maria): it waits", true]]);
  assert.deepEqual(await alice.run(NAME), { code: "permission-denied" });
  visitor.assertQuiet();
});

test("one run is approved for the agent, and the run after that waits again", async (t) => {
  const { ofAlice, server, alice, path } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria", path);
  const { page } = visitor;
  await page.click("#once");
  await page.waitForURL(`${server.base}${ALICE}`);
  await markPage(page);
  assert.equal(await page.locator("#pending").count(), 0);
  assert.deepEqual(await alice.run(NAME), { value: 1 });
  assert.deepEqual(await alice.run(NAME), { code: "permission-denied" });
  await page.waitForSelector("#pending", { timeout: DELAY });
  await assertSamePage(page);
  assert.deepEqual(await ofAlice.decisions(NAME), [["approve-once", "page (maria)", true]]);
  visitor.assertQuiet();
});

test("of two operators, the second is told of the decision of the first", async (t) => {
  const { ofAlice, server, path } = await serveTools(t);
  const [maria, max] = [await enterAs(t, server, "maria", path), await enterAs(t, server, "max", path)];
  await markPage(max.page);
  await maria.page.click("#approve");
  await max.page.waitForSelector("#outdated:not([hidden])", { timeout: DELAY });
  await assertSamePage(max.page);
  const answered = max.page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await max.page.click("#refuse");
  assert.equal((await answered).status(), 409);
  await max.page.waitForSelector("[role=alert]");
  assert.match(await max.page.textContent("section:has(#permissions)"), /approved.*page \(maria\)/s);
  assert.deepEqual((await ofAlice.decisions(NAME)).filter(([, , success]) => success), [["approve", "page (maria)", true]]);
  maria.assertQuiet();
  max.assertQuiet();
});

test("the form of one operator is not used with the session of another", async (t) => {
  const { ofAlice, server, path } = await serveTools(t);
  const [maria, max] = [await enterAs(t, server, "maria", path), await enterAs(t, server, "max", path)];
  const token = await maria.page.inputValue("form:has(#approve) [name=form_token]");
  assert.equal((await sendDecision(max, path, "approve", { fields: { form_token: token } })).status, 403);
  assert.deepEqual(await ofAlice.decisions(NAME), []);
});

test("the pages of another principal do not exist for an operator", async (t) => {
  const { ofBob, server, secretId } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria");
  const { page } = visitor;
  const cookie = await visitor.cookie();
  const unknown = await server.ask("/principals/nobody/", { headers: { cookie } });
  for (const path of ["", "tools", "runs", "ledger", "playground", `tools/${secretId}`, "events?since=0", "no-such-page"]) {
    const answer = await page.goto(`${server.base}${BOB}${path}`);
    assert.equal(answer.status(), 404, path);
    const html = await answer.text();
    assert.equal(html, unknown.body, "the answer is that for a principal that there is not");
    for (const secret of [SECRET, secretId, "form_token", "bob"]) assert.ok(!html.includes(secret), html);
  }
  assert.match(await page.textContent("main"), /there is no such page for you/);
  const decided = await server.ask(`${BOB}tools/${secretId}/decide`, { method: "POST", headers: { cookie, origin: server.origin }, body: "action=approve" });
  assert.equal(decided.status, 404);
  // A tool of the other principal is not found among the own ones either.
  assert.equal((await page.goto(`${server.base}${ALICE}tools/${secretId}`)).status(), 404);
  assert.deepEqual((await ofBob.approvals()).decided, []);
  visitor.assertQuiet();
});

test("a tool that an agent creates appears in the open inbox, and not in that of another principal", async (t) => {
  const { server, alice, bob } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria");
  const { page } = visitor;
  const other = await enterAs(t, server, "max", BOB);
  await Promise.all([markPage(page), markPage(other.page)]);
  await page.keyboard.press("j");
  for (const name of ["third_tool", "fourth_tool"]) {
    await alice.create(name);
    await page.waitForSelector(`a[data-row]:text-is("${name}")`, { timeout: DELAY });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), NAME, "the focus stays on its row");
  }
  assert.match(await page.title(), /^\(3\) Inbox/);
  await bob.create("his_tool");
  await other.page.waitForSelector('a[data-row]:text-is("his_tool")', { timeout: DELAY });
  assert.deepEqual((await other.page.locator("a[data-row]").allTextContents()).sort(), ["his_tool", SECRET]);
  await Promise.all([assertSamePage(page), assertSamePage(other.page)]);
  visitor.assertQuiet();
  other.assertQuiet();
});

test("the page of a tool that is decided on elsewhere says so", async (t) => {
  const { ofAlice, server, path } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria", path);
  const { page } = visitor;
  await markPage(page);
  await ofAlice.lines(["approvals", "grant", NAME, "--yes"]);
  await page.waitForSelector("#outdated:not([hidden])", { timeout: DELAY });
  await assertSamePage(page);
  await page.click("#outdated a");
  await page.waitForSelector("#revoke");
  visitor.assertQuiet();
});

test("the playground runs code for an operator, in the name of the operator, and saves a tool of the principal", async (t) => {
  const { ofAlice, ofBob, server } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria", `${ALICE}playground`);
  const { page } = visitor;
  await page.waitForSelector(".cm-content");
  await page.click(".cm-content");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText("export const execute = ({ name }) => `Hello, ${name}`;\n");
  await page.fill("[name='p.name']", "ada");
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.waitForSelector("#output[aria-busy=false]", { state: "attached" });
  assert.match(await page.textContent("#output"), /Hello, ada/);
  const flame = page.locator("#output img.flame");
  await flame.scrollIntoViewIfNeeded();
  await eventually(async () => assert.ok(await flame.evaluate(({ complete, naturalWidth }) => complete && naturalWidth > 0)));
  const [run] = await ofAlice.lines(["audit", "--action", "exec"]);
  assert.equal(run.success, true);
  assert.match(JSON.stringify(run), /page maria/);
  await page.fill("#name", "greet");
  await page.fill("#description", "Greets a person");
  await page.click("button[value=save]");
  await page.waitForURL(new RegExp(`${ALICE}tools/dt_`));
  assert.match(await page.textContent("h1"), /greet/);
  assert.deepEqual((await ofAlice.lines(["list"])).flatMap((line) => line.tools ?? [line]).map(({ name }) => name).sort(), ["greet", NAME]);
  assert.ok(!JSON.stringify(await ofBob.lines(["list"])).includes("greet"));
  visitor.assertQuiet();
});

/** A server whose policy grants nothing, with a tool of the first principal that asks for `timers` and `clock`. */
async function ungranted(t) {
  const all = await serveTools(t, { policy: "# The comment stays.\n" });
  const code = "export const execute = () => new Promise((done) => setTimeout(() => done(Date.now() > 0), 1));\n";
  const id = await all.alice.create("ask_more", { code, parameters: {}, capabilities: ["timers", "clock"] });
  return { ...all, path: `${ALICE}tools/${id}` };
}

test("grants are not offered, but the commands that add them are shown", async (t) => {
  const { store, ofAlice, server, path } = await ungranted(t);
  const visitor = await enterAs(t, server, "maria", path);
  const { page } = visitor;
  assert.equal(await page.locator("input[name=grant], button[value=grant]").count(), 0);
  assert.equal(await page.locator("#approve, #once").count(), 0, "an approval alone would not help it");
  assert.equal(await page.locator("#refuse").count(), 1);
  const commands = await page.locator(".decision dd code").allTextContents();
  assert.equal(commands.length, 2);
  for (const command of commands) assert.match(command, /^toolcell --dir DIR\/principals\/alice grant dt_[0-9a-f]{64} (timers|clock)/);
  const before = store.policy();
  const granted = await sendDecision(visitor, path, "grant", { fields: { grant: "timers" } });
  assert.equal(granted.status, 400);
  assert.match(granted.body, /the policy of a server is not changed from its pages: nothing was decided/);
  assert.equal(store.policy(), before);
  assert.deepEqual((await ofAlice.approvals()).decided, []);
  visitor.assertQuiet();
});

test("the commands that add grants work on the machine of the server, as the page shows them", async (t) => {
  const { store, server, restart, alice, path } = await ungranted(t);
  // A tool of the same name in the store of the server itself is another one.
  await store.create("ask_more");
  const { page } = await enterAs(t, server, "maria", path);
  for (const command of await page.locator(".decision dd code").allTextContents()) {
    // The page does not know the folder of the stores.
    const words = command.replaceAll("DIR", store.dir).split(" ").slice(1);
    const { status, errors } = await store.run([...words, "--yes"]);
    assert.equal(status, 0, `${command}: ${errors}`);
  }
  assert.deepEqual((await store.approvals()).decided, [], "the other tool is granted nothing");
  assert.match(store.policy(), /timers = true/);
  await restart();
  assert.deepEqual(await alice.run("ask_more", {}), { value: true });
});

test("without scripts a person signs in, decides and signs out", async (t) => {
  const { ofAlice, server, path } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria", path, { javaScriptEnabled: false });
  const { page } = visitor;
  await page.click("#once");
  await page.waitForURL(`${server.base}${ALICE}`);
  assert.deepEqual(await ofAlice.decisions(NAME), [["approve-once", "page (maria)", true]]);
  await page.click("header >> text=Sign out");
  await page.waitForSelector("#token");
  visitor.assertQuiet();
});

test("without a file of tokens, the link of the server opens the pages in one browser", async (t) => {
  const store = new Store(t);
  await store.create(NAME);
  const server = await store.serveMcp();
  const visitor = await Visitor.enter(t, server);
  const { page } = visitor;
  assert.match(page.url(), /\/ui\/[0-9a-f]{32}\/$/);
  assert.equal(await page.locator(".sign-out").count(), 0);
  assert.doesNotMatch(await page.textContent("header"), /principal/);
  await markPage(page);
  await store.create("second_tool");
  await page.waitForSelector('a[data-row]:text-is("second_tool")', { timeout: DELAY });
  await assertSamePage(page);
  await page.click(`a[data-row] >> text=${NAME}`);
  await page.click("#approve");
  await page.waitForURL(`${server.base}/`);
  assert.deepEqual((await store.approvals()).decided.map(({ name }) => name), [NAME]);
  const second = await Visitor.arrive(t, server);
  const other = await second.context.newPage();
  assert.equal((await other.goto(server.link)).status(), 410);
  assert.equal((await other.goto(`${server.base}/`)).status(), 401);
  assert.ok(!(await other.content()).includes(NAME));
  await page.goto(`${server.base}/tools`);
  assert.match(await page.textContent(".alarm"), /used a second time/);
  visitor.assertQuiet();
});
