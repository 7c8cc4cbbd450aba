/** Describes numbers: count, minimum, maximum, mean and median. */
function execute({ numbers }: { numbers: number[] }): { count: number; min: number; max: number; mean: number; median: number } {
  if (numbers.length === 0) throw new Error("there are no numbers to describe; expected at least one");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  const sorted = [...numbers].sort((a, b) => a - b);
  const count = sorted.length;
  const middle = Math.floor(count / 2);
  return {
    count,
    min: sorted[0],
    max: sorted[count - 1],
    mean: sorted.reduce((sum, x) => sum + x, 0) / count,
    median: count % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
  };
}
