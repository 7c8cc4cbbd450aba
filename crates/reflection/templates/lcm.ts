function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** Computes the least common multiple of two whole numbers. */
function execute({ a, b }: { a: number; b: number }): number {
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) throw new Error("a and b must be whole numbers");
  if (a === 0 || b === 0) return 0;
  const result = (Math.abs(a) / gcd(Math.abs(a), Math.abs(b))) * Math.abs(b);
  if (!Number.isSafeInteger(result)) throw new Error("the result is too large; expected at most 9007199254740991");
  return result;
}
