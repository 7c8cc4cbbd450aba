// Hostile texts of authors and of persons: wherever a tool or a reason can put one, it is shown as text.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { HOSTILE_TEXTS, shownOnLine } from "./hostile-texts.mjs";
import { assertAllShown, assertShown, chars, visit } from "./harmless.mjs";
import { Store, Visitor, sendDecision } from "./support.mjs";

/** The longest reason of a refusal, in characters. */
const MAX_REASON_CHARS = 200;
/** The longest name of a parameter that a test uses, in characters, and the longest tag, in bytes. */
const MAX_NAME_CHARS = 60;
const MAX_TAG_BYTES = 60;
const tools = HOSTILE_TEXTS.map(([name, text], at) => ({ name, text, tool: `hostile_${String(at).padStart(3, "0")}` }));
const store = new Store({ after });
// More than two at once only wait for each other.
for (let at = 0; at < tools.length; at += 2) await Promise.all(tools.slice(at, at + 2).map(create));
const server = await store.serve();
const visitor = await Visitor.enter({ after }, server);
const { page } = visitor;

/** Whether a text may be a tag. */
function isTag(text) {
  return !/\p{Cc}/u.test(text) && Buffer.byteLength(text) <= MAX_TAG_BYTES;
}

/** Stores a tool whose author has put the text everywhere. */
async function create(tool) {
  const { text } = tool;
  const line = text.replaceAll(/[\0\n\r\u2028\u2029]/g, " ");
  const code = `// ${line}
/* ${line.replaceAll("*/", "* /")} */
export async function execute({ ms }: { ms: number }) {
  await new Promise((done) => setTimeout(done, ms));
  return ${JSON.stringify(text)} + /* after a string */ \`${line.replaceAll(/[\\`]|\$\{/g, " ")}\`;
}
`;
  const parameters = {
    ms: { type: "number", description: text, required: true },
    [chars(text, MAX_NAME_CHARS)]: { type: "string", description: `again: ${text}` },
  };
  const tags = [...(isTag(text) ? [text] : []), "hostile"];
  const examples = [{ parameters: { ms: 1, [chars(text, MAX_NAME_CHARS)]: text }, result: text }];
  Object.assign(tool, { code, id: await store.create(tool.tool, { description: text, code, parameters, tags, examples, generated_from: text }) });
}

/** Returns the address of the next page of a list, if there is one. */
async function nextPath() {
  return page.evaluate(() => document.querySelector("a[rel=next]")?.getAttribute("href"));
}

/** Returns the texts of the elements with a selector. */
async function textsOf(selector) {
  return page.evaluate((selector) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent), selector);
}

test("there are enough hostile texts, and each is another one", () => {
  assert.ok(HOSTILE_TEXTS.length >= 60);
  assert.equal(new Set(HOSTILE_TEXTS.map(([, text]) => text)).size, HOSTILE_TEXTS.length);
});

test("a hostile text is text on the page of its tool", async () => {
  for (const tool of tools) {
    const { name, text, id, code } = tool;
    await visit(visitor, `/tools/${id}`);
    const lines = code.split("\n");
    await assertAllShown(page, [
      ["p.description", text, name],
      [".parameter", text, name],
      [".parameter", `again: ${text}`, name],
      [".parameter code", `${chars(text, MAX_NAME_CHARS)}: string`, name],
      [".examples li", JSON.stringify(text), name],
      [".facts dd", text, name],
      ["ol.source:not(.difference) li", lines[0], name],
      ["ol.source:not(.difference) li", lines[1], name],
      ["ol.source:not(.difference) li", lines[4].trim(), name],
    ]);
    const [count, links] = await page.evaluate(() => [
      document.querySelectorAll("ol.source:not(.difference) > li").length,
      [...document.querySelectorAll("a.tag")].map((tag) => tag.getAttribute("href")),
    ]);
    assert.equal(count, lines.length - 1, name);
    tool.tagLink = links.find((link) => new URLSearchParams(link.split("?")[1]).get("tag") === text);
    assert.equal(tool.tagLink !== undefined, isTag(text), name);
  }
});

test("a hostile text is text in the inbox, also as the reason of a refusal", async () => {
  const reason = (text) => chars(text, MAX_REASON_CHARS);
  const refused = new Set();
  while (refused.size < tools.length) {
    await visit(visitor, "/");
    const rows = await textsOf("section:has(#pending) a[data-row]");
    // As many as the list of past decisions has rows.
    const next = tools.filter(({ tool }) => rows.includes(tool)).slice(0, 10);
    assert.ok(next.length > 0, "each tool waits in the inbox until it is refused");
    const waiting = (id) => `section:has(#pending) li.row:has(a[href="tools/${id}"]) .about`;
    await assertAllShown(page, next.map(({ name, text, id }) => [waiting(id), text, name]));
    for (const { name, text, id, tool } of next) {
      assert.equal((await sendDecision(visitor, `/tools/${id}`, "refuse", { fields: { reason: reason(text) } })).status, 303, name);
      refused.add(tool);
    }
    await visit(visitor, "/");
    const decided = (id) => `section:has(#decided) li.row:has(a[href="tools/${id}"]) p`;
    await assertAllShown(page, next.map(({ name, text, id }) => [decided(id), `: ${reason(text).trim()}`, name, shownOnLine]));
  }
  for (const { name, text, id } of tools.filter((_, at) => at % 4 === 0)) {
    await visit(visitor, `/tools/${id}`);
    await assertShown(page, "section:has(#permissions) td", `: ${reason(text).trim()}`, name, shownOnLine);
  }
});

test("a hostile text is text in the library, and a tag of it is a filter", async () => {
  const seen = new Set();
  for (let path = "/tools"; path; ) {
    await visit(visitor, path);
    const rows = await textsOf("a[data-row]");
    const listed = tools.filter(({ tool }) => rows.includes(tool));
    await assertAllShown(page, listed.map(({ name, text, id }) => [`li.row:has(a[href="tools/${id}"]) .about`, text, name]));
    for (const { tool } of listed) seen.add(tool);
    path = await nextPath();
  }
  assert.equal(seen.size, tools.length);
  for (const { name, text, tool, tagLink } of tools) {
    if (!tagLink) continue;
    await visit(visitor, tagLink);
    assert.deepEqual(await textsOf("a[data-row]"), [tool], name);
    await assertShown(page, "a.tag", text, name);
    assert.equal(await page.evaluate(() => document.querySelector("#tag").value), text, name);
  }
});
