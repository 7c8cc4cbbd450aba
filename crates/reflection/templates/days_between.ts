function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

/** Counts the days from one date to another: 0 for the same date, negative if the end is before the start (unless absolute). */
function execute({ start, end, absolute }: { start: string; end: string; absolute: boolean }): number {
  const days = dayNumber(end) - dayNumber(start);
  return absolute ? Math.abs(days) : days;
}
