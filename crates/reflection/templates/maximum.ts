/** Finds the largest of the numbers. */
function execute({ numbers }: { numbers: number[] }): number {
  if (numbers.length === 0) throw new Error("there are no numbers to compare; expected at least one");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  return numbers.reduce((best, x) => (x > best ? x : best));
}
