function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Names the day of the week of a date, in English. */
function execute({ date }: { date: string }): string {
  return WEEKDAYS[(((dayNumber(date) + 4) % 7) + 7) % 7];
}
