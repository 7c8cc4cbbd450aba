function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

/** Sorts dates, the earliest first, or the latest first if the order is descending. */
function execute({ dates, order }: { dates: string[]; order: string }): string[] {
  if (order !== "ascending" && order !== "descending") throw new Error("the order must be ascending or descending");
  const sign = order === "ascending" ? 1 : -1;
  dates.forEach(dayNumber);
  return [...dates].sort((a, b) => sign * (dayNumber(a) - dayNumber(b)));
}
