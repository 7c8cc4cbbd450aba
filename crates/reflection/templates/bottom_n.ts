/** Takes the n smallest numbers, smallest first; all of them, sorted, if there are fewer. */
function execute({ numbers, n }: { numbers: number[]; n: number }): number[] {
  if (!Number.isInteger(n) || n < 0) throw new Error("n must be a whole number of 0 or more");
  return [...numbers].sort((a, b) => a - b).slice(0, n);
}
