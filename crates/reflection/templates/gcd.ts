function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** Computes the greatest common divisor of two whole numbers. */
function execute({ a, b }: { a: number; b: number }): number {
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) throw new Error("a and b must be whole numbers");
  return gcd(Math.abs(a), Math.abs(b));
}
