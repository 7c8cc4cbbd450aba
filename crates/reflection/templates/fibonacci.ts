/** Lists the first n Fibonacci numbers, starting with 0, 1. */
function execute({ n }: { n: number }): number[] {
  if (!Number.isInteger(n) || n < 0 || n > 79) throw new Error("n must be a whole number from 0 to 79");
  const numbers: number[] = [];
  for (let i = 0; i < n; i++) numbers.push(i < 2 ? i : numbers[i - 1] + numbers[i - 2]);
  return numbers;
}
