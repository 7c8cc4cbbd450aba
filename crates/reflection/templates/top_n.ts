/** Takes the n largest numbers, largest first; all of them, sorted, if there are fewer. */
function execute({ numbers, n }: { numbers: number[]; n: number }): number[] {
  if (!Number.isInteger(n) || n < 0) throw new Error("n must be a whole number of 0 or more");
  return [...numbers].sort((a, b) => b - a).slice(0, n);
}
