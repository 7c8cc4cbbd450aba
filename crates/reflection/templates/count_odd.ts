/** Counts the odd numbers. */
function execute({ numbers }: { numbers: number[] }): number {
  if (!numbers.every(Number.isSafeInteger)) throw new Error("numbers must all be whole numbers");
  return numbers.filter((x) => Math.abs(x % 2) === 1).length;
}
