function dayNumber(date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date + "T00:00:00Z") : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) throw new Error(`"${date}" is not a date; expected a day of the calendar as YYYY-MM-DD`);
  return time / 86400000;
}

function isoDate(day: number): string {
  if (!(day >= -719528 && day <= 2932896)) throw new Error("the result is outside the years 0000 to 9999");
  return new Date(day * 86400000).toISOString().slice(0, 10);
}

/** Gives the last day of the month in which a date lies. */
function execute({ date }: { date: string }): string {
  dayNumber(date);
  const [year, month] = date.split("-").map(Number);
  const next = month === 12 ? [year + 1, 1] : [year, month + 1];
  return year === 9999 && month === 12 ? "9999-12-31" : isoDate(dayNumber(`${String(next[0]).padStart(4, "0")}-${String(next[1]).padStart(2, "0")}-01`) - 1);
}
