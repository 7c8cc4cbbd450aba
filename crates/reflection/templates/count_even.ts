/** Counts the even numbers. */
function execute({ numbers }: { numbers: number[] }): number {
  if (!numbers.every(Number.isSafeInteger)) throw new Error("numbers must all be whole numbers");
  return numbers.filter((x) => Math.abs(x % 2) === 0).length;
}
