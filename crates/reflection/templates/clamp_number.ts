/** Clamps a number to the range from min to max. */
function execute({ number, min, max }: { number: number; min: number; max: number }): number {
  if (!Number.isFinite(number)) throw new Error("number must be a finite number");
  if (!(min <= max)) throw new Error("min must not be greater than max");
  return Math.min(Math.max(number, min), max);
}
