function variance(numbers: number[], mode: string): number {
  const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  const squares = numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return squares / (mode === "population" ? numbers.length : numbers.length - 1);
}

/** Computes the standard deviation of numbers, of a sample (n − 1) or of a population (n); mode says which. */
function execute({ numbers, mode }: { numbers: number[]; mode: string }): number {
  if (mode !== "sample" && mode !== "population") throw new Error("mode must be 'sample' or 'population'");
  if (numbers.length < (mode === "sample" ? 2 : 1)) throw new Error("too few numbers: a sample needs at least two, a population at least one");
  if (!numbers.every(Number.isFinite)) throw new Error("numbers must all be finite numbers");
  return Math.sqrt(variance(numbers, mode));
}
