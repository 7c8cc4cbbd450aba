function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

/** Finds the latest of some dates. */
function execute({ dates }: { dates: string[] }): string {
  if (dates.length === 0) throw new Error("there are no dates to choose the latest from");
  dates.forEach(dayNumber);
  return dates.reduce((best, date) => (dayNumber(date) > dayNumber(best) ? date : best));
}
