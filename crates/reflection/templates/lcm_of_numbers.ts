function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** Computes the least common multiple of whole numbers. */
function execute({ numbers }: { numbers: number[] }): number {
  if (numbers.length === 0) throw new Error("there are no numbers to find a multiple of; expected at least one");
  if (!numbers.every(Number.isSafeInteger)) throw new Error("numbers must all be whole numbers");
  if (numbers.includes(0)) return 0;
  const result = numbers.reduce((m, x) => (m / gcd(m, Math.abs(x))) * Math.abs(x), 1);
  if (!Number.isSafeInteger(result)) throw new Error("the result is too large; expected at most 9007199254740991");
  return result;
}
