/** Computes the arithmetic mean of numbers. */
function execute({ numbers }: { numbers: number[] }): number {
  if (numbers.length === 0) throw new Error("there are no numbers to average; expected at least one");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  return numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
}
