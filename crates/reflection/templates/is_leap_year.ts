/** Tells whether a year of the Gregorian calendar is a leap year. */
function execute({ year }: { year: number }): boolean {
  if (!Number.isInteger(year)) throw new Error("the year must be an integer");
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
