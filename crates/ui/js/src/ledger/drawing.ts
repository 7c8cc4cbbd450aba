// What all plots have in common: what they are made from, how they are drawn, and what the pointer shows.
import { plot, text, type PlotOptions, type TipOptions } from "@observablehq/plot";

/** What a figure asks for, from its `data-` attributes. */
export interface PlotSpec {
  /** Identifies the figure among those of the page. */
  id: string;
  x: string;
  y: string[];
  /** The names of the series, one for each column of `y`. */
  names: string[];
  /** The name of the axis of values. */
  axis: string;
  /** The first and the last day of the period. */
  from?: string | undefined;
  to?: string | undefined;
  limit?: number | undefined;
  limitName?: string | undefined;
  link?: string | undefined;
}

/** A plot that can be drawn in any width. */
export interface Drawing {
  draw(width: number): SVGSVGElement;
  /** What the plot shows, in a few words. */
  summary: string;
  /** Whether a reader can follow links in the plot. */
  hasLinks: boolean;
}

/** The size of text in plots, in pixels. */
export const FONT_SIZE = 12;

/** The class of what only the pointer shows. */
export const POINTER = "plot-pointer";

/** The looks of a tip. */
export const TIP = {
  className: POINTER,
  ariaHidden: "true",
  fill: "var(--panel)",
  stroke: "var(--quiet)",
  strokeOpacity: 0.5,
  lineHeight: 1.35,
  lineWidth: 22,
  pathFilter: "none",
  fontVariant: "tabular-nums",
} satisfies TipOptions;

/** Draws, and puts elements before the marks. */
export function render(options: PlotOptions, extras: SVGElement[] = []): SVGSVGElement {
  const svg = plot(options) as SVGSVGElement;
  // The content security policy allows no style elements: the rules are in the style sheet of the page.
  svg.querySelector("style")?.remove();
  // The font is that of the page.
  svg.removeAttribute("font-family");
  svg.setAttribute("font-size", `${FONT_SIZE}`);
  svg.prepend(...extras);
  // The label of the plot says what it shows. Only its links are read one by one.
  for (const part of svg.children) {
    if (!part.querySelector("a")) part.setAttribute("aria-hidden", "true");
    part.removeAttribute("aria-label");
  }
  return svg;
}

/** The name of an axis, above the plot. */
export function axisName(name: string, dx = 0) {
  return text(name ? [name] : [], {
    frameAnchor: "top-left",
    text: (name: string) => name,
    textAnchor: "start",
    lineAnchor: "bottom",
    dx,
    dy: -10,
    fill: "var(--quiet)",
  });
}

/** Makes an element of SVG. */
export function element(name: string, attributes: Record<string, string | number> = {}): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, `${value}`);
  return made;
}
