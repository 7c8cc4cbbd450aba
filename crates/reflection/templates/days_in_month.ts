/** Counts the days of a month (1 to 12) of a year, by the Gregorian calendar. */
function execute({ year, month }: { year: number; month: number }): number {
  if (!Number.isInteger(year)) throw new Error("the year must be an integer");
  if (!Number.isInteger(month) || month < 1 || month > 12) throw new Error("the month must be an integer from 1 to 12");
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
}
