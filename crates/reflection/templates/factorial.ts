/** Computes the factorial of a whole number (exact up to 22). */
function execute({ n }: { n: number }): number {
  if (!Number.isInteger(n) || n < 0 || n > 170) throw new Error("n must be a whole number from 0 to 170");
  let product = 1;
  for (let i = 2; i <= n; i++) product *= i;
  return product;
}
