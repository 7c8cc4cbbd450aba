function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

function isoDate(day: number): string {
  if (!(day >= -719528 && day <= 2932896)) throw new Error("the result is outside the years 0000 to 9999");
  return new Date(day * 86400000).toISOString().slice(0, 10);
}

/** Gives the date a number of days before a date. */
function execute({ date, days }: { date: string; days: number }): string {
  if (!Number.isInteger(days)) throw new Error("days must be an integer");
  return isoDate(dayNumber(date) - days);
}
