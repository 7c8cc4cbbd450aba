/** Lists the primes up to a limit, the limit included. */
function execute({ limit }: { limit: number }): number[] {
  if (!(limit <= 100000)) throw new Error("limit must be a number of at most 100000");
  const composite = new Set<number>();
  const primes: number[] = [];
  for (let n = 2; n <= limit; n++) {
    if (composite.has(n)) continue;
    primes.push(n);
    for (let m = n * n; m <= limit; m += n) composite.add(m);
  }
  return primes;
}
