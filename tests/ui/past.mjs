// Thirty constant days of use, which the ledger shows in place of those of its store: a store of a test has runs of today alone.
//
// Invariant: the numbers of the page, of the tables and of the CSV files are of the same days, and the same at each run of the tests.

const DAY = 86_400_000;
/** The limit that a run of the constant days comes close to, in units of fuel. */
const LIMIT = 2_000_000;
const TO = Date.parse("2026-01-30");

/** The days, the oldest first. Nothing ran on two of them, and nothing was reported on another. */
export const DAYS = Array.from({ length: 30 }, (_, at) => at)
  .filter((at) => at !== 10 && at !== 17)
  .map((at) => {
    const runs = 30 + at + ((at * 7) % 11) * 3 - (at % 7 > 4 ? 22 : 0);
    const failed = at === 19 ? 14 : at % 5 === 2 ? 3 : at % 3 === 0 ? 1 : 0;
    const mean = 210_000 + at * 9_000 + ((at * 13) % 7) * 12_000;
    return {
      day: new Date(TO - (29 - at) * DAY).toISOString().slice(0, 10),
      runs,
      succeeded: runs - failed,
      failed,
      fuel: runs * mean,
      fuel_per_run: mean,
      max_fuel: Math.round(mean * (at === 19 ? 4.1 : 2.2 + ((at * 5) % 4) / 10)),
      milliseconds: (runs * (3 + (at % 4) * 0.7)).toFixed(3),
      tokens_saved: at === 5 ? "" : runs * 310,
    };
  });

/** The tools, the most expensive first: a name as long as one may be, and two that share a prefix. */
export const TOOLS = [
  ["converts_the_prices_of_a_catalogue_between_currencies_every_hour", 402, 19, 181_204_000, "+38.2 %"],
  ["summarise_orders", 311, 3, 96_410_000, "+4.0 %"],
  ["summarise_invoices", 240, 0, 61_730_500, "−6.1 %"],
  ["average", 128, 6, 9_120_700, "+0.0 %"],
  ["json-to-csv", 96, 0, 1_310_200, "unknown"],
  ["slug", 51, 1, 88_400, "−0.4 %"],
].map(([name, runs, failed, fuel, drift], at) => ({
  id: `dt_${String(at).repeat(64)}`,
  name,
  runs,
  succeeded: runs - failed,
  failed,
  fuel,
  fuel_per_run: Math.round(fuel / runs),
  max_fuel: Math.round((fuel / runs) * 2.4),
  milliseconds: (runs * 4.25).toFixed(3),
  tokens_saved: at === 4 ? "" : runs * 310,
  drift,
}));

/** Answers in the place of the server what the ledger of all tools shows; the page is that of the server but for its numbers. */
export async function servePast(context, server) {
  await context.route(`${server.base}/ledger`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text())
      .replaceAll(/data-from="[^"]*"/g, `data-from="${new Date(TO - 29 * DAY).toISOString().slice(0, 10)}"`)
      .replaceAll(/data-to="[^"]*"/g, `data-to="${new Date(TO).toISOString().slice(0, 10)}"`)
      .replaceAll(/data-limit="[^"]*"/g, `data-limit="${LIMIT}"`);
    await route.fulfill({ response: answer, body });
  });
  for (const [name, rows] of [["usage", DAYS], ["tools", TOOLS]]) {
    await context.route(`${server.base}/ledger/${name}.csv?*`, async (route) => route.fulfill({ response: await route.fetch(), body: toCsv(rows) }));
  }
}

/** Writes a table (RFC 4180). */
function toCsv(rows) {
  const names = Object.keys(rows[0]).filter((name) => name !== "drift");
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => `${cells.join(",")}\r\n`).join("");
}

/** Puts the constant numbers in the place of those that the page of the server has as text. */
export async function showPast(page) {
  const sum = (key) => DAYS.reduce((all, day) => all + Number(day[key]), 0);
  const total = Object.fromEntries(["runs", "failed", "fuel", "milliseconds", "tokens_saved"].map((key) => [key, sum(key)]));
  const most = Math.max(...DAYS.map((day) => day.max_fuel));
  await page.evaluate(
    ({ total, tools, most, limit }) => {
      const grouped = (number) => String(number).replaceAll(/\B(?=(\d{3})+$)/g, "\u202f");
      const ms = (number) => `${grouped(Math.floor(number))}.${String(Math.floor((number * 100) % 100)).padStart(2, "0")} ms`;
      const percent = (part) => `${((part / limit) * 100).toFixed(1)} %`;
      const fill = (cells, values) => values.forEach((value, at) => (cells[at].textContent = value));
      const tiles = [grouped(total.runs), grouped(total.failed), grouped(total.fuel), ms(total.milliseconds), grouped(total.tokens_saved)];
      fill(document.querySelectorAll(".tiles dd"), tiles);
      document.querySelectorAll(".tiles dd")[1].className = "worst-high";
      const sentence = [...document.querySelectorAll("main p")].find((line) => /used .* units/.test(line.textContent));
      sentence.textContent = sentence.textContent.replace(/used .* units/, `used ${percent(most)} of the limit of ${grouped(limit)} units`);
      const body = document.querySelector("section:has(#expensive) tbody");
      const row = body.rows[0].cloneNode(true);
      body.replaceChildren(
        ...tools.map((tool) => {
          const copy = row.cloneNode(true);
          copy.querySelector("a").textContent = tool.name;
          const saved = tool.tokens_saved === "" ? "not reported" : grouped(tool.tokens_saved);
          const { runs, failed, fuel, fuel_per_run: mean, drift, max_fuel: max, milliseconds } = tool;
          fill(copy.querySelectorAll("td"), [grouped(runs), failed, grouped(fuel), grouped(mean), drift, percent(max), ms(milliseconds), saved]);
          copy.querySelectorAll("td")[1].className = failed > 0 ? "worst-high" : "";
          return copy;
        }),
      );
    },
    { total, tools: TOOLS, most, limit: LIMIT },
  );
}
