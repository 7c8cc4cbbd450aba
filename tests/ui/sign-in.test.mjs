// Signing in: with the token of an operator, into sessions that end, on pages that are accessible and show nothing before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "./accessible.mjs";
import { HOSTILE_TEXTS } from "./hostile-texts.mjs";
import { ALICE, BOB, NAME, SECRET, arrive, enterAs, serveTools, signIn, tokenOf } from "./operators.mjs";
import { Visitor, assertSamePage, eventually, markPage } from "./support.mjs";

/** The wrong tokens that an address may send in a minute. */
const MAX_FAILURES = 30;
const SMALL = { width: 380, height: 800 };

async function assertFocus(page, selector) {
  assert.ok(await page.locator(selector).evaluate((element) => element === document.activeElement), `${selector} has the focus`);
}

/** Fails unless the page asks for a token and shows nothing of a store. */
async function assertSignedOut(page, ...secrets) {
  await page.waitForSelector("#token");
  assert.equal(await page.textContent("h1"), "Sign in");
  const html = await page.content();
  for (const secret of [NAME, SECRET, "form_token", ...secrets]) assert.ok(!html.includes(secret), `${secret} in ${html}`);
}

test("keys alone sign in, and the cookie is not for scripts, other sites or other paths", async (t) => {
  const { server } = await serveTools(t);
  const visitor = await arrive(t, server);
  const { page } = visitor;
  await assertSignedOut(page);
  await assertFocus(page, "#token");
  assert.equal(await page.getAttribute("#token", "type"), "password");
  await page.keyboard.type(tokenOf("maria"));
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}${ALICE}`);
  assert.equal(await page.textContent("h1"), "Inbox");
  assert.match(await page.textContent("header"), /You decide as maria for the principal alice/);
  assert.doesNotMatch(await page.textContent("header"), /Choose another/, "there is no other one");
  assert.equal(await page.locator(`a[data-row]:text-is("${NAME}")`).count(), 1);
  const [cookie, ...others] = await visitor.context.cookies();
  assert.deepEqual(others, []);
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Lax", "/ui/"]);
  assert.ok(!cookie.value.includes(tokenOf("maria")));
  assert.equal(await page.evaluate(() => document.cookie), "");
  visitor.assertQuiet();
});

test("a person who is signed in goes from the entrance to the pages, also without the slash at the end", async (t) => {
  const { server } = await serveTools(t);
  const { page } = await enterAs(t, server, "maria");
  for (const entrance of [`${server.base}/`, server.base]) {
    await page.goto(entrance);
    assert.equal(page.url(), `${server.base}${ALICE}`, entrance);
  }
});

test("a token that is not one of an operator is refused with an alert, and the next one can be typed at once", async (t) => {
  const { server } = await serveTools(t);
  const visitor = await arrive(t, server, ALICE);
  const { page } = visitor;
  const tokens = { "a token that there is not": "x".repeat(32), "the token of an agent": tokenOf("alice"), "a part of a token": tokenOf("maria").slice(0, -1) };
  for (const [what, token] of Object.entries(tokens)) {
    const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
    await page.keyboard.type(token);
    await page.keyboard.press("Enter");
    const answer = await answered;
    assert.deepEqual([answer.status(), await answer.headerValue("set-cookie")], [401, null], what);
    await page.waitForSelector("[role=alert]");
    assert.match(await page.textContent("[role=alert]"), /not the token of an operator/, what);
    await assertSignedOut(page, token);
    await assertFocus(page, "#token");
    assert.equal(await page.inputValue("#token"), "", what);
  }
  assert.deepEqual(await visitor.context.cookies(), []);
  await signIn(page, "maria");
  assert.equal(page.url(), `${server.base}${ALICE}`, "the page that was asked for is not forgotten");
  visitor.assertQuiet();
});

test("the address in the browser after a refused token leads to the form again", async (t) => {
  const { server } = await serveTools(t);
  const visitor = await arrive(t, server);
  const { page } = visitor;
  await page.keyboard.type("x".repeat(32));
  await page.keyboard.press("Enter");
  await page.waitForSelector("[role=alert]");
  await page.goto(page.url());
  await assertSignedOut(page);
  await signIn(page, "maria");
  assert.equal(await page.textContent("h1"), "Inbox");
  visitor.assertQuiet();
});

test("signing in as another person ends the session before", async (t) => {
  const { server } = await serveTools(t);
  const visitor = await enterAs(t, server, "max");
  const before = await visitor.cookie();
  assert.equal((await server.ask(BOB, { headers: { cookie: before } })).status, 200);
  const body = String(new URLSearchParams({ token: tokenOf("maria"), next: "" }));
  const { status } = await server.ask("/sign-in", { method: "POST", headers: { origin: server.origin, cookie: before }, body });
  assert.equal(status, 303);
  assert.equal((await server.ask(BOB, { headers: { cookie: before } })).status, 401);
});

test("an empty field is not sent, and blanks around a token do not matter", async (t) => {
  const { server } = await serveTools(t);
  const visitor = await arrive(t, server);
  const { page } = visitor;
  let posts = 0;
  page.on("request", (asked) => (posts += asked.method() === "POST"));
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#token:invalid").count(), 1);
  await page.keyboard.type(`  ${tokenOf("maria")} `);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}${ALICE}`);
  assert.equal(posts, 1);
  visitor.assertQuiet();
});

