// Screenshots, compared with approved ones in `docs/ui/`, where the guide shows them. `TOOLCELL_UPDATE_SCREENS=1` writes them.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { serveOperators } from "./operators.mjs";
import { servePast, showPast } from "./past.mjs";
import { Visitor, eventually } from "./support.mjs";
import { serveSample } from "./sample.mjs";

const FOLDER = join(import.meta.dirname, "../../docs/ui");
/** Where screenshots that differ are put, with a picture of the difference. */
const FAILED = join(import.meta.dirname, "failed");
const IS_UPDATE = process.env.TOOLCELL_UPDATE_SCREENS === "1";
/** The largest part of the pixels that may differ. */
const TOLERANCE = 0.005;
/** What the playground shows: code with a finding, a schema, and a run. */
const CODE = `// Sums the prices of an order, with tax
export function execute({ prices, country }: { prices: number[]; country: string }): number {
  const tax = { jp: 0.1, de: 0.19 }[country] ?? 0;
  const net = prices.reduce((sum, price) => sum + price, 0);
  console.log("net", net, "tax", tax);
  const isRound = new RegExp("^(\\\\d+)+$").test(String(net));
  return Math.round(net * (1 + tax) * 100) / 100 + (isRound ? 0 : 0.01);
}
`;
const SCHEMA = `{
  "prices": { "type": "array", "items": { "type": "number" }, "description": "The prices, without tax", "required": true },
  "country": { "type": "string", "enum": ["jp", "de", "other"], "description": "Where the order goes", "required": true }
}`;
/** The height at which a screenshot is cut, in pixels; the ledger and the playground are as long as what they show. */
const MAX_HEIGHT = 1_600;
const MAX_HEIGHTS = { ledger: 2_400, playground: 2_800 };

const SCREENS = [
  ["inbox", "inbox"],
  ["tool", "tool that waits"],
  ["library", "tools"],
  ["runs", "runs"],
  ["run", "run"],
  ["suspended", "suspended run"],
  ["ledger", "ledger"],
  ["playground", "playground"],
  ["sign-in", "sign-in"],
].flatMap(([file, name]) => [
  ...["light", "dark"].map((theme) => ({ file: `${file}-${theme}`, name, theme, width: 1_280 })),
  ...(["inbox", "tool", "ledger", "playground", "sign-in"].includes(file) ? [{ file: `${file}-small`, name, theme: "light", width: 380 }] : []),
]);

/** What a page needs before it is opened, and before its picture is taken. */
const PREPARED = {
  ledger: {
    prepare: (context) => servePast(context, server),
    async finish(page) {
      await showPast(page);
      await eventually(async () => assert.equal(await page.locator(".plot-area > svg").count(), await page.locator(".plot-area").count()));
    },
  },
  playground: {
    prepare: (context) => context.route("**/playground/flame/*.svg", (route) => route.fulfill({ contentType: "image/svg+xml", body: flameGraph() })),
    finish: runCode,
  },
};

const { server, pages } = await serveSample({ after });
const cookies = await (await Visitor.enter({ after }, server)).context.cookies();
const places = { ...pages, "sign-in": (await serveOperators({ after })).server.link };

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
    const { prepare, finish } = PREPARED[name] ?? {};
    await prepare?.(visitor.context);
    const page = await visitor.open(places[name]);
    await finish?.(page);
    // The numbers of the ledger are constant already, and differ.
    if (name !== "ledger") await page.evaluate(makeConstant);
    await page.evaluate(() => document.fonts.ready.then(() => {}));
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width, height: Math.min(height, MAX_HEIGHTS[name] ?? MAX_HEIGHT) });
    // An editor is as high as the window allows, and a plot is drawn again in another width.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
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

/** Writes code in the playground and runs it. */
async function runCode(page) {
  await page.click(".cm-content");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(CODE);
  await page.click("#schema summary");
  await page.fill("#schema-text", SCHEMA);
  await page.fill("[name='p.prices']", "[1200, 99.5, 310]");
  await page.selectOption("[name='p.country']", { label: '"jp"' });
  await page.waitForSelector("#checked li");
  await page.click("button[value=run]:not([aria-hidden])");
  await page.waitForSelector("#output[aria-busy=false] img.flame");
  // The same rows, whatever the engine does inside.
  await page.locator("#output tbody").evaluate((body) => {
    const rows = [["execute", 2], ["reduce", ""], ["log", ""], ["sum", 4]];
    const row = body.rows[0];
    body.replaceChildren(
      ...rows.map(([name, line], at) => {
        const copy = row.cloneNode(true);
        copy.querySelector("th").replaceChildren(Object.assign(document.createElement("code"), { textContent: name }));
        [line, 900 - at * 123, 990 - at * 111].forEach((value, cell) => (copy.querySelectorAll("td")[cell].textContent = value));
        return copy;
      }),
    );
  });
  await page.fill("#name", "order-total");
  await page.fill("#description", "Sums the prices of an order, with tax");
  await page.fill("#tags", "orders, 税込");
  await page.locator("#output img.flame").scrollIntoViewIfNeeded();
  await eventually(async () => assert.ok(await page.locator("#output img.flame").evaluate(({ complete, naturalWidth }) => complete && naturalWidth > 0)));
  await page.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
}

/** A flame graph as the server draws one, of constant numbers. */
function flameGraph() {
  const frames = [
    ["code: 12345 fuel (100%)", 0, 1, 0, "rgb(203,180,32)"],
    ["(engine)", 0, 0.38, 1, "rgb(217,134,14)"],
    ["invoke", 0.38, 1, 1, "rgb(221,108,20)"],
    ["execute", 0.44, 0.98, 2, "rgb(228,152,46)"],
    ["reduce", 0.47, 0.66, 3, "rgb(235,120,40)"],
    ["log", 0.67, 0.9, 3, "rgb(226,90,30)"],
    ["sum", 0.5, 0.63, 4, "rgb(240,170,60)"],
    ["format", 0.7, 0.86, 4, "rgb(214,70,24)"],
  ];
  const bars = frames.map(([name, from, to, depth, fill]) => {
    const [x, y, width] = [10 + from * 1_180, 160 - depth * 16, (to - from) * 1_180 - 1];
    return `<rect x="${x}" y="${y}" width="${width}" height="15" fill="${fill}"/><text x="${x + 3}" y="${y + 11}">${name}</text>`;
  });
  const style = 'font-family="monospace" font-size="12"';
  const title = '<text x="600" y="24" font-size="17" text-anchor="middle">code: 12345 fuel</text>';
  const ground = '<rect width="1200" height="198" fill="rgb(238,238,200)"/>';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="198" viewBox="0 0 1200 198" ${style}>${ground}${title}${bars.join("")}</svg>`;
}

/** Encodes a picture without transparency, as small as possible. */
function encode(picture) {
  return PNG.sync.write(picture, { colorType: 2, deflateLevel: 9, filterType: -1 });
}
