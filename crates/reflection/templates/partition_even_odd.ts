/** Splits whole numbers into even and odd ones, in order. */
function execute({ numbers }: { numbers: number[] }): { even: number[]; odd: number[] } {
  if (!numbers.every(Number.isInteger)) throw new Error("every number must be a whole number");
  return { even: numbers.filter((n) => n % 2 === 0), odd: numbers.filter((n) => n % 2 !== 0) };
}
