function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

/** Gives the ISO 8601 week number, 1 to 53, of a date: weeks start on Monday, and week 1 is the one with the first Thursday. */
function execute({ date }: { date: string }): number {
  const day = dayNumber(date);
  const thursday = day - ((((day + 3) % 7) + 7) % 7) + 3;
  const year = new Date(thursday * 86400000).getUTCFullYear();
  const newYear = Math.round(new Date(thursday * 86400000).setUTCFullYear(year, 0, 1) / 86400000);
  return Math.floor((thursday - newYear) / 7) + 1;
}
