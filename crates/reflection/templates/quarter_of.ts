function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

/** Gives the quarter of the calendar year, 1 to 4, in which a date lies. */
function execute({ date }: { date: string }): number {
  dayNumber(date);
  return Math.ceil(Number(date.slice(5, 7)) / 3);
}
