/** Adds up the decimal digits of a whole number. */
function execute({ number }: { number: number }): number {
  if (!Number.isSafeInteger(number)) throw new Error("number must be a whole number");
  return [...String(Math.abs(number))].reduce((sum, digit) => sum + Number(digit), 0);
}
