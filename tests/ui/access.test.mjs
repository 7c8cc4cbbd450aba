// Who gets in: the browser that opened the link, from the page's own origin, under the server's own name.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { PERSON, Store, Visitor, eventually, markPage, assertSamePage, sendDecision } from "./support.mjs";

/** What every page says about a store that a browser without access must not learn. */
const SECRET = "unguessable_name";

/** A store with a tool that waits, and its page. */
async function scene(t) {
  const store = new Store(t);
  const id = await store.create(SECRET, { description: `The description of ${SECRET}` });
  return { store, id, path: `/tools/${id}`, server: await store.serve() };
}

async function assertUndecided(store) {
  const { pending, decided } = await store.approvals();
  assert.deepEqual([pending.map(({ name }) => name), decided], [[SECRET], []]);
  assert.deepEqual(await store.decisions(SECRET), []);
}

/** Serves one page of another origin, which is the same site because a port is no part of a site. */
async function serveForeign(t, html) {
  const server = createServer((asked, answer) => answer.setHeader("content-type", "text/html").end(html));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}/`;
}

test("a browser without the cookie is told how it gets access, and nothing else", async (t) => {
  const { id, path, server } = await scene(t);
  const visitor = await Visitor.arrive(t, server);
  for (const path of ["/", "/tools", `/tools/${id}`, "/runs", "/runs/r_0", "/events?since=0", "/no-such-page"]) {
    const page = await visitor.context.newPage();
    const answer = await page.goto(`${server.base}${path}`);
    assert.equal(answer.status(), 401, path);
    const html = await answer.text();
    assert.ok(!html.includes(SECRET) && !html.includes(id) && !html.includes(PERSON) && !html.includes("form_token"), html);
    assert.match(await page.textContent("main"), /no access.*open the link that the server printed/s);
    await page.close();
  }
  const decided = await server.ask(`${path}/decide`, { method: "POST", headers: { origin: server.origin }, body: "action=approve" });
  assert.equal(decided.status, 401);
  visitor.assertQuiet();
});

test("a wrong cookie or a wrong link gives no access", async (t) => {
  const { server } = await scene(t);
  const visitor = await Visitor.enter(t, server);
  const cookie = await visitor.cookie();
  assert.equal((await server.ask("/", { headers: { cookie } })).status, 200);
  const digit = cookie.at(-1) === "0" ? "1" : "0";
  for (const wrong of [cookie.slice(0, -1), cookie.slice(0, -1) + digit, cookie.replace("=", "x="), `${cookie}0`]) {
    assert.equal((await server.ask("/", { headers: { cookie: wrong } })).status, 401, wrong);
  }
  for (const wrong of ["/open?key=", "/open?key=0", `/open?key=${"0".repeat(64)}`]) {
    const { status, headers } = await server.ask(wrong);
    assert.deepEqual([status, headers["set-cookie"]], [404, undefined], wrong);
  }
});

test("the cookie is not for scripts, and not for other sites", async (t) => {
  const { server } = await scene(t);
  const visitor = await Visitor.enter(t, server);
  const cookies = await visitor.context.cookies();
  // One for the pages, below the secret path, and one by which the link knows the browser again.
  assert.deepEqual(cookies.map(({ path }) => path).sort(), [new URL(`${server.base}/`).pathname, "/open"].sort());
  for (const cookie of cookies) assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.expires], [true, "Strict", -1]);
  assert.equal(await visitor.page.evaluate(() => document.cookie), "");
  assert.ok(!visitor.page.url().includes("key="), "the key of the link is in no address");
});

test("a link that another browser uses again is refused, and the pages of the first show it", async (t) => {
  const { server } = await scene(t);
  const first = await Visitor.enter(t, server);
  assert.equal(await first.page.locator(".alarm").count(), 0);
  const second = await Visitor.arrive(t, server);
  const page = await second.context.newPage();
  const answer = await page.goto(server.link);
  assert.equal(answer.status(), 410);
  assert.match(await page.textContent("main"), /this link was used before/);
  assert.deepEqual(await second.context.cookies(), []);
  assert.equal((await page.goto(server.origin)).status(), 401);
  for (const path of ["/", "/tools", "/runs"]) {
    const shown = await first.open(path);
    assert.match(await shown.textContent(".alarm"), /used a second time/, path);
  }
});

test("the browser that opened the link may follow it again", async (t) => {
  const { server } = await scene(t);
  const visitor = await Visitor.enter(t, server);
  const page = await visitor.open(server.link);
  await page.waitForURL(`${server.base}/`);
  assert.equal(await page.locator(".alarm").count(), 0);
});

test("a request under another host name is refused, with and without the cookie", async (t) => {
  const { path, server } = await scene(t);
  const cookie = await (await Visitor.enter(t, server)).cookie();
  const others = ["evil.example", `evil.example:${server.port}`, "127.0.0.1", "127.0.0.1:1", `localhost.evil.example:${server.port}`, ""];
  for (const host of others) {
    for (const asked of ["/", path, "/runs", "/events?since=0", new URL(server.link).pathname + new URL(server.link).search]) {
      const { status, headers, body } = await server.ask(asked, { headers: { cookie, host } });
      assert.equal(status, 421, `${host} ${asked}`);
      assert.ok(!body.includes(SECRET) && !headers["set-cookie"], body);
    }
  }
  for (const host of [`localhost:${server.port}`, `127.0.0.1:${server.port}`]) {
    assert.equal((await server.ask("/", { headers: { cookie, host } })).status, 200, host);
  }
});

test("a decision from another origin, from none, or with a wrong form token decides nothing", async (t) => {
  const { store, path, server } = await scene(t);
  const visitor = await Visitor.enter(t, server);
  const wrong = [
    ["a foreign origin", { headers: { origin: "http://evil.example" } }],
    ["the origin of another port", { headers: { origin: `http://127.0.0.1:${server.port + 1}` } }],
    ["the origin under another name", { headers: { origin: `http://localhost:${server.port}` } }],
    ["a foreign origin that claims to be the same", { headers: { origin: "http://evil.example", "sec-fetch-site": "same-origin" } }],
    ["no origin", { headers: { origin: undefined } }],
    ["no origin, from the same site", { headers: { origin: undefined, "sec-fetch-site": "same-site" } }],
    ["no origin, from another site", { headers: { origin: undefined, "sec-fetch-site": "cross-site" } }],
    ["a wrong form token", { fields: { form_token: "0".repeat(64) } }],
    ["an empty form token", { fields: { form_token: "" } }],
  ];
  for (const [what, changes] of wrong) {
    for (const action of ["approve", "refuse", "revoke"]) {
      const { status, body } = await sendDecision(visitor, path, action, changes);
      assert.equal(status, 403, `${what}: ${action}`);
      assert.match(body, /nothing was (decided|done)/, what);
    }
  }
  await assertUndecided(store);
  // The same request decides when nothing is wrong with it.
  assert.equal((await sendDecision(visitor, path, "approve")).status, 303);
  assert.deepEqual(await store.decisions(SECRET), [["approve", `page (${PERSON})`, true]]);
});

