/** Computes the median of numbers; with an even count, the mean of the two in the middle. */
function execute({ numbers }: { numbers: number[] }): number {
  if (numbers.length === 0) throw new Error("there are no numbers to take the median of; expected at least one");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
