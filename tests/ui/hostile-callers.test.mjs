// Hostile texts of callers, of addresses and of sources: they are shown as text.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { HOSTILE_TEXTS, shownOnLine } from "./hostile-texts.mjs";
import { assertAllShown, assertHarmless, assertShown, chars, visit } from "./harmless.mjs";
import { Store, Visitor } from "./support.mjs";

/** The longest claim of a caller, in characters. */
const MAX_CLAIM_CHARS = 64;

const tools = HOSTILE_TEXTS.map(([name, text]) => ({ name, text }));
const store = new Store({ after });
const id = await store.create("changing", { code: "export const execute = () => setTimeout(() => {}, 1);\n" });
const server = await store.serve();
const visitor = await Visitor.enter({ after }, server);
const { page } = visitor;

/** A text as the field of a form keeps it: a parser of HTML drops line breaks there, and replaces null characters. */
function inField(text) {
  return text.replaceAll(/[\n\r]/g, "").replaceAll("\0", "\ufffd");
}

/** Returns the address of the next page of a list, if there is one. */
async function nextPath() {
  return page.evaluate(() => document.querySelector("a[rel=next]")?.getAttribute("href"));
}

test("a hostile text in an address is text, and no error of the server", async () => {
  const cookie = await visitor.cookie();
  for (const { name, text } of tools) {
    const value = encodeURIComponent(text);
    for (const path of [`/tools?q=${value}&status=${value}&tag=${value}`, `/runs?tool=${value}&end=${value}`]) {
      const status = (await visit(visitor, path)).status();
      assert.ok(status < 500, `${name}: ${status} for ${path}`);
      if (!path.includes("?q=") || status !== 200) continue;
      assert.equal(await page.evaluate(() => document.querySelector("#q").value), inField(text), name);
    }
    for (const path of [`/tools/${value}`, `/tools?after=${value}`, `/tools/${id}?against=${value}`, `/runs/${value}`, `/runs?before=${value}`, `/open?key=${value}`, `/events?${value}`, `/${value}`]) {
      const { status, body, headers } = await server.ask(path, { headers: { cookie } });
      assert.ok(status < 500, `${name}: ${status} for ${path}`);
      if (headers["content-type"]?.startsWith("text/html") && text.includes("<")) assert.ok(!body.includes(text), `${name}: ${path}`);
    }
  }
});

test("a search for a hostile text with the form of the page finds its tool", async () => {
  for (const [at, { name, text }] of tools.slice(0, 12).entries()) {
    const tool = `searched_${at}`;
    await store.create(tool, { description: text });
    await visit(visitor, "/tools");
    await page.fill("#q", text);
    await page.press("#q", "Enter");
    await page.waitForURL(/[?&]q=/);
    await assertHarmless(visitor, name);
    assert.equal(await page.inputValue("#q"), text, name);
    assert.ok((await page.locator("a[data-row]").allTextContents()).includes(tool), name);
  }
});

test("a hostile text of a caller is text on the pages of its runs", async () => {
  const code = "export async function execute({ key }) { await kv.set(key, 1); throw new Error(key); }";
  const keep = await store.create("keep", { description: "Keeps", code, parameters: { key: { type: "string", required: true } }, capabilities: ["kv"] });
  await store.lines(["approvals", "grant", "keep", "--yes"]);
  const client = "<script>pwned=1</script>\u202e\u001b[2J";
  const calls = tools.map(({ text }, at) => ({
    jsonrpc: "2.0",
    id: at + 1,
    method: "tools/call",
    params: {
      name: "run_dynamic_tool",
      arguments: { tool_id: keep, parameters: { key: chars(text, MAX_CLAIM_CHARS) } },
      _meta: { "toolcell/caller": { session: text, agent: `agent ${text}`, call: String(at) } },
    },
  }));
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: client, version: "1" } };
  const messages = [{ jsonrpc: "2.0", id: 0, method: "initialize", params: hello }, { jsonrpc: "2.0", method: "notifications/initialized" }, ...calls];
  const answers = await store.converse(messages, 1 + tools.length);
  const threw = answers.slice(1).filter(({ result }) => result?.isError && JSON.stringify(result).includes("tool-failed"));
  assert.equal(threw.length, tools.length, JSON.stringify(answers.at(-1)));
  const links = [];
  for (let path = `/runs?tool=${keep}`; path; ) {
    await visit(visitor, path);
    links.push(...(await page.evaluate(() => [...document.querySelectorAll("a[data-row]")].map((row) => row.getAttribute("href")))));
    path = await nextPath();
  }
  assert.equal(links.length, tools.length);
  const claims = new Set();
  for (const link of links) {
    await visit(visitor, link);
    const [at, effect] = await page.evaluate(() => {
      const term = [...document.querySelectorAll("dt")].find(({ textContent }) => textContent === "claims the call");
      return [term.nextElementSibling, document.querySelector(".timeline li")].map((element) => element.textContent);
    });
    const { name, text } = tools[at];
    claims.add(name);
    await assertAllShown(page, [
      ["dt=claims to be the client", client, name, shownOnLine],
      ["dt=claims the session", chars(text, MAX_CLAIM_CHARS), name, shownOnLine],
      ["dt=claims to be the agent", chars(`agent ${text}`, MAX_CLAIM_CHARS), name, shownOnLine],
    ]);
    assert.match(effect, /^kv\.commit .*(happened|changed nothing)/su, name);
  }
  assert.equal(claims.size, tools.length);
});

test("a source with one line as long as a source may be is shown whole", async () => {
  const long = `const text = "${"<b>".repeat(21_000)}";`;
  const id = await store.create("long_line", { code: `${long}\nexport const execute = () => setTimeout(() => text, 1);\n` });
  await visit(visitor, `/tools/${id}`);
  const line = await page.textContent("#L1 code");
  assert.equal(line, long);
});

test("a difference of hostile sources is text", async () => {
  for (const { name, text } of tools.filter((_, at) => at % 8 === 0)) {
    const comment = `// ${text.replaceAll(/[\0\n\r\u2028\u2029]/g, " ")}`;
    const code = `${comment}\nexport const execute = () => setTimeout(() => {}, 1);\n`;
    const next = await store.create("changing", { replace: true, code, description: text });
    await visit(visitor, `/tools/${next}?against=1`);
    await assertShown(page, ".difference li.added code", comment, name);
  }
});
