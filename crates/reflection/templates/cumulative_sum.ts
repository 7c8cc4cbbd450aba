/** Computes the cumulative sums of numbers. */
function execute({ numbers }: { numbers: number[] }): number[] {
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  let sum = 0;
  return numbers.map((x) => (sum += x));
}
