// Loops over a typed array: the sieve of Eratosthenes.
function execute({ scale }) {
  const limit = 250_000 * scale;
  const composite = new Uint8Array(limit + 1);
  let primes = 0;
  for (let n = 2; n <= limit; n++) {
    if (composite[n]) continue;
    primes++;
    for (let multiple = n * n; multiple <= limit; multiple += n) composite[multiple] = 1;
  }
  return primes;
}
