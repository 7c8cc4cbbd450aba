/** Scales numbers linearly so that the smallest becomes 0 and the largest 1. */
function execute({ numbers }: { numbers: number[] }): number[] {
  if (numbers.length === 0) throw new Error("there are no numbers to normalize; expected at least one");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  const sorted = [...numbers].sort((a, b) => a - b);
  const min = sorted[0];
  const range = sorted[sorted.length - 1] - min;
  if (range === 0) throw new Error("all numbers are the same; expected at least two different ones");
  return numbers.map((x) => (x - min) / range);
}
