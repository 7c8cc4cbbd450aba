/** Checks whether a whole number is prime. */
function execute({ number }: { number: number }): boolean {
  if (!Number.isSafeInteger(number)) throw new Error("number must be a whole number");
  if (number < 2) return false;
  for (let d = 2; d * d <= number; d++) {
    if (number % d === 0) return false;
  }
  return true;
}
