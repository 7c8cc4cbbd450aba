// Screenshots, compared with approved ones in `docs/ui/`, where the guide shows them. `TOOLCELL_UPDATE_SCREENS=1` writes them.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { Visitor } from "./support.mjs";
import { serveSample } from "./sample.mjs";

const FOLDER = join(import.meta.dirname, "../../docs/ui");
/** Where screenshots that differ are put, with a picture of the difference. */
const FAILED = join(import.meta.dirname, "failed");
const IS_UPDATE = process.env.TOOLCELL_UPDATE_SCREENS === "1";
/** The largest part of the pixels that may differ. */
const TOLERANCE = 0.005;
/** The height at which a screenshot is cut, in pixels. */
const MAX_HEIGHT = 1_600;

const SCREENS = [
  ["inbox", "inbox"],
  ["tool", "tool that waits"],
  ["library", "tools"],
  ["runs", "runs"],
  ["run", "run"],
  ["suspended", "suspended run"],
].flatMap(([file, name]) => [
  ...["light", "dark"].map((theme) => ({ file: `${file}-${theme}`, name, theme, width: 1_280 })),
  ...(["inbox", "tool"].includes(file) ? [{ file: `${file}-small`, name, theme: "light", width: 380 }] : []),
]);

const { server, pages } = await serveSample({ after });
const cookies = await (await Visitor.enter({ after }, server)).context.cookies();

/** Replaces what differs between two stores: times, identifiers and measurements. */
function makeConstant() {
  for (const time of document.querySelectorAll("time")) time.textContent = "2026-01-02 03:04 UTC";
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    if (node.parentElement.closest(".source")) continue;
    node.data = node.data
      .replaceAll(/\b(dt_)[0-9a-f]{12,}/g, (id) => `dt_${"0123456789abcdef".repeat(4).slice(0, id.length - 3)}`)
      .replaceAll(/\br_[0-9a-f]{16}-\d+/g, "r_0123456789abcdef-1")
      .replaceAll(/\b[0-9a-f]{16,}\b/g, (hash) => "0123456789abcdef".repeat(4).slice(0, hash.length))
      .replaceAll(/[\d\u202f]+\.\d\d ms/g, "1.23 ms")
      .replaceAll(/\d{1,3}(\u202f\d{3})+/g, "12\u202f345")
      .replaceAll(/Wasmtime [\d.]+/g, "Wasmtime 1.2.3");
  }
  for (const bar of document.querySelectorAll(".bar rect")) {
    bar.setAttribute("x", bar.classList.contains("load") ? "0" : "700");
    bar.setAttribute("width", bar.classList.contains("load") ? "700" : "300");
  }
}

for (const { file, name, theme, width } of SCREENS) {
  test(`the page looks as it did: ${file}`, async (t) => {
    const visitor = await Visitor.arrive(t, server, { colorScheme: theme, viewport: { width, height: 800 }, locale: "en-GB" });
    await visitor.context.addCookies(cookies);
    const page = await visitor.open(pages[name]);
    await page.evaluate(makeConstant);
    await page.evaluate(() => document.fonts.ready.then(() => {}));
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width, height: Math.min(height, MAX_HEIGHT) });
    const now = PNG.sync.read(await page.screenshot({ animations: "disabled", caret: "hide" }));
    const path = join(FOLDER, `${file}.png`);
    if (IS_UPDATE) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(path, encode(now));
    }
    assert.ok(existsSync(path), `there is no ${path}: TOOLCELL_UPDATE_SCREENS=1 writes it`);
    const approved = PNG.sync.read(readFileSync(path));
    const keep = (picture, kind) => {
      mkdirSync(FAILED, { recursive: true });
      writeFileSync(join(FAILED, `${file}.${kind}.png`), encode(picture));
    };
    if (now.width !== approved.width || now.height !== approved.height) {
      keep(now, "now");
      assert.fail(`${file} is ${now.width} x ${now.height} pixels, was ${approved.width} x ${approved.height}; see ${FAILED}`);
    }
    const difference = new PNG({ width: now.width, height: now.height });
    const count = pixelmatch(approved.data, now.data, difference.data, now.width, now.height, { threshold: 0.1 });
    const part = count / (now.width * now.height);
    if (part > TOLERANCE) {
      keep(now, "now");
      keep(difference, "difference");
    } else {
      for (const kind of ["now", "difference"]) rmSync(join(FAILED, `${file}.${kind}.png`), { force: true });
    }
    assert.ok(part <= TOLERANCE, `${file}: ${(part * 100).toFixed(2)} % of the pixels differ; see ${FAILED}`);
  });
}

/** Encodes a picture without transparency, as small as possible. */
function encode(picture) {
  return PNG.sync.write(picture, { colorType: 2, deflateLevel: 9, filterType: -1 });
}
