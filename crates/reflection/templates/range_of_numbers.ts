/** Computes the range of numbers: the largest minus the smallest. */
function execute({ numbers }: { numbers: number[] }): number {
  if (numbers.length === 0) throw new Error("there are no numbers to take the range of; expected at least one");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length - 1] - sorted[0];
}
