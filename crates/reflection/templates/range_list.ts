/** The whole numbers from start to end, both included; none if end is below start. */
function execute({ start, end }: { start: number; end: number }): number[] {
  if (!Number.isInteger(start) || !Number.isInteger(end)) throw new Error("start and end must be whole numbers");
  if (end - start >= 100000) throw new Error("the list would have more than 100000 numbers");
  return Array.from({ length: Math.max(0, end - start + 1) }, (_, i) => start + i);
}
