// One bar a day, of one part for each series: counts, such as of runs that succeeded and that failed.
import { rectY } from "@observablehq/plot";
import { dayTip, daysOf, dayWidth, MIN_DETAIL_WIDTH, onDays, type Day } from "./days";
import { render, type Drawing, type PlotSpec } from "./drawing";
import { formatNumber } from "./format";
import { barSeries, hatchings, legend } from "./series";
import type { Table } from "./table";

const MAX_BAR_WIDTH = 40;

/** Makes the plot. A day that the table does not have counts as zero. */
export function stack(table: Table, spec: PlotSpec): Drawing {
  const days = daysOf(table, spec, 0);
  const series = barSeries(spec.names, spec.id);
  const top = ({ values }: Day, count = values.length) => sum(values.slice(0, count));
  const max = Math.max(0, ...days.map((day) => top(day)));
  const draw = (width: number) => {
    const key = legend(series, "bars", width);
    const room = dayWidth(days, width);
    const inset = Math.max(room > 5 ? 0.75 : 0, (room - MAX_BAR_WIDTH) / 2);
    const bars = series.map(({ fill, color }, index) =>
      rectY(
        days.filter(({ values }) => values[index]! > 0),
        {
          x1: "start",
          x2: "end",
          y1: (day: Day) => top(day, index),
          y2: (day: Day) => top(day, index + 1),
          insetLeft: inset,
          insetRight: inset,
          fill: room < MIN_DETAIL_WIDTH ? color : fill,
        },
      ),
    );
    // There are no ticks between two counts.
    const frame = { width, top: key.height, axis: spec.axis, max, intervals: Math.min(4, max) };
    const marks = [bars, dayTip(days, spec.names, (day) => top(day))];
    return render(onDays(days, frame, marks), [hatchings(series, spec.id), key.node]);
  };
  const sums = spec.names.map((name, index) => `${name}: ${formatNumber(sum(days.map(({ values }) => values[index]!)))}`);
  return { draw, summary: sums.join(", "), hasLinks: false };
}

const sum = (values: number[]) => values.reduce((total, value) => total + (value || 0), 0);
