function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** Computes the greatest common divisor of whole numbers. */
function execute({ numbers }: { numbers: number[] }): number {
  if (numbers.length === 0) throw new Error("there are no numbers to find a divisor of; expected at least one");
  if (!numbers.every(Number.isSafeInteger)) throw new Error("numbers must all be whole numbers");
  return numbers.reduce((d, x) => gcd(d, Math.abs(x)), 0);
}
