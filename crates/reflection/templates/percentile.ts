/** Computes a percentile of numbers with linear interpolation between the closest ranks. */
function execute({ numbers, p }: { numbers: number[]; p: number }): number {
  if (numbers.length === 0) throw new Error("there are no numbers to take a percentile of; expected at least one");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  if (!(p >= 0 && p <= 100)) throw new Error("p must be from 0 to 100");
  const sorted = [...numbers].sort((a, b) => a - b);
  const rank = ((sorted.length - 1) * p) / 100;
  const low = Math.floor(rank);
  const high = Math.ceil(rank);
  if (sorted[low] === sorted[high]) return sorted[low];
  return sorted[low] + (sorted[high] - sorted[low]) * (rank - low);
}
