/** Multiplies numbers together; the product of none is 1. */
function execute({ numbers }: { numbers: number[] }): number {
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  const product = numbers.reduce((product, x) => product * x, 1);
  if (!Number.isFinite(product)) throw new Error("the product is too large; expected a result below 1.8e308");
  return product;
}
