/** Writes a whole number as an English ordinal (1st, 2nd, 3rd, 11th). */
function execute({ number }: { number: number }): string {
  if (!Number.isSafeInteger(number) || number < 0) throw new Error("number must be a whole number of at least 0");
  const teens = number % 100 >= 11 && number % 100 <= 13;
  const suffix = teens ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th");
  return number + suffix;
}
