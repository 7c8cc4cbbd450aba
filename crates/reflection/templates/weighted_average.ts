/** Computes the weighted average of numbers, given one weight for each. */
function execute({ numbers, weights }: { numbers: number[]; weights: number[] }): number {
  if (numbers.length !== weights.length) throw new Error("there must be exactly one weight for each number");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  if (!weights.every((w) => w >= 0 && Number.isFinite(w))) throw new Error("weights must not be negative");
  const total = weights.reduce((sum, w) => sum + w, 0);
  if (total === 0) throw new Error("the weights add up to 0; expected at least one positive weight");
  return numbers.reduce((sum, x, i) => sum + x * weights[i], 0) / total;
}
