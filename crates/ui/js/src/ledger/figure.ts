// A figure of the page: it loads its numbers, draws them in its width, and offers the plot as a file.
import { show } from "../live";
import type { Drawing, PlotSpec } from "./drawing";
import { lines } from "./lines";
import { ranking } from "./ranking";
import { save } from "./save";
import { stack } from "./stack";
import { load, type Table } from "./table";

/** The narrowest plot, in pixels. */
const MIN_WIDTH = 240;

/** The kinds of plots, by the names that the server gives them. */
const PLOTS = new Map<string | undefined, (table: Table, spec: PlotSpec) => Drawing>([
  ["stack", stack],
  ["lines", lines],
  ["ranking", ranking],
]);

let count = 0;

/** Draws the plot of a figure, and again when its width changes. A figure whose numbers cannot be loaded keeps its links alone. */
export async function mount(figure: HTMLElement): Promise<void> {
  const { plot: kind, csv } = figure.dataset;
  const area = figure.querySelector<HTMLElement>(".plot-area");
  const make = PLOTS.get(kind);
  if (!area || !csv || !make) return;
  try {
    const plot = make(await load(csv), specOf(figure));
    const caption = figure.querySelector("figcaption")?.textContent?.trim() ?? "";
    keepDrawn(area, plot, [caption, plot.summary].filter(Boolean).join(". "));
    addSave(figure, area, caption);
  } catch (error) {
    console.error(error);
    show("offline", true);
  }
}

function specOf({ dataset }: HTMLElement): PlotSpec {
  const y = list(dataset.y);
  const names = list(dataset.names);
  const limit = Number(dataset.limit);
  return {
    id: `plot-${count++}`,
    x: dataset.x ?? "",
    y,
    names: y.map((column, index) => names[index] ?? column),
    axis: dataset.axis ?? "",
    from: dataset.from,
    to: dataset.to,
    limit: limit > 0 ? limit : undefined,
    limitName: dataset.limitName,
    link: dataset.link,
  };
}

const list = (text: string | undefined) => (text ? text.split(",").map((part) => part.trim()) : []);

function keepDrawn(area: HTMLElement, plot: Drawing, label: string): void {
  let drawn = 0;
  let frame = 0;
  const draw = () => {
    const width = Math.floor(area.clientWidth);
    // An area that is not shown has no width.
    if (width === 0 || width === drawn) return;
    drawn = width;
    const svg = plot.draw(Math.max(MIN_WIDTH, width));
    // The content of an image is hidden from assistive technology, and links must not be.
    svg.setAttribute("role", plot.hasLinks ? "group" : "img");
    svg.setAttribute("aria-label", label);
    area.replaceChildren(svg);
  };
  new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  }).observe(area);
  // What a pointer shows can be dismissed without moving it (WCAG 2.2, 1.4.13).
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape") area.querySelector("svg")?.dispatchEvent(new PointerEvent("pointerleave", { pointerType: "mouse" }));
  });
}

/** Adds a button beside the link to the numbers. */
function addSave(figure: HTMLElement, area: HTMLElement, caption: string): void {
  const { save: label, file } = figure.dataset;
  if (!label) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.setAttribute("aria-label", `${label}: ${caption}`);
  button.addEventListener("click", () => {
    const svg = area.querySelector("svg");
    if (svg) save(svg, caption, file || "plot");
  });
  figure.querySelector(".plot-links")?.append(" ", button);
}