test("after many wrong tokens the page says when to try again, and the right one works", async (t) => {
  const { server } = await serveTools(t);
  const visitor = await arrive(t, server);
  const { page } = visitor;
  const body = String(new URLSearchParams({ token: "x".repeat(32), next: "" }));
  const send = () => server.ask("/sign-in", { method: "POST", headers: { origin: server.origin }, body });
  for (let at = 0; at < MAX_FAILURES; at += 10) await Promise.all(Array.from({ length: 10 }, send));
  await eventually(async () => {
    await page.fill("#token", "y".repeat(32));
    const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
    await page.press("#token", "Enter");
    assert.equal((await answered).status(), 429);
  });
  await page.waitForSelector("[role=alert]");
  assert.match(await page.textContent("[role=alert]"), /too many wrong tokens.*try again in \d+ s/);
  await assertFocus(page, "#token");
  await signIn(page, "maria");
  assert.equal(await page.textContent("h1"), "Inbox");
  visitor.assertQuiet();
});

test("an address that was asked for leads to its page after signing in", async (t) => {
  const { server, path, id } = await serveTools(t);
  const wanted = [
    [path, NAME],
    [`${ALICE}tools?q=wait&status=unverified`, "Tools"],
    [`${ALICE}runs?tool=${id}`, "Runs"],
    [`${ALICE}playground`, "Playground"],
  ];
  for (const [path, title] of wanted) {
    const visitor = await Visitor.arrive(t, server);
    const page = await visitor.context.newPage();
    const answer = await page.goto(`${server.base}${path}`);
    assert.equal(answer.status(), 401, path);
    await assertSignedOut(page);
    await signIn(page, "maria");
    assert.equal(page.url(), `${server.base}${path}`);
    assert.ok((await page.textContent("h1")).includes(title), path);
    visitor.assertQuiet();
  }
});

test("a decision after the session ended decides nothing, and signing in leads back to the tool", async (t) => {
  const { ofAlice, server, path } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria", path);
  const { page } = visitor;
  await visitor.context.clearCookies();
  await page.click("#approve");
  await page.waitForSelector("#token");
  await signIn(page, "maria");
  assert.equal(await page.locator("h1").count(), 1, `there is a page at ${page.url()}`);
  assert.match(await page.textContent("h1"), new RegExp(NAME), page.url());
  assert.deepEqual(await ofAlice.decisions(NAME), []);
  await page.click("#approve");
  await page.waitForURL(`${server.base}${ALICE}`);
  assert.deepEqual(await ofAlice.decisions(NAME), [["approve", "page (maria)", true]]);
});

test("a person who signs out leaves nothing behind, and Back does not bring it back", async (t) => {
  const { ofAlice, server, path } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria");
  const { page } = visitor;
  const second = await visitor.open(path);
  const [{ name, value }] = await visitor.context.cookies();
  assert.equal((await page.reload()).headers()["cache-control"], "no-store");
  await page.click(`a[data-row] >> text=${NAME}`);
  await page.waitForURL(`${server.base}${path}`);
  await page.click("header >> text=Sign out");
  await page.waitForURL(`${server.base}/`);
  await assertSignedOut(page);
  assert.deepEqual(await visitor.context.cookies(), []);
  for (let back = 0; back < 2; back++) {
    await page.goBack();
    await assertSignedOut(page);
  }
  assert.equal((await server.ask(ALICE, { headers: { cookie: `${name}=${value}` } })).status, 401, "the old cookie opens nothing");
  // A page that stayed open in another tab decides nothing.
  await second.click("#approve");
  await assertSignedOut(second);
  assert.deepEqual(await ofAlice.decisions(NAME), []);
  visitor.assertQuiet();
});

