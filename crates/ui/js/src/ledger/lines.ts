// One line with points for each series, and a limit above them.
import { dot, line, pointerX, ruleX, ruleY, text } from "@observablehq/plot";
import { dayTip, daysOf, dayWidth, MIN_DETAIL_WIDTH, onDays, type Day } from "./days";
import { POINTER, render, type Drawing, type PlotSpec } from "./drawing";
import { formatNumber } from "./format";
import { legend, lineSeries } from "./series";
import type { Table } from "./table";

/** A limit that is more than this factor above all values is not drawn: its rule would flatten the lines. */
const MAX_LIMIT_FACTOR = 10;

/** Makes the plot. A day without a value is a gap. */
export function lines(table: Table, spec: PlotSpec): Drawing {
  const days = daysOf(table, spec, NaN);
  const known = days.filter(({ values }) => values.some(isKnown));
  const series = lineSeries(spec.names, spec.id);
  const largest = ({ values }: Day) => Math.max(0, ...values.filter(isKnown));
  const max = Math.max(0, ...days.map(largest));
  const limit = spec.limit !== undefined && max * MAX_LIMIT_FACTOR >= spec.limit ? spec.limit : undefined;
  const draw = (width: number) => {
    const key = legend(series, "lines", width);
    const room = dayWidth(days, width);
    // A value between two gaps is on no line.
    const isAlone = (at: number, index: number) => [days[at - 1], days[at + 1]].every((day) => !isKnown(day?.values[index] ?? NaN));
    const marks = series.map(({ color, marker, symbol }, index) => {
      const points = days.filter((_, at) => room >= MIN_DETAIL_WIDTH || isAlone(at, index));
      const channels = { x: "noon", y: (day: Day) => day.values[index], stroke: color };
      return [
        line(days, { ...channels, strokeWidth: 1.5, strokeLinejoin: "round" }),
        dot(points, { ...channels, r: room >= 8 ? 3 : 1.75, symbol, strokeWidth: 1.25, fill: marker }),
      ];
    });
    const frame = { width, top: key.height, axis: spec.axis, max: Math.max(max, limit ?? 0), intervals: 4 };
    const all = [pointed(known), marks, limitRule(limit, spec.limitName ?? ""), dayTip(known, spec.names, largest)];
    return render(onDays(days, frame, all), [key.node]);
  };
  const maxima = spec.names.map((name, index) => {
    const values = days.map((day) => day.values[index]!).filter(isKnown);
    return `${name}: ${formatNumber(values.length > 0 ? Math.max(...values) : NaN)}`;
  });
  return { draw, summary: maxima.join(", "), hasLinks: false };
}

const isKnown = (value: number) => !Number.isNaN(value);

/** A line through the day that the pointer is at. */
function pointed(days: Day[]) {
  const looks = { stroke: "var(--quiet)", strokeOpacity: 0.5, ariaHidden: "true", className: POINTER };
  return ruleX(days, pointerX({ x: "noon", ...looks }));
}

function limitRule(limit: number | undefined, name: string) {
  if (limit === undefined) return [];
  const color = "var(--danger)";
  const place = { frameAnchor: "right", textAnchor: "end", lineAnchor: "bottom", dy: -4 } as const;
  return [
    ruleY([limit], { stroke: color, strokeDasharray: "5 4", strokeWidth: 1.25 }),
    text([name], { ...place, y: () => limit, text: () => name, fill: color, stroke: "var(--panel)", strokeWidth: 4 }),
  ];
}
