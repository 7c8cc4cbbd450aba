/** Keeps the numbers greater than a bound (with inclusive, also those equal to it), in order. */
function execute({ numbers, bound, inclusive }: { numbers: number[]; bound: number; inclusive: boolean }): number[] {
  return numbers.filter((n) => n > bound || (inclusive && n === bound));
}
