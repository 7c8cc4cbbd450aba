/** Counts the numbers greater than a threshold. */
function execute({ numbers, threshold }: { numbers: number[]; threshold: number }): number {
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  if (!Number.isFinite(threshold)) throw new Error("threshold must be a finite number");
  return numbers.filter((x) => x > threshold).length;
}