test("keys alone sign out", async (t) => {
  const { server } = await serveTools(t);
  const { page } = await enterAs(t, server, "maria");
  const isThere = () => page.locator(".sign-out button").evaluate((button) => button === document.activeElement);
  for (let presses = 0; presses < 20 && !(await isThere()); presses++) await page.keyboard.press("Tab");
  await assertFocus(page, ".sign-out button");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.base}/`);
  await assertSignedOut(page);
  await assertFocus(page, "#token");
});

test("an inbox that is open while the person signs out elsewhere asks to sign in when something happens", async (t) => {
  const { server, alice } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria");
  const second = await visitor.open(ALICE);
  await visitor.page.bringToFront();
  await visitor.page.click("header >> text=Sign out");
  await assertSignedOut(visitor.page);
  await second.bringToFront();
  await alice.create("another_tool");
  await assertSignedOut(second, "another_tool");
  visitor.assertQuiet();
});

test("a server that starts again ends the sessions: its pages say that it is gone, and then ask to sign in", async (t) => {
  const { server, restart, path } = await serveTools(t);
  const visitor = await enterAs(t, server, "maria", path);
  const { page } = visitor;
  const inbox = await visitor.open(ALICE);
  await Promise.all([markPage(page), markPage(inbox)]);
  const old = await visitor.cookie();
  await server.stop();
  await Promise.all([page, inbox].map((page) => page.waitForSelector("#offline:not([hidden])")));
  assert.match(await page.textContent("#offline"), /does not answer/);
  await Promise.all([assertSamePage(page), assertSamePage(inbox)]);
  const next = await restart();
  assert.equal(next.link, server.link);
  assert.equal((await next.ask(ALICE, { headers: { cookie: old } })).status, 401);
  await page.goto(`${server.base}${ALICE}runs`);
  await assertSignedOut(page);
  await signIn(page, "maria");
  assert.equal(page.url(), `${server.base}${ALICE}runs`);
  await inbox.reload();
  assert.deepEqual(await inbox.locator("a[data-row]").allTextContents(), [NAME], "one session is for all pages of the browser");
});

test("a page that stays open while the server starts again does not say that the server is gone", async (t) => {
  const { server, restart } = await serveTools(t);
  const { page } = await enterAs(t, server, "maria");
  await server.stop();
  await page.waitForSelector("#offline:not([hidden])");
  await restart();
  await page.waitForSelector("#offline:not([hidden])", { state: "hidden" });
});

for (const colorScheme of ["light", "dark"]) {
  test(`the accessibility checker finds nothing where operators sign in and choose, and on their pages, ${colorScheme}`, async (t) => {
    const { server, path } = await serveTools(t);
    const visitor = await arrive(t, server, "/", { colorScheme });
    const { page } = visitor;
    const check = async (name) => {
      for (const viewport of [{ width: 1_280, height: 800 }, SMALL]) {
        await page.setViewportSize(viewport);
        await assertAccessible(page, `${name}, ${viewport.width} px`);
        const [scroll, client] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.ok(scroll <= client, `${name}: ${scroll} > ${client}`);
        const buttons = await page.locator("button:visible, #token").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ width, height }) => [width, height]));
        for (const [width, height] of buttons) assert.ok(width >= 24 && height >= 24, `${name}: a button is ${width} x ${height}`);
      }
    };
    await check("sign in");
    await page.fill("#token", "x".repeat(32));
    await page.press("#token", "Enter");
    await page.waitForSelector("[role=alert]");
    await check("sign in, refused");
    await page.focus("#token");
    await signIn(page, "max");
    await check("principals");
    await page.goto(`${server.base}${ALICE}`);
    await check("inbox");
    await page.goto(`${server.base}${path}`);
    await check("tool");
    await page.goto(`${server.base}/principals/nobody/`);
    await check("no such principal");
    visitor.assertQuiet();
  });
}

for (const [locale, lang] of [["en-GB", "en"], ["ja-JP", "ja"], ["zh-CN", "zh"]]) {
  test(`a browser that asks for ${locale} signs in on pages in ${lang}`, async (t) => {
    const { server } = await serveTools(t);
    const visitor = await arrive(t, server, "/", { locale });
    const { page } = visitor;
    assert.equal(await page.getAttribute("html", "lang"), lang);
    assert.equal(await page.locator("label[for=token]").count(), 1);
    await page.keyboard.type("x".repeat(32));
    await page.keyboard.press("Enter");
    await page.waitForSelector("[role=alert]");
    assert.equal(await page.getAttribute("html", "lang"), lang);
    await signIn(page, "max");
    assert.equal(await page.getAttribute("html", "lang"), lang);
    await page.click("main li >> text=bob");
    await page.waitForURL(`${server.base}${BOB}`);
    assert.equal(await page.getAttribute("html", "lang"), lang);
    assert.match(await page.textContent("header"), /max.*bob/s);
    visitor.assertQuiet();
  });
}

/** The elements that a page for a person who is not signed in has. */
const ELEMENTS = "body button code form h1 input label main p span";
/** Texts of each kind, so few that none has to wait. */
const HOSTILE = HOSTILE_TEXTS.filter(([name]) =>
  ["script", "image error, quoted", "bare javascript link", "base", "end of a title", "double quote", "entities", "right-to-left override", "carriage returns"].includes(name),
);

/** Fails if something on the open page came out of a text. */
async function assertHarmless(visitor, what) {
  const found = await visitor.page.evaluate((elements) => {
    const known = new Set(elements.split(" "));
    const all = [...document.querySelectorAll("body, body *")];
    return {
      pwned: globalThis.pwned,
      elements: all.map(({ localName }) => localName).filter((name) => !known.has(name)),
      handlers: all.flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith("on") || name === "style"),
      actions: [...document.forms].map((form) => form.getAttribute("action")),
      head: [...document.head.children].map(({ localName }) => localName).join(" "),
    };
  }, ELEMENTS);
  assert.deepEqual(found, { pwned: undefined, elements: [], handlers: [], actions: ["/ui/sign-in"], head: "meta meta title link link" }, what);
  visitor.assertQuiet();
}

test("a hostile token, or a hostile address to go on to, is never more than text", async (t) => {
  const { server } = await serveTools(t);
  const visitor = await arrive(t, server);
  const { page } = visitor;
  assert.ok(HOSTILE.length * 3 < MAX_FAILURES && HOSTILE.length >= 9);
  /** Sends the form with values that a person cannot type. */
  const send = async (token, next) => {
    const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
    const loaded = page.waitForEvent("load");
    await page.evaluate(
      ([token, next]) => {
        const form = document.forms[0];
        form.querySelector("[name=next]")?.remove();
        form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "next", value: next }));
        form.elements.token.value = token;
        form.submit();
      },
      [token, next],
    );
    await loaded;
    return answered;
  };
  for (const [name, text] of HOSTILE) {
    await page.goto(`${server.base}/`);
    for (const next of [text, `/ui${ALICE}${text}`, `/ui${ALICE}tools?q=${encodeURIComponent(text)}`]) {
      const answer = await send(text, next);
      assert.equal(answer.status(), 401, name);
      await assertHarmless(visitor, name);
      if (/[<"]/.test(text)) assert.ok(!(await answer.text()).includes(text), name);
    }
    await page.goto(`${server.base}${ALICE}${encodeURIComponent(text)}?q=${encodeURIComponent(text)}`);
    await assertHarmless(visitor, `${name} in the address`);
  }
  const elsewhere = ["//evil.example/", "/\\evil.example/", "https://evil.example/", `/ui${ALICE}../../../../evil`, `/ui${ALICE}\\..\\evil`, `/ui/principals//evil.example/`];
  for (const next of [...elsewhere, ...HOSTILE.map(([, text]) => text), ...HOSTILE.map(([, text]) => `/ui${ALICE}${text}`)]) {
    await visitor.context.clearCookies();
    await page.goto(`${server.base}/`);
    await send(tokenOf("maria"), next);
    await eventually(() => assert.equal(new URL(page.url()).origin, server.origin, next));
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined, next);
  }
  visitor.assertQuiet();
});

