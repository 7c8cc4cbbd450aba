// Each page: accessible, usable on small screens and without scripts, in each language, and light.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { assertAccessible } from "./accessible.mjs";
import { PERSON, Store, Visitor, sendDecision } from "./support.mjs";
import { serveSample } from "./sample.mjs";

/** The most that the inbox may weigh with its style and script, compressed, in bytes. */
const MAX_BYTES = 60 << 10;
/** The most that any page may weigh so. */
const MAX_PAGE_BYTES = 350 << 10;
const SMALL = { width: 380, height: 800 };

const { server, pages } = await serveSample({ after });
const cookies = await (await Visitor.enter({ after }, server)).context.cookies();

/** Opens another browser with the session of the first. */
async function enter(t, options) {
  const visitor = await Visitor.arrive(t, server, options);
  await visitor.context.addCookies(cookies);
  visitor.page = await visitor.context.newPage();
  return visitor;
}

for (const colorScheme of ["light", "dark"]) {
  test(`the accessibility checker finds nothing on any page, ${colorScheme}`, async (t) => {
    const { page, context, ...visitor } = await enter(t, { colorScheme });
    const check = (name) => assertAccessible(page, name);
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(`${server.base}${path}`);
      // What a script puts on the page is checked, too.
      if (path.startsWith("/ledger")) await page.waitForSelector(".plot-area > *");
      if (path.startsWith("/playground")) await page.waitForSelector(".cm-content");
      await check(name);
    }
    await page.goto(`${server.base}/`);
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    await check("keys");
    await page.setViewportSize(SMALL);
    for (const name of ["inbox", "tool that waits", "suspended run"]) {
      await page.goto(`${server.base}${pages[name]}`);
      await check(`${name}, small`);
    }
    await page.evaluate(() => {
      for (const id of ["offline", "outdated"]) document.getElementById(id).hidden = false;
    });
    await check("notices");
    await context.clearCookies();
    await page.goto(`${server.base}/`);
    await check("no access");
    assert.deepEqual(visitor.foreignRequests, []);
  });
}

test("no page is wider than a small screen", async (t) => {
  const { page } = await enter(t, { viewport: SMALL });
  for (const locale of ["en", "ja", "zh"]) {
    await page.setExtraHTTPHeaders({ "accept-language": locale });
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(`${server.base}${path}`);
      const { scroll, client, wide } = await page.evaluate(() => {
        const { scrollWidth: scroll, clientWidth: client } = document.documentElement;
        // What is wider has a region that scrolls.
        const isCut = (element) => element.getBoundingClientRect().right > client + 1 && !element.closest(".scroll");
        const wide = [...document.querySelectorAll("main *")].filter(isCut).map(({ outerHTML }) => outerHTML.slice(0, 200));
        return { scroll, client, wide };
      });
      assert.ok(scroll <= client, `${name}, ${locale}: ${scroll} > ${client}`);
      assert.deepEqual(wide, [], `${name}, ${locale}`);
    }
  }
});

test("the buttons of a decision are large enough for a finger", async (t) => {
  const { page } = await enter(t, { viewport: SMALL });
  await page.goto(`${server.base}${pages["tool that waits"]}`);
  for (const selector of ["#approve", "#once", "#reason", "#refuse"]) {
    const { width, height } = await page.locator(selector).boundingBox();
    assert.ok(width >= 24 && height >= 24, `${selector}: ${width} x ${height}`);
  }
});

test("each page has one heading of the first rank, a name for each form field, and no duplicate identifier", async (t) => {
  const { page } = await enter(t);
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(`${server.base}${path}`);
    const { headings, ids, unnamed } = await page.evaluate(() => {
      const all = (selector) => [...document.querySelectorAll(selector)];
      const unnamed = all("input:not([type=hidden]), select").filter(({ labels }) => labels.length === 0);
      return { headings: all("h1").length, ids: all("[id]").map(({ id }) => id), unnamed: unnamed.length };
    });
    assert.equal(headings, 1, name);
    assert.equal(new Set(ids).size, ids.length, `${name}: ${ids}`);
    assert.equal(unnamed, 0, name);
  }
});

test("without scripts the inbox leads to a tool, and a click approves it", async (t) => {
  const store = new Store(t);
  await store.create("wait_for_it");
  const visitor = await Visitor.enter(t, await store.serve(), { javaScriptEnabled: false });
  const { page } = visitor;
  await page.click('a[data-row]:text-is("wait_for_it")');
  await page.waitForURL(/\/tools\/dt_/);
  await page.click("#approve");
  await page.waitForURL(`${visitor.server.base}/`);
  assert.match(await page.textContent("section:has(#decided)"), /wait_for_it.*approved/s);
  assert.deepEqual(await store.decisions("wait_for_it"), [["approve", `page (${PERSON})`, true]]);
  await page.click("nav >> text=Tools");
  await page.fill("#q", "wait");
  await page.press("#q", "Enter");
  await page.waitForURL(/q=wait/);
  assert.equal(await page.locator("a[data-row]").count(), 1);
  visitor.assertQuiet();
});

