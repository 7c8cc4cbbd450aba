/** The index (from 0) of the minimum; of several, the first. */
function execute({ numbers }: { numbers: number[] }): number {
  if (numbers.length === 0) throw new Error("there are no numbers; at least one is expected");
  return numbers.reduce((best, n, i) => (n < numbers[best] ? i : best), 0);
}
