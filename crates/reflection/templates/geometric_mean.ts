/** Computes the geometric mean of positive numbers. */
function execute({ numbers }: { numbers: number[] }): number {
  if (numbers.length === 0) throw new Error("there are no numbers to average; expected at least one");
  if (!numbers.every((x) => x > 0 && Number.isFinite(x))) throw new Error("numbers must all be positive");
  return Math.exp(numbers.reduce((sum, x) => sum + Math.log(x), 0) / numbers.length);
}