test("each answer about signing in has the security headers, and is not cached", async (t) => {
  const { server } = await serveTools(t);
  const cookie = await (await enterAs(t, server, "max")).cookie();
  const asked = [
    ["/", {}, 200],
    ["/", { headers: { cookie } }, 200],
    [ALICE, {}, 401],
    ["/no-such-page", { headers: { cookie } }, 404],
    ["/sign-in", { method: "POST", headers: { origin: server.origin }, body: "token=x" }, 401],
    ["/sign-in", { method: "POST", headers: { origin: server.origin }, body: "x=x" }, 400],
    ["/sign-in", { method: "POST", headers: { origin: "http://evil.example" }, body: "token=x" }, 403],
    ["/sign-out", { method: "POST", headers: { origin: server.origin, cookie }, body: "form_token=0" }, 403],
  ];
  for (const [path, options, expected] of asked) {
    const { status, headers } = await server.ask(path, options);
    const what = `${options.method ?? "GET"} ${path}, ${expected}`;
    assert.equal(status, expected, what);
    assert.match(headers["content-security-policy"], /^default-src 'none';.*form-action 'self';.*frame-ancestors 'none'/, what);
    assert.deepEqual(["cache-control", "x-content-type-options", "referrer-policy"].map((name) => headers[name]), ["no-store", "nosniff", "same-origin"], what);
    assert.equal(headers["set-cookie"], undefined, what);
  }
});
