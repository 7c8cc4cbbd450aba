function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

/** Tells whether a date is a Saturday or a Sunday. */
function execute({ date }: { date: string }): boolean {
  const weekday = (((dayNumber(date) + 4) % 7) + 7) % 7;
  return weekday === 0 || weekday === 6;
}
