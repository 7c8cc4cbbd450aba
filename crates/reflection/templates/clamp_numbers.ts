/** Clamps each of the numbers to the range from min to max. */
function execute({ numbers, min, max }: { numbers: number[]; min: number; max: number }): number[] {
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  if (!(min <= max)) throw new Error("min must not be greater than max");
  return numbers.map((x) => Math.min(Math.max(x, min), max));
}