/** The languages, with what their words are made of. */
const LANGUAGES = [
  ["en-GB", "en", /^[A-Za-z ]+$/],
  ["ja-JP", "ja", /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u],
  ["zh-CN", "zh", /^\p{Script=Han}+$/u],
];

for (const [locale, lang, words] of LANGUAGES) {
  test(`a browser that asks for ${locale} gets pages in ${lang}`, async (t) => {
    const visitor = await enter(t, { locale });
    const { page } = visitor;
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(`${server.base}${path}`);
      const [language, navigation] = await page.evaluate(() => [
        document.documentElement.getAttribute("lang"),
        [...document.querySelectorAll("nav a")].map(({ textContent }) => textContent),
      ]);
      assert.equal(language, lang, name);
      assert.equal(new Set(navigation).size, 5, name);
      for (const word of navigation) assert.match(word, words, name);
    }
    for (const name of ["inbox", "tools", "runs", "tool that waits", "suspended run"]) {
      await page.goto(`${server.base}${pages[name]}`);
      for (const heading of await page.locator("h2").allTextContents()) assert.match(heading, lang === "en" ? /[A-Za-z]/ : words.source.startsWith("^") ? /\p{Script=Han}/u : words, name);
    }
    await visitor.context.clearCookies();
    await page.goto(`${server.base}/`);
    assert.equal(await page.getAttribute("html", "lang"), lang);
    visitor.assertQuiet();
  });
}

test("the first language of the browser that there is counts, and else that of the command", async (t) => {
  const store = new Store(t);
  await store.create("wait_for_it");
  const server = await store.serve({ lang: "ja" });
  const visitor = await Visitor.enter(t, server);
  const cookie = await visitor.cookie();
  for (const [wanted, lang] of [["fr, zh-TW;q=0.8, en;q=0.5", "zh"], ["EN-us", "en"], ["fr", "ja"], ["", "ja"], ["*", "ja"], [",;=", "ja"]]) {
    const { body } = await server.ask("/", { headers: { cookie, "accept-language": wanted } });
    assert.equal(/<html lang="(\w+)"/.exec(body)[1], lang, wanted);
  }
});

test("the inbox is light, and no page asks another server", async (t) => {
  const visitor = await enter(t);
  const { page } = visitor;
  const [{ name, value }] = cookies;
  for (const [title, path] of Object.entries(pages)) {
    const asked = [];
    const note = (request) => asked.push(request.url());
    page.on("request", note);
    await page.goto(`${server.base}${path}`, { waitUntil: "load" });
    page.off("request", note);
    assert.ok(asked.every((url) => url.startsWith(`${server.origin}/`)), title);
  }
  await page.goto(`${server.base}/`);
  const assets = await page.locator("link[href], script[src]").evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? one.getAttribute("src")));
  assert.equal(assets.length, 3);
  const bodies = await Promise.all(["/", ...assets].map(async (path) => (await server.ask(path, { headers: { cookie: `${name}=${value}` } })).body));
  const bytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
  assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
  visitor.assertQuiet();
});

test("no page weighs too much, with its style and its script", async () => {
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  for (const [name, path] of Object.entries(pages)) {
    const { body } = await server.ask(path, { headers: { cookie } });
    const assets = [...new Set([...body.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, asset]) => asset))];
    assert.equal(assets.length, 3, name);
    const bodies = await Promise.all(assets.map(async (asset) => (await server.ask(asset)).body));
    const bytes = [body, ...bodies].reduce((sum, part) => sum + gzipSync(part).length, 0);
    assert.ok(bytes <= MAX_PAGE_BYTES, `${name}: ${bytes} bytes`);
  }
});

test("a verification that passed is no failed run", async (t) => {
  const { page } = await enter(t);
  const verified = page.locator("li.row").filter({ hasText: "verified" });
  await page.goto(`${server.base}/runs`);
  assert.equal(await verified.count(), 1);
  assert.equal(await verified.locator(".end-failed").count(), 0);
  await page.goto(`${server.base}/runs?end=failed`);
  assert.equal(await verified.count(), 0);
});

test("an inbox with more tools than fit is bounded, and says so", async (t) => {
  const store = new Store(t);
  for (let at = 0; at < 52; at += 2) await Promise.all([store.create(`tool_${at}`), store.create(`tool_${at + 1}`)]);
  const visitor = await Visitor.enter(t, await store.serve());
  assert.equal(await visitor.page.locator("section:has(#pending) li.row").count(), 50);
  assert.match(await visitor.page.textContent("section:has(#pending)"), /There are more than these 50/);
  const { status } = await sendDecision(visitor, `/tools/${(await store.approvals()).pending[0].tool}`, "approve");
  assert.equal(status, 303);
});

test("an empty store has an empty inbox, library and list of runs", async (t) => {
  const store = new Store(t);
  const id = await store.create("only_one");
  assert.equal((await store.run(["delete", "only_one", "--confirm"])).status, 0, id);
  const visitor = await Visitor.enter(t, await store.serve());
  for (const path of ["/", "/tools", "/runs"]) {
    const page = await visitor.open(path);
    assert.equal(await page.locator(".empty").count(), 1, path);
  }
  visitor.assertQuiet();
});
