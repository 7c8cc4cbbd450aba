// Horizontal bars, one for each row of a table, in its order.
import { barX, pointerY, ruleX, text, tip, type TextOptions, type TipOptions } from "@observablehq/plot";
import { axisName, FONT_SIZE, render, TIP, type Drawing, type PlotSpec } from "./drawing";
import { abbreviate, formatNumber, measure, truncate } from "./format";
import { parseNumber, type Table } from "./table";

/** A plot that is narrower than this has its names above its bars, in pixels. */
const MIN_WIDTH_BESIDE = 520;
/** The largest part of the width that names beside bars take. */
const MAX_NAME_SHARE = 0.36;
/** How many rows a label of the plot tells. */
const SUMMARY_ROWS = 3;

interface Row {
  /** Two rows may have the same name. */
  index: number;
  name: string;
  value: number;
  href: string | null;
}

/** Makes the plot. */
export function ranking(table: Table, spec: PlotSpec): Drawing {
  const [x, y] = [table.column(spec.x), table.column(spec.y[0] ?? "")];
  const link = spec.link === undefined ? undefined : table.column(spec.link);
  const rows = table.rows.map((row, index) => ({
    index,
    name: row[y] ?? "",
    value: parseNumber(row[x]) || 0,
    href: link === undefined ? null : `tools/${encodeURIComponent(row[link] ?? "")}`,
  }));
  const largest = rows.slice(0, SUMMARY_ROWS).map(({ name, value }) => `${name}: ${formatNumber(value)}`);
  return { draw: (width) => draw(rows, spec.axis, width), summary: largest.join(", "), hasLinks: link !== undefined };
}

function draw(rows: Row[], axis: string, width: number): SVGSVGElement {
  const isBeside = width >= MIN_WIDTH_BESIDE;
  const [rowHeight, nameHeight] = isBeside ? [28, 0] : [48, 22];
  const widest = (texts: string[]) => Math.max(0, ...texts.map((each) => measure(each, FONT_SIZE)));
  const nameWidth = isBeside ? Math.min(widest(rows.map(({ name }) => name)) + 12, width * MAX_NAME_SHARE) : 1;
  const max = Math.max(0, ...rows.map(({ value }) => value));
  const top = axis ? 28 : 6;
  const names: TextOptions = {
    y: "index",
    frameAnchor: "left",
    text: ({ name }: Row) => truncate(name, FONT_SIZE, isBeside ? nameWidth - 12 : width - 4),
    title: "name",
    href: "href",
    fill: rows.some(({ href }) => href !== null) ? "var(--accent)" : "var(--text)",
    ...(isBeside ? { textAnchor: "end", dx: -10 } : { textAnchor: "start", dy: 17 - rowHeight / 2 }),
  };
  const values: TextOptions = {
    x: "value",
    y: "index",
    text: ({ value }: Row) => abbreviate(value),
    textAnchor: "start",
    dx: 6,
    dy: nameHeight / 2,
    fill: "var(--text)",
    fontVariant: "tabular-nums",
  };
  const pointed = {
    ...TIP,
    x: "value",
    y: "index",
    preferredAnchor: "left",
    channels: { name: { value: "name", label: "" }, value: { value: "value", label: axis } },
    format: { x: null, y: null, name: (name: string) => name, value: formatNumber },
  };
  return render({
    width,
    height: top + Math.max(1, rows.length) * rowHeight + 4,
    marginTop: top,
    marginRight: Math.max(20, widest(rows.map(({ value }) => abbreviate(value)))) + 10,
    marginBottom: 4,
    marginLeft: nameWidth,
    x: { type: "linear", domain: [0, max > 0 ? max : 1], axis: null },
    y: { type: "band", domain: rows.length > 0 ? rows.map(({ index }) => index) : [0], padding: 0, axis: null },
    marks: [
      barX(rows, { x: "value", y: "index", fill: "var(--accent)", insetTop: 5 + nameHeight, insetBottom: 5 }),
      // A line at zero would cross names that are above bars.
      ruleX(isBeside || rows.length === 0 ? [0] : [], { stroke: "var(--quiet)" }),
      text(rows, names),
      text(rows, values),
      axisName(axis),
      tip(rows, pointerY(pointed as TipOptions)),
    ],
  });
}
