// Checks that a page shows texts as text, and nothing else.

import assert from "node:assert/strict";
import { hasHidden, hiddenCodes, shown, shownOnLine } from "./hostile-texts.mjs";

/** The elements that pages have, and the attributes; no other may come out of a text. */
const ELEMENTS =
  "a button code dd details dialog div dl dt em fieldset form h1 h2 h3 header input kbd label legend li main nav ol option p pre rect section select span strong summary svg table tbody td th thead time tr ul";
const ATTRIBUTES =
  "action aria-current aria-hidden aria-label aria-labelledby autocomplete checked class data-row data-since data-shown data-tool datetime disabled for height hidden href id maxlength method name preserveAspectRatio rel role scope selected tabindex title type value viewBox width x y";

/** What the pages have besides that show a form of code, or where the fuel of a run went. */
const MORE_ELEMENTS = " br details img textarea";
const MORE_ATTRIBUTES =
  " alt aria-busy aria-describedby aria-live autocapitalize autofocus data-column data-declarations data-help data-line data-severity download inputmode loading open placeholder rows spellcheck src target";
/** What the editor is made of; it sets attributes of its own, and no other may come out of the code. */
const EDITOR_ELEMENTS = "br div img span";
const EDITOR_ATTRIBUTES =
  "aria-autocomplete aria-describedby aria-hidden aria-label aria-labelledby aria-live aria-multiline autocapitalize autocorrect class contenteditable data-language dir name role spellcheck style tabindex title translate writingsuggestions";

/** Opens a page, and fails if a text became anything but text there. */
export async function visit(visitor, path) {
  const answer = await visitor.page.goto(`${visitor.server.base}/${path.replace(/^\//, "")}`);
  assert.match(answer.headers()["content-type"], /^text\/html; charset=utf-8$/, path);
  await assertHarmless(visitor, path);
  return answer;
}

/** Fails if something on the open page came out of a text. */
export async function assertHarmless(visitor, what) {
  const found = await visitor.page.evaluate(
    ([always, withForm, ofEditor]) => {
      const hasForm = document.querySelector("#playground, img.flame, [download]") !== null;
      const lists = always.map((list, at) => list + (hasForm ? withForm[at] : "")).concat(ofEditor);
      const [isElement, isAttribute, isOfEditor, isAttributeOfEditor] = lists.map((list) => new Set(list.split(" ")));
      const all = [...document.querySelectorAll("body :not(.editor *)")];
      const editor = [...document.querySelectorAll(".editor *")];
      return {
        pwned: globalThis.pwned,
        title: document.title.endsWith(" · Toolcell"),
        elements: all.map(({ localName }) => localName).filter((name) => !isElement.has(name)),
        attributes: all.flatMap((element) => element.getAttributeNames()).filter((name) => !isAttribute.has(name)),
        editor: [
          ...editor.map(({ localName }) => localName).filter((name) => !isOfEditor.has(name)),
          ...editor.flatMap((element) => element.getAttributeNames()).filter((name) => !isAttributeOfEditor.has(name)),
        ],
        links: [...document.querySelectorAll("[href], [action], [src]")]
          .flatMap(({ href, action, src }) => [href, action, src])
          .filter((link) => typeof link === "string" && !link.startsWith(`${location.origin}/`)),
        head: [...document.head.children].map(({ localName }) => localName).join(" "),
        forms: document.querySelectorAll("form").length,
      };
    },
    [[ELEMENTS, ATTRIBUTES], [MORE_ELEMENTS, MORE_ATTRIBUTES], [EDITOR_ELEMENTS, EDITOR_ATTRIBUTES]],
  );
  const { forms, ...others } = found;
  const head = "meta meta base title link link script";
  assert.deepEqual(others, { pwned: undefined, title: true, elements: [], attributes: [], editor: [], links: [], head }, what);
  assert.ok(forms <= 3, what);
  visitor.assertQuiet();
}

/**
 * Fails unless an element with the selector shows the whole text, with its hidden characters as codes. The selector is one of CSS, or
 * `dt=TERM` for the description of a term.
 */
export async function assertShown(page, selector, text, what, as = shown) {
  await assertAllShown(page, [[selector, text, what, as]]);
}

/** The same for several, each `[selector, text, what, as]`, with one question to the browser: asking takes longer than answering. */
export async function assertAllShown(page, all) {
  const selectors = [...new Set(all.map(([selector]) => selector))];
  const found = await page.evaluate((selectors) => {
    const every = (selector) => [...document.querySelectorAll(selector)];
    const ofTerm = (term) => every("dt").filter(({ textContent }) => textContent === term).map((dt) => dt.nextElementSibling);
    const find = (selector) => (selector.startsWith("dt=") ? ofTerm(selector.slice("dt=".length)) : every(selector));
    const read = (element) => [element.textContent, [...element.querySelectorAll("span.code")].map((code) => code.textContent)];
    return Object.fromEntries(selectors.map((selector) => [selector, find(selector).map(read)]));
  }, selectors);
  for (const [selector, text, what, as] of all) assertOneShows(found[selector], selector, text, what, as);
}

function assertOneShows(all, selector, text, what, as = shown) {
  const expected = squeezed(as(text));
  const found = all.filter(([content]) => squeezed(content).includes(expected));
  assert.ok(found.length > 0, `${what}: ${selector} has ${JSON.stringify(all).slice(0, 2_000)} instead of ${JSON.stringify(expected).slice(0, 500)}`);
  if (as === shownOnLine) return;
  const codes = hiddenCodes(text).join();
  assert.ok(found.some(([, marked]) => marked.join().includes(codes)), `${what}: ${selector} marks ${codes}`);
  assert.ok(found.every(([content]) => !hasHidden(content.replaceAll("\u202f", ""))), `${what}: a hidden character is in the page`);
}

/** A text with each run of plain blanks as one: how many there are is not what is tested. */
function squeezed(text) {
  return text.replaceAll(/[ \n\t]+/g, " ").trim();
}

/** The first characters of a text. */
export function chars(text, count) {
  return [...text].slice(0, count).join("");
}
