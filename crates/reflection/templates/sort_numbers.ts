/** Sorts numbers by size; the given list stays as it is. */
function execute({ numbers, order }: { numbers: number[]; order: string }): number[] {
  if (order !== "ascending" && order !== "descending") throw new Error("order must be \"ascending\" or \"descending\"");
  if (!numbers.every((n) => typeof n === "number")) throw new Error("every item of numbers must be a number");
  const sorted = [...numbers].sort((a, b) => a - b);
  return order === "ascending" ? sorted : sorted.reverse();
}