test("an incomplete form decides nothing", async (t) => {
  const { store, path, server } = await scene(t);
  const visitor = await Visitor.enter(t, server);
  for (const fields of [{ action: "delete" }, { action: "" }, { more: "1" }, { action: "Approve" }]) {
    assert.equal((await sendDecision(visitor, path, "approve", { fields })).status, 400, JSON.stringify(fields));
  }
  assert.equal((await sendDecision(visitor, path, "approve", { fields: { reason: "x".repeat(3 << 20) } })).status, 413);
  assert.equal((await sendDecision(visitor, path, "approve", { fields: { shown: "0".repeat(64) } })).status, 409);
  const cookie = await visitor.cookie();
  assert.equal((await server.ask(`${path}/decide?action=approve`, { headers: { cookie, origin: server.origin } })).status, 405);
  await assertUndecided(store);
});

test("a page of another origin that sends the form decides nothing", async (t) => {
  const { store, path, server } = await scene(t);
  const visitor = await Visitor.enter(t, server);
  const fields = await visitor.open(path).then((page) =>
    page.locator("form.decide input").evaluateAll((inputs) => inputs.map(({ name, value }) => [name, value])),
  );
  const inputs = fields.map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`).join("");
  const html = `<form method="post" action="${server.base}${path}/decide">${inputs}<button name="action" value="approve">x</button></form>`;
  const page = await visitor.context.newPage();
  await page.goto(await serveForeign(t, html));
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/decide"));
  await page.click("button");
  assert.equal((await answered).status(), 403);
  await assertUndecided(store);
});

test("a page is not shown in a frame of another origin", async (t) => {
  const { server } = await scene(t);
  const visitor = await Visitor.enter(t, server);
  const page = await visitor.context.newPage();
  const framed = page.waitForEvent("response", (answer) => answer.url() === `${server.base}/tools`);
  await page.goto(await serveForeign(t, `<iframe src="${server.base}/tools"></iframe>`));
  await framed;
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  await eventually(() => assert.equal(frame.url(), "chrome-error://chromewebdata/"));
  assert.ok(!(await frame.content()).includes(SECRET));
});

test("every answer has the security headers", async (t) => {
  const { path, server } = await scene(t);
  const cookie = await (await Visitor.enter(t, server)).cookie();
  const assets = [...(await server.ask("/", { headers: { cookie } })).body.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, asset]) => asset);
  assert.equal(new Set(assets).size, 3);
  const answers = [
    ["/", { headers: { cookie } }, 200],
    [path, { headers: { cookie } }, 200],
    ["/tools?q=name", { headers: { cookie } }, 200],
    ["/runs", { headers: { cookie } }, 200],
    ["/no-such-page", { headers: { cookie } }, 404],
    ["/tools/no-such-tool", { headers: { cookie } }, 404],
    ["/runs/no-such-run", { headers: { cookie } }, 404],
    ["/assets/0/ui.js", {}, 404],
    ["/", {}, 401],
    ["/", { headers: { host: "evil.example" } }, 421],
    [`${path}/decide`, { method: "POST", headers: { cookie, origin: "http://evil.example" }, body: "a=b" }, 403],
    [path, { method: "DELETE", headers: { cookie } }, 405],
    ["/open?key=0", {}, 404],
    [new URL(server.link).pathname + new URL(server.link).search, {}, 410],
    ...assets.map((asset) => [asset, {}, 200]),
  ];
  for (const [asked, options, expected] of answers) {
    const { status, headers } = await server.ask(asked, options);
    const what = `${options.method ?? "GET"} ${asked}`;
    assert.equal(status, expected, what);
    const policy = new Map(headers["content-security-policy"].split(";").map((rule) => rule.trim().split(/ (.*)/s)));
    assert.equal(policy.get("default-src"), "'none'", what);
    for (const name of ["script-src", "style-src", "img-src", "connect-src", "form-action"]) assert.equal(policy.get(name), "'self'", what);
    assert.equal(policy.get("frame-ancestors"), "'none'", what);
    assert.equal(policy.get("base-uri"), "'self'", what);
    assert.equal(policy.get("require-trusted-types-for"), "'script'", what);
    assert.equal(headers["x-content-type-options"], "nosniff", what);
    assert.equal(headers["referrer-policy"], "same-origin", what);
    for (const name of ["cross-origin-opener-policy", "cross-origin-resource-policy"]) assert.equal(headers[name], "same-origin", what);
    assert.match(headers["permissions-policy"], /camera=\(\)/, what);
    assert.equal(headers["access-control-allow-origin"], undefined, what);
    if (!asked.startsWith("/assets/") || status !== 200) assert.equal(headers["cache-control"], "no-store", what);
  }
});

test("when the server ends, its pages say so, and the cookie opens nothing of the next one", async (t) => {
  const { store, server } = await scene(t);
  const visitor = await Visitor.enter(t, server);
  const { page } = visitor;
  await markPage(page);
  assert.equal(await page.isVisible("#offline"), false);
  assert.equal(await server.stop(), 0);
  await page.waitForSelector("#offline:not([hidden])");
  assert.match(await page.textContent("#offline"), /The server does not answer/);
  await assertSamePage(page);
  const next = await store.serve({ port: server.port });
  assert.notEqual(next.link, server.link);
  assert.equal((await page.goto(next.origin)).status(), 401);
  assert.match(await page.textContent("main"), /open the link that the server printed/);
  await page.goto(next.link);
  assert.equal(await page.textContent("h1"), "Inbox");
});
