// Plots over time: a value for each day of a period, in UTC.
import { axisX, axisY, gridY, pointerX, ruleY, tip, utcInterval } from "@observablehq/plot";
import type { Markish, PlotOptions, TipOptions } from "@observablehq/plot";
import { axisName, TIP, type PlotSpec } from "./drawing";
import { abbreviate, formatDate, formatDay, formatNumber, formatYear } from "./format";
import { parseNumber, type Table } from "./table";

const DAY = 86_400_000;
/** A period is cut to its last days: each day is an element of the page. */
const MAX_DAYS = 3660;
/** Plots of one page have the same margins: their days are below one another. In pixels. */
const MARGIN = { left: 60, right: 14, top: 30, bottom: 38 };
const PLOT_HEIGHT = 180;
/** The width that a label of the time axis needs, in pixels. */
const LABEL_WIDTH = 68;
/** Days that are narrower than this have no room for a hatching or a symbol, in pixels. */
export const MIN_DETAIL_WIDTH = 2.5;

/** A day, and its values in the order of the series. */
export interface Day {
  start: Date;
  noon: Date;
  end: Date;
  values: number[];
}

/** Makes one row for each day of the period. Days that the table does not have get the `missing` value. */
export function daysOf(table: Table, spec: PlotSpec, missing: number): Day[] {
  const x = table.column(spec.x);
  const y = spec.y.map((name) => table.column(name));
  const known = new Map(table.rows.map((row) => [Date.parse(row[x] ?? ""), y.map((index) => parseNumber(row[index]))]));
  known.delete(NaN);
  const to = parseDay(spec.to) ?? Math.max(...known.keys());
  const from = Math.max(parseDay(spec.from) ?? Math.min(...known.keys()), to - (MAX_DAYS - 1) * DAY);
  const days: Day[] = [];
  for (let time = from; time <= to; time += DAY) {
    const values = known.get(time) ?? y.map(() => missing);
    days.push({ start: new Date(time), noon: new Date(time + DAY / 2), end: new Date(time + DAY), values });
  }
  return days;
}

function parseDay(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/** The width of a day, in pixels. */
export function dayWidth(days: Day[], width: number): number {
  return (width - MARGIN.left - MARGIN.right) / Math.max(1, days.length);
}

/** What the axes of days and values need to know. */
interface Frame {
  width: number;
  /** The height of the legend, in pixels. */
  top: number;
  /** The name of the axis of values. */
  axis: string;
  max: number;
  /** The largest number of intervals between the ticks of the axis of values. */
  intervals: number;
}

/** Puts marks between axes of days, and of values from zero to a maximum. */
export function onDays(days: Day[], { width, top, axis, max, ...frame }: Frame, marks: Markish[]): PlotOptions {
  const intervals = max > 0 ? frame.intervals : 1;
  const ticks = timeTicks(days, Math.max(2, Math.floor((width - MARGIN.left - MARGIN.right) / LABEL_WIDTH)));
  const [first, last] = [days[0]?.start ?? new Date(0), days.at(-1)?.end ?? new Date(DAY)];
  const label = (time: Date, index: number) => labelOf(time, ticks[index - 1]);
  const quiet = { color: "var(--quiet)", label: null };
  return {
    width,
    height: top + MARGIN.top + PLOT_HEIGHT + MARGIN.bottom,
    marginTop: top + MARGIN.top,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    marginLeft: MARGIN.left,
    x: { type: "utc", domain: [first, last] },
    y: { type: "linear", domain: [0, max > 0 ? max : 1], nice: intervals },
    marks: [
      gridY({ ticks: intervals, stroke: "var(--line)", strokeOpacity: 1 }),
      axisY({ ...quiet, ticks: intervals, tickSize: 0, tickPadding: 8, tickFormat: abbreviate }),
      axisName(axis, -MARGIN.left),
      axisX(ticks, { ...quiet, tickSize: 4, tickPadding: 6, tickFormat: label }),
      ruleY([0], { stroke: "var(--quiet)" }),
      marks,
    ],
  };
}

/** What the pointer shows of a day: the date and the values. */
export function dayTip(days: Day[], names: string[], y: (day: Day) => number) {
  const channels = names.map((label, index) => [`series${index}`, { value: (day: Day) => day.values[index], label }] as const);
  const formats = channels.map(([key]) => [key, formatNumber] as const);
  const options = {
    ...TIP,
    x: "noon",
    y,
    channels: { date: { value: "start", label: "" }, ...Object.fromEntries(channels) },
    format: { x: null, y: null, date: formatDate, ...Object.fromEntries(formats) },
  };
  return tip(days, pointerX(options as TipOptions));
}

/** The year is below the day where it is another one than before. */
function labelOf(time: Date, before: Date | undefined): string {
  const isSame = before?.getUTCFullYear() === time.getUTCFullYear();
  return isSame ? formatDay(time) : `${formatDay(time)}\n${formatYear(time)}`;
}

/** The noons of days with a label: each day, each second one, Mondays, or the first days of months. */
function timeTicks(days: Day[], max: number): Date[] {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return [];
  const step = [1, 2, 7, 14].find((count) => days.length / count <= max);
  if (step !== undefined) {
    // 1970-01-05 was a Monday.
    return days.filter(({ start }) => (start.getTime() / DAY - 4) % step === 0).map(({ noon }) => noon);
  }
  const months = days.length / 30.4;
  const count = [1, 2, 3, 6, 12].find((count) => months / count <= max) ?? 24;
  const interval = utcInterval(count < 12 ? `${count} months` : `${count / 12} years`);
  return interval.range(first.start, last.end).map((time) => new Date(time.getTime() + DAY / 2));
}
