function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

/** Counts the days from Monday to Friday from a start date to an end date, both included; public holidays are not considered. 0 if the end is before the start. */
function execute({ start, end }: { start: string; end: string }): number {
  const first = dayNumber(start);
  const days = Math.max(0, dayNumber(end) - first + 1);
  let count = Math.floor(days / 7) * 5;
  for (let day = first; day < first + (days % 7); day++) {
    const weekday = (((day + 4) % 7) + 7) % 7;
    if (weekday !== 0 && weekday !== 6) count++;
  }
  return count;
}
