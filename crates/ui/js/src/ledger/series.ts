// The series of a plot: their looks, and the legend that tells them apart.
//
// Colours are variables of the style sheet, so that a change of the theme needs no redraw. A reader may not see the colours: bars also
// differ by a hatching, and lines by a symbol. Lines have no dashes, which would look like missing values.
import type { SymbolType } from "@observablehq/plot";
import { element, FONT_SIZE } from "./drawing";
import { measure } from "./format";

export interface Series {
  name: string;
  color: string;
  /** What fills its bars. */
  fill: string;
  /** The symbol of its points, and what fills it: every second series has empty symbols. */
  symbol: SymbolType;
  marker: string;
}

/** The height of a line of a legend, and the width before a name, in pixels. */
const LEGEND_LINE = 22;
const SAMPLE_WIDTH = 22;

/** Whether a series shows failures: the second one of bars does, and a second line does not. */
const BAR_COLORS = ["var(--accent)", "var(--danger)", "var(--warn)", "var(--number)"];
const LINE_COLORS = ["var(--accent)", "var(--warn)", "var(--number)", "var(--keyword)"];
const SYMBOLS: SymbolType[] = ["circle", "square", "triangle", "diamond"];
/** The directions of the hatchings in degrees: the first series has none. */
const ANGLES = [undefined, 45, 135, 90];

/** The looks of series of bars. Series after the fourth repeat them. */
export function barSeries(names: string[], id: string): Series[] {
  return names.map((name, index) => series(name, index % BAR_COLORS.length, BAR_COLORS, id));
}

/** The looks of series of lines. Series after the fourth repeat them. */
export function lineSeries(names: string[], id: string): Series[] {
  return names.map((name, index) => series(name, index % LINE_COLORS.length, LINE_COLORS, id));
}

function series(name: string, at: number, colors: string[], id: string): Series {
  const color = colors[at]!;
  return {
    name,
    color,
    fill: ANGLES[at] === undefined ? color : `url(#${id}-${at})`,
    symbol: SYMBOLS[at]!,
    marker: at % 2 === 0 ? color : "var(--panel)",
  };
}

/** The hatchings that the fills of bars name. */
export function hatchings(all: Series[], id: string): SVGElement {
  const patterns = all.slice(1, BAR_COLORS.length).map(({ color }, index) => {
    const size = { width: 5, height: 5 };
    const transform = `rotate(${ANGLES[index + 1]})`;
    const pattern = element("pattern", { id: `${id}-${index + 1}`, ...size, patternUnits: "userSpaceOnUse", patternTransform: transform });
    const stripe = { x: 0, y: 0, width: 1.5, height: 5, fill: "var(--panel)" };
    pattern.append(element("rect", { ...size, fill: color }), element("rect", stripe));
    return pattern;
  });
  const defs = element("defs");
  defs.append(...patterns);
  return defs;
}

/** A legend in lines of a width, from the top of the plot. One series needs none: the axis names it. */
export function legend(all: Series[], kind: "bars" | "lines", width: number): { node: SVGElement; height: number } {
  const node = element("g", { "aria-hidden": "true", "text-anchor": "start" });
  if (all.length < 2) return { node, height: 0 };
  let [x, y] = [0, 0];
  for (const each of all) {
    const needed = SAMPLE_WIDTH + measure(each.name, FONT_SIZE) + 18;
    if (x > 0 && x + needed > width) [x, y] = [0, y + LEGEND_LINE];
    const item = element("g", { transform: `translate(${x},${y + 2})` });
    const label = element("text", { x: SAMPLE_WIDTH, y: 11 });
    label.textContent = each.name;
    item.append(...(kind === "bars" ? barSample(each) : lineSample(each)), label);
    node.append(item);
    x += needed;
  }
  return { node, height: y + LEGEND_LINE };
}

const barSample = ({ fill }: Series) => [element("rect", { x: 0, y: 0, width: 14, height: 14, rx: 2, fill })];

function lineSample({ color, marker, symbol }: Series): SVGElement[] {
  const shapes: Record<string, string> = {
    circle: "M5.5,7a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
    square: "M5.8,4.3h5.4v5.4h-5.4z",
    triangle: "M8.5,3l3.5,6.2h-7z",
    diamond: "M8.5,2.5l2.6,4.5l-2.6,4.5l-2.6,-4.5z",
  };
  const shape = { d: shapes[symbol as string] ?? "", fill: marker, stroke: color, "stroke-width": 1.25 };
  return [element("path", { d: "M0,7h17", stroke: color, "stroke-width": 1.5 }), element("path", shape)];
}
