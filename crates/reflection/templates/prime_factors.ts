/** Factors a whole number into primes, ascending, repeated as often as they occur. */
function execute({ number }: { number: number }): number[] {
  if (!Number.isSafeInteger(number) || number < 2) throw new Error("number must be a whole number of at least 2");
  const factors: number[] = [];
  let rest = number;
  for (let p = 2; p * p <= rest; p++) {
    while (rest % p === 0) {
      factors.push(p);
      rest /= p;
    }
  }
  if (rest > 1) factors.push(rest);
  return factors;
}
