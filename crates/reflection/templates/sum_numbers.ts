/** Adds up numbers; the sum of none is 0. */
function execute({ numbers }: { numbers: number[] }): number {
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  return numbers.reduce((sum, x) => sum + x, 0);
}
