// A store with everything that pages show, and the addresses of these pages.
//
// Invariant: all texts are constant, so that pages differ between two stores in times, identifiers of runs and measurements alone.

import assert from "node:assert/strict";
import { POLICY, Store } from "./support.mjs";

const LONG_NAME = "converts_the_prices_of_a_catalogue_between_currencies_every_hour";
const JAPANESE =
  "商品カタログの価格を毎時取得した為替レートで換算し、税込価格と送料を計算してから、結果をキーと値の保存領域に書き込みます。" +
  "通貨コードが不明な場合は換算せずに警告だけを返し、既存の値は変更しません。小数点以下は通貨ごとの規則に従って丸めます。";

const REVIEWED = `// 価格を換算する
export async function execute({ prices, rate }: { prices: number[]; rate: number }): Promise<number[]> {
  const converted = prices.map((price) => price * rate);
  await kv.set("converted", converted);
  return converted;
}
`;
const CHANGED = `// 価格を換算し、少し待ってから保存する
export async function execute({ prices, rate }: { prices: number[]; rate: number }): Promise<number[]> {
  const converted = prices.map((price) => Math.round(price * rate * 100) / 100);
  await new Promise((done) => setTimeout(done, 10));
  await kv.set("converted", converted);
  // \u202eretteb si siht\u202c
  const pattern = /^(a+)+$/;
  return pattern.test(String(rate)) ? [] : converted;
}
`;
const PRICES = {
  prices: { type: "array", items: { type: "number" }, description: "換算する価格", required: true },
  rate: { type: "number", description: "The rate, such as 0.0067", required: true },
};

/** Fills a store, starts its page, and returns the addresses of its pages by name. */
export async function serveSample(scope, options = {}) {
  const store = new Store(scope, `${POLICY}[audit]\nreceipts = true\n`);
  const average = {
    description: "Averages numbers",
    code: "export const execute = ({ numbers }: { numbers: number[] }) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;\n",
    parameters: {
      type: "object",
      properties: { numbers: { type: "array", items: { type: "number", minimum: 0, maximum: 100 }, minItems: 1, description: "The numbers" } },
      required: ["numbers"],
    },
    tags: ["statistics", "数値"],
    examples: [{ parameters: { numbers: [1, 2, 3] }, result: 2 }],
  };
  const averageId = await store.create("average", average);
  await store.lines(["verify", "average"]);
  await store.create("mean_of_prices", { description: JAPANESE, tags: ["価格", "通貨"] });
  await store.create("wait_for_it", { description: "Waits for a number of milliseconds, and returns it" });
  await store.lines(["approvals", "refuse", "wait_for_it", "--reason", "待つだけの道具は要りません"]);
  const approvedId = await store.create("convert_prices", { description: "価格を換算します", code: REVIEWED, parameters: PRICES, tags: ["価格"] });
  await store.lines(["approvals", "grant", "convert_prices", "--yes"]);
  const prices = JSON.stringify({ prices: [100, 250], rate: 0.0067 });
  await store.lines(["run", "convert_prices", prices]);
  await store.lines(["run", "average", '{"numbers": [1.5, 2.5, 4.25]}', "--tokens-saved", "1200"]);
  await store.lines(["run", "average", '{"numbers": [3, 4]}', "--tokens-saved", "800"]);
  assert.notEqual((await store.run(["run", "average", '{"numbers": 1}'])).status, 0);
  assert.notEqual((await store.run(["run", "wait_for_it", '{"ms": 1}'])).status, 0);
  const [suspended] = await store.lines(["run", "convert_prices", prices, "--suspend"]);
  assert.equal(suspended.outcome, "suspended");
  const changedId = await store.create("convert_prices", {
    description: JAPANESE,
    code: CHANGED,
    parameters: PRICES,
    tags: ["価格", "通貨"],
    examples: [{ parameters: { prices: [1], rate: 2 }, result: [2] }],
    generated_from: "Convert the prices of the catalogue to euros, and keep them",
    replace: true,
  });
  const longId = await store.create(LONG_NAME, {
    description: JAPANESE.repeat(3),
    code: `export const execute = () => setTimeout(() => "${"x".repeat(1_000)}", 1);\n`,
  });
  assert.equal(LONG_NAME.length, 64);
  const runsOf = async (id) => {
    const lines = await store.lines(["audit", "--tool", id, "--action", "run_dynamic_tool"]);
    return lines.filter(({ details }) => details.outcome === "returned").map(({ details }) => details.run);
  };
  const [run] = await runsOf(approvedId);
  const [later, earlier] = await runsOf(averageId);
  const pages = {
    inbox: "/",
    "tool that waits": `/tools/${changedId}`,
    "tool with a long name and a long line": `/tools/${longId}`,
    "earlier version, approved": `/tools/${approvedId}`,
    "tool that was verified and used": `/tools/${averageId}`,
    tools: "/tools",
    "search with a filter": "/tools?q=prices&status=unverified&tag=%E4%BE%A1%E6%A0%BC",
    "search without a result": "/tools?q=xylophone",
    runs: "/runs",
    "runs of a tool": `/runs?tool=${averageId}&end=failed`,
    run: `/runs/${run}`,
    "two runs": `/runs/${later}?with=${earlier}`,
    "suspended run": `/suspended/${suspended.run}`,
    ledger: "/ledger",
    "ledger of a tool": `/ledger?days=7&tool=${averageId}`,
    playground: "/playground",
    "playground with a tool": `/playground?tool=${changedId}`,
    "no such page": "/no-such-page",
    "no such tool": "/tools/no_such_tool",
  };
  return { store, server: await store.serve(options), pages };
}
